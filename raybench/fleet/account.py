"""What the fleet did for each model, and for all: the one place where it is counted."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from raybench.engines.scheduler.move_costs import Swaps
from raybench.types import Completion, Retries

_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass
class Tally:
    """What was asked of one model, or of all."""

    requests: int = 0
    errors: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int | None = None
    """Prompt tokens that came from a prefix cache; None while no engine tells."""
    retries: Retries = field(default_factory=Retries)
    """Tries that endpoints turned away before they answered."""
    limited: int = 0
    """Replies that could have fewer tokens than were asked for."""
    least_limit: int | None = None
    """The fewest that one of them could have."""
    seconds: float = 0.0
    """Time in which at least one call was under way."""
    under_way: int = 0
    """Requests of calls of this process that have no reply yet."""
    _prompt_tokens_told: int = 0  # those of replies that say how many were cached
    _calls: int = 0
    _since: float = 0.0

    def add(self, completion: Completion) -> None:
        """Count one completion."""
        self.requests += 1
        self.errors += completion.finish == "error"
        self.prompt_tokens += completion.prompt_tokens
        self.output_tokens += completion.output_tokens
        self.retries += completion.retries
        if (limit := completion.token_limit) is not None:
            self.limited += 1
            self.least_limit = min(limit, self.least_limit or limit)
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
        if not self._calls:
            self._since = now
        self._calls += 1

    def ended(self, now: float) -> None:
        """Note that a call ends."""
        self._calls -= 1
        if not self._calls:
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
            **({"retries": retries} if (retries := self.retries.to_json()) else {}),
            **self._limits(),
        }

    def _limits(self) -> dict[str, Any]:
        if not self.limited:
            return {}
        return {"token_limits": {"lowest": self.least_limit, "replies": self.limited}}


class Account:
    """The tallies of one fleet, from its opening on."""

    def __init__(
        self, models: Iterable[str], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.total = Tally()
        self.models = {model: Tally() for model in models}
        self.swaps = Swaps()
        self.failed: Mapping[str, str] = {}
        """Models whose engine could not be brought up, or is refused by its endpoint, and why."""
        self.arriving: Sequence[str] = ()
        """Models whose engine is being brought in now."""
        self.states: Mapping[str, str] = {}
        """Where the engine of each hosted model stands, as its controller says."""
        self.queued: Mapping[str, int] = {}
        """Requests that wait for the turn of the model's engine, of all processes."""
        self.running: Mapping[str, int] = {}
        """Requests that are with it, of all processes."""
        self.reports = 0
        """How often the engines' state was noted."""
        self._clock = clock
        self._lent: list[Account] = []
        self._lender: Account | None = None
        self._before = Swaps()
        self._stopped: dict[str, str] = {}

    def stop(self, model: str, reason: str) -> None:
        """Take down that a model's endpoint refuses it for good, here and in lent accounts."""
        if model in self.models:
            self._stopped[model] = reason
            self.failed = {**self.failed, model: reason}
        for account in self._lent:
            account.stop(model, reason)

    def note(
        self,
        swaps: Swaps,
        arriving: Sequence[str],
        failed: Mapping[str, str],
        *,
        states: Mapping[str, str] = _NONE,
        queued: Mapping[str, int] = _NONE,
        running: Mapping[str, int] = _NONE,
    ) -> None:
        """Take down how the engines stand, here and in the accounts of those that borrow them."""
        self.swaps = swaps.since(self._before)
        self.arriving = [name for name in arriving if name in self.models]
        failures = {name: why for name, why in failed.items() if name in self.models}
        self.failed = failures | self._stopped
        self.states, self.queued, self.running = states, queued, running
        self.reports += 1
        for account in self._lent:
            account.note(swaps, arriving, failed, states=states, queued=queued, running=running)

    @contextmanager
    def lent(self, models: Iterable[str]) -> Iterator["Account"]:
        """Yield an account of some models' own, for one of several who use the fleet in turn."""
        account = Account(models, clock=self._clock)
        account._before, account._lender = self.swaps, self
        account._stopped = {it: why for it, why in self._stopped.items() if it in account.models}
        account.note(
            self.swaps,
            self.arriving,
            self.failed,
            states=self.states,
            queued=self.queued,
            running=self.running,
        )
        self._lent.append(account)
        try:
            yield account
        finally:
            self._lent.remove(account)

    @contextmanager
    def call(self, model: str, requests: int = 0) -> Iterator[Callable[[Completion], None]]:
        """Time a call to a model; what this yields counts a completion of it.

        `requests` is how many it asks for, where that is known before.
        """
        tallies, left = self._tallies(model), requests

        def add(completion: Completion) -> None:
            nonlocal left
            for tally in tallies:
                tally.add(completion)
                tally.under_way -= left > 0
            left -= left > 0

        for tally in tallies:
            tally.began(self._clock())
            tally.under_way += requests
        try:
            yield add
        finally:
            for tally in tallies:
                tally.ended(self._clock())
                tally.under_way -= left

    def _tallies(self, model: str) -> list[Tally]:
        """Return where a call to a model counts: here, and with whom the engines are from."""
        own = [self.total, self.models[model]]
        return own + (self._lender._tallies(model) if self._lender else [])

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
