"""What the fleet did for each model, and for all: the one place where it is counted."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from raybench.fleet.swaps import Swaps
from raybench.types import Completion


@dataclass
class Tally:
    """What was asked of one model, or of all."""

    requests: int = 0
    errors: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int | None = None
    """Prompt tokens that came from a prefix cache; None while no engine tells."""
    seconds: float = 0.0
    """Time in which at least one call was under way."""
    _prompt_tokens_told: int = 0  # those of replies that say how many were cached
    _under_way: int = 0
    _since: float = 0.0

    def add(self, completion: Completion) -> None:
        """Count one completion."""
        self.requests += 1
        self.errors += completion.finish == "error"
        self.prompt_tokens += completion.prompt_tokens
        self.output_tokens += completion.output_tokens
        if completion.cached_tokens is not None:
            self.cached_tokens = (self.cached_tokens or 0) + completion.cached_tokens
            self._prompt_tokens_told += completion.prompt_tokens

    @property
    def prefix_hit_rate(self) -> float | None:
        """Share of prompt tokens that came from a cache, among replies that tell; else None."""
        if self.cached_tokens is None or not self._prompt_tokens_told:
            return None
        return self.cached_tokens / self._prompt_tokens_told

    def began(self, now: float) -> None:
        """Note that a call begins."""
        if not self._under_way:
            self._since = now
        self._under_way += 1

    def ended(self, now: float) -> None:
        """Note that a call ends."""
        self._under_way -= 1
        if not self._under_way:
            self.seconds += now - self._since

    def to_json(self) -> dict[str, Any]:
        """Return what results.json shows."""
        return {
            "requests": self.requests,
            "errors": self.errors,
            "prompt_tokens": self.prompt_tokens,
            "cached_tokens": self.cached_tokens,
            "output_tokens": self.output_tokens,
            "seconds": round(self.seconds, 3),
            "prefix_hit_rate": self.prefix_hit_rate,
        }


class Account:
    """The tallies of one fleet, from its opening on."""

    def __init__(
        self, models: Iterable[str], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.total = Tally()
        self.models = {model: Tally() for model in models}
        self.swaps = Swaps()
        self.failed: Mapping[str, str] = {}
        """Models whose engine could not be brought up, and why."""
        self.arriving: Sequence[str] = ()
        """Models whose engine is being brought in now."""
        self._clock = clock

    @contextmanager
    def call(self, model: str) -> Iterator[Callable[[Completion], None]]:
        """Time a call to a model; what this yields counts a completion of it."""
        tallies = (self.total, self.models[model])

        def add(completion: Completion) -> None:
            for tally in tallies:
                tally.add(completion)

        for tally in tallies:
            tally.began(self._clock())
        try:
            yield add
        finally:
            for tally in tallies:
                tally.ended(self._clock())

    def to_json(self) -> dict[str, Any]:
        """Return what results.json shows."""
        return {
            "total": self.total.to_json()
            | {
                "swaps": self.swaps.count,
                "swap_seconds": round(self.swaps.seconds, 1),
                "swap_share": round(self.swaps.share, 4),
            },
            "models": {model: tally.to_json() for model, tally in self.models.items()},
        }
