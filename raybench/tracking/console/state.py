"""How far a run is: what is counted, what follows from it, and the words for both."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any

from raybench.tracking.console.models import WINDOW_S, Models, Row, Seen
from raybench.tracking.console.time_left import Done, Lane, TimeLeft
from raybench.tracking.console.words import clean, counted, duration, short

LOOK_S = 0.5
"""Counters of models are looked at no more often than this, whoever asks."""
_TOLD_S = 0.5
"""A stage that was over sooner is not worth a word."""
_WHOLE: Lane = ("", "")
"""The lane of all units, where nobody says which model has what to do."""


class State:
    """Units done, tokens per second, errors and the time left, of the whole and of each model.

    Any thread may call its methods. Times are those of this session: a resumed run's earlier units
    count as done but say nothing about the speed of now. Of news is told without the lock: who
    tells of them has one of their own, under which they ask for this one.
    """

    def __init__(
        self,
        total: int,
        unit: str,
        done: int = 0,
        *,
        title: str = "",
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Count `unit`s (a plural noun), `done` of `total` before this session."""
        self.total = total
        self.done = done
        self.unit = unit
        self.title = title
        self.nested = False
        """It is a part of something else, whose progress waits."""
        self.following = 0
        """Parts of the same run that come after this one, whose time nobody knows yet."""
        self._clock = clock
        self._began = self._working = clock()
        self._is_measured = False
        self._time_left = TimeLeft(self._began)
        self._time_left.expect(self._began, _WHOLE, total - done)
        self._has_lanes = False
        self._phase = ""
        self._prompt = self._output = self._swaps = 0
        self.errors = 0
        self._swap_share = 0.0
        self._arriving: tuple[str, ...] = ()
        self._recent: deque[tuple[float, int]] = deque()
        self._lock = threading.RLock()
        self._stages: dict[str, float] = {}
        self._stage, self._since = "", self._began
        self._source: Callable[[], Sequence[Seen]] | None = None
        self._models = Models()
        self._rows: list[Row] = []
        self._looked = float("-inf")

    def start(self) -> None:
        """Mark the preparation as over: the pace is measured from here, not from the beginning."""
        with self._lock:
            self._working = self._clock()
            self._time_left.start(self._working)
            self._is_measured = True
            self._models.begin()
            self._looked = float("-inf")

    def follow(self, source: Callable[[], Sequence[Seen]]) -> None:
        """Say where to look for what each model does; it is asked some times a second at most."""
        with self._lock:
            self._source = source

    def stage(self, name: str) -> None:
        """Begin a stage of the run ('starting engines'); the one before it is over."""
        with self._lock:
            if self._stage:
                self._stages[self._stage] = self._spent_on(self._stage)
            self._stage, self._since, self._phase = name, self._clock(), ""
        self._changed()

    def turn(self, name: str) -> None:
        """Go over to a stage, unless it is that one already."""
        if name != self._stage:
            self.stage(name)

    def end(self) -> None:
        """Note that the work has ended: the counters of the models are final."""
        with self._lock:
            self._arriving = ()
            self._is_measured = False
            self._looked = float("-inf")
        self.stage("")

    def phase(self, text: str) -> None:
        """Say what goes on now, or what is being waited for."""
        with self._lock:
            self._phase = clean(text)
        self._changed()

    def advance(self, units: int = 1) -> None:
        """Count units as finished."""
        with self._lock:
            self.done += units
            if not self._has_lanes:
                self._is_measured = True
                self._time_left.arrive(self._clock(), {_WHOLE: (units, 0.0)})
        self._changed()

    def count(self, *, prompt_tokens: int = 0, output_tokens: int = 0, errors: int = 0) -> None:
        """Add what was spent and what went wrong."""
        with self._lock:
            self._prompt += prompt_tokens
            self._output += output_tokens
            self.errors += errors
            self._recent.append((self._clock(), output_tokens))
        self._changed()

    def swapped(self, swaps: int, share: float, arriving: Sequence[str] = ()) -> None:
        """Note the swaps so far, the share of the time that they took, and who comes in now."""
        with self._lock:
            news = (self._swaps, self._arriving) != (swaps, tuple(arriving))
            self._swaps, self._swap_share, self._arriving = swaps, share, tuple(arriving)
        if news:
            self._changed()

    def assign(self, models: Iterable[str], engine: str, *, hosted: bool) -> None:
        """Say which models share an engine, and whether it is one that we bring up."""
        with self._lock:
            self._time_left.assign(models, engine, hosted=hosted)

    def expect(self, left: Mapping[Lane, float]) -> None:
        """Say how many units each lane has left; the time left is estimated from these alone."""
        with self._lock:
            if not self._has_lanes:
                self._has_lanes = True
                self._time_left.expect(self._clock(), _WHOLE, 0)
            for lane, units in left.items():
                self._time_left.expect(self._clock(), lane, units)

    def arrive(self, done: Done, at_work_s: Mapping[str, float] | None = None) -> None:
        """Count units of lanes as done in this session; `TimeLeft.arrive` says of what."""
        with self._lock:
            self._time_left.arrive(self._clock(), done, at_work_s)

    def expect_longer(self, seconds: float) -> None:
        """Say that something is under way that takes so long, whatever the lanes have left."""
        with self._lock:
            self._time_left.expect_longer(self._clock(), seconds)

    def skip(self, units: Mapping[Lane, float]) -> None:
        """Count units of lanes that took no work, as their replies were known."""
        with self._lock:
            for lane, count in units.items():
                self._time_left.skip(self._clock(), lane, count)

    # What follows from that

    def elapsed(self) -> float:
        """Return the seconds since this session began."""
        return self._clock() - self._began

    def eta(self) -> float | None:
        """Return the seconds left, as `TimeLeft` estimates them; None where it cannot yet."""
        with self._lock:
            if self.done >= self.total:
                return None
            self.models()
            return self._time_left.shown(self._clock())

    def rate(self) -> float | None:
        """Return the output tokens per second of the last minute, or None without any."""
        with self._lock:
            now = self._clock()
            while self._recent and self._recent[0][0] < now - WINDOW_S:
                self._recent.popleft()
            tokens = sum(count for _, count in self._recent)
            span = min(WINDOW_S, now - self._working)
        return tokens / span if tokens and span >= 1.0 else None

    def models(self) -> list[Row]:
        """Return what each model that works does now."""
        with self._lock:
            now = self._clock()
            if self._source is not None and now - self._looked >= LOOK_S:
                self._looked = now
                seen = self._source()
                self._time_left.look(now, seen)
                self._rows = self._models.look(now, seen)
                if self._has_lanes:
                    self._rows = [
                        replace(row, eta=self._time_left.of_model(now, row.seen.name))
                        for row in self._rows
                    ]
            return self._rows

    def stages(self) -> dict[str, float]:
        """Return the stages so far, the one that goes on last, with the seconds of each."""
        with self._lock:
            over = {name: spent for name, spent in self._stages.items() if name != self._stage}
            return over | ({self._stage: self._spent_on(self._stage)} if self._stage else {})

    def _spent_on(self, stage: str) -> float:
        return self._stages.get(stage, 0.0) + self._clock() - self._since

    # In words

    @property
    def named(self) -> str:
        """Of what it is the progress, where that is not plain."""
        return f"{clean(self.title)}: " if self.nested and self.title else ""

    def facts(self, *, errors: bool = True) -> list[str]:
        """Return what there is to say beside the count of units, most important first."""
        facts = []
        eta, rate = self.eta(), self.rate()
        if self._is_measured and self.done < self.total:
            part = " of this part" if self.following else ""
            facts.append(f"ETA{part} {'estimating' if eta is None else duration(eta)}")
        if self.following:
            facts.append(f"{counted(self.following, 'part')} to follow")
        if self.errors and errors:
            facts.append(counted(self.errors, "error"))
        if rate is not None:
            facts.append(f"{short(rate)} tok/s")
        if self._output:
            facts.append(f"{short(self._prompt)} in {short(self._output)} out")
        if self._swaps:
            swaps = counted(self._swaps, "swap")
            facts.append(f"{swaps} ({self._swap_share:.0%} of the time)")
        if self._arriving:
            facts.append(f"bringing in {clean(', '.join(self._arriving))}")
        if self._phase or self._stage:
            facts.append(self._phase or clean(self._stage))
        return facts

    def line(self) -> str:
        """Return the whole state as one plain line."""
        share = f" ({self.done / self.total:.0%})" if self.total else ""
        told = [f"{self.counted}{share}"] if self.counted else []
        return " · ".join([*told, *self.facts(), f"{duration(self.elapsed())} so far"])

    @property
    def counted(self) -> str:
        """Return the title and how many units are done; no units where there are none at all."""
        if not self.total:
            return self.named.rstrip(": ")
        return f"{self.named}{self.done}/{self.total} {self.unit}"

    def course(self) -> str:
        """Return the stages so far with the time that each took, or '' where none took any."""
        told = {name: spent for name, spent in self.stages().items() if spent >= _TOLD_S}
        return " · ".join(f"{clean(name)} {duration(spent)}" for name, spent in told.items())

    def to_json(self) -> dict[str, Any]:
        """Return it as data, for programs that follow."""
        eta, rate = self.eta(), self.rate()
        return {
            "title": self.title,
            "unit": self.unit,
            "done": self.done,
            "total": self.total,
            "errors": self.errors,
            "prompt_tokens": self._prompt,
            "output_tokens": self._output,
            "output_tokens_per_s": _rounded(rate),
            "eta_s": _rounded(eta),
            "seconds": _rounded(self.elapsed()),
            "swaps": self._swaps,
            "swap_share": round(self._swap_share, 4),
            "stage": self._stage,
            "stages_s": {name: _rounded(spent) for name, spent in self.stages().items()},
            "doing": self._phase,
            "models": {row.seen.name: _of_model(row) for row in self.models()},
        }

    def _changed(self) -> None:
        """Be told that there is news."""


def _of_model(row: Row) -> Mapping[str, Any]:
    of = row.seen
    return {
        "state": of.state or None,
        "done": of.done,
        "total": of.total,
        "calls": of.replies,
        "under_way": of.under_way,
        "queued": of.queued,
        "output_tokens": of.output_tokens,
        "output_tokens_per_s": _rounded(row.rate),
        "errors": of.errors,
        "eta_s": _rounded(row.eta),
    }


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 1)
