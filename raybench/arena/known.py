"""Replies that came before, by what was asked of whom: the same is not asked twice."""

import base64
import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from raybench.arena.decoding import Decoding
from raybench.autobench.steps import Address, Ask, Reply

NONE: Mapping[str, Reply] = MappingProxyType({})
_BYTES = 12
"""Of an address: a million replies share one by chance once in 10^17 runs."""


class Addresses:
    """Where the reply to an ask is kept: whatever it depends on is in its address."""

    def __init__(self, identities: Mapping[str, str], decoding: Decoding) -> None:
        """`identities` say what makes each model answer as it does."""
        self._identities = identities
        self._decoding = decoding

    def of(self, ask: Ask) -> str:
        """Return an ask's address."""
        request = self._decoding.request(ask)
        told = (
            self._identities[ask.model],
            request.seed,
            request.max_tokens,
            request.temperature,
            request.regex,
            ask.prompt,
        )
        said = repr(told).encode("utf-8", "surrogatepass")
        return base64.b64encode(hashlib.blake2b(said, digest_size=_BYTES).digest()).decode()


class Known:
    """Replies that came before: in this run, and in one that it extends."""

    def __init__(
        self,
        own: Mapping[str, Reply] = NONE,
        earlier: Mapping[str, Reply] = NONE,
        shared: Mapping[str, Reply] = NONE,
    ) -> None:
        """`own` are this assessment's; `shared` those of others in the same run and journal."""
        self.earlier = earlier
        self._own = own
        self._shared = shared

    def get(self, where: str) -> Reply | None:
        """Return the reply that is kept there."""
        return self._own.get(where) or self._shared.get(where) or self.earlier.get(where)

    def is_shared(self, where: str) -> bool:
        """Tell whether a reply is known because another assessment of this run asked for it."""
        return where not in self._own and where in self._shared

    def is_new(self, where: str) -> bool:
        """Tell whether this run's journal has still to be told of a reply that is known."""
        return where not in self._own and where not in self._shared


def line(step: Address, model: str, replies: Mapping[str, Reply]) -> dict[str, Any]:
    """Return what the journal keeps of a model's replies to a step, by their addresses.

    Calls that broke are none: they are made again.
    """
    iteration, attempt, kind = step
    kept = [
        [where, it.text, it.finish, it.why, it.prompt_tokens, it.output_tokens]
        for where, it in replies.items()
        if it.finish != "error"
    ]
    return {
        "iteration": iteration, "attempt": attempt, "kind": kind, "model": model, "replies": kept
    }  # fmt: skip


def read(record: Mapping[str, Any]) -> dict[str, Reply]:
    """Return the replies that a line of the journal has kept, by their addresses.

    Raises ValueError or TypeError where it is none that a run leaves.
    """
    found = {where: Reply(*told) for where, *told in record.get("replies", ())}
    if not all(isinstance(reply.text, str) for reply in found.values()):
        raise ValueError("a reply is no text")
    return found
