"""What stages report while blocks are under way: how many samples they have finished.

A sample is in the journal when all stages have finished the block that it is in. The time left is
estimated from what each stage has done by then, so stages tell the driver of it every second.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from raybench.fleet.link import Link
from raybench.types import Completion

_EVERY_S = 1.0
PROGRAMS, JUDGES, CHECKER = "programs", "judges", "checker"
"""Stages after the replies. Programs run in the sandbox, which has this name in place of a model.
"""
Lane = tuple[str, str]
"""Who does the work (a model, or `PROGRAMS`), and at which benchmark and stage."""
K = TypeVar("K", bound=Hashable)


def lane_of(model: str, benchmark: str, stage: str = "") -> Lane:
    """Return the lane of a model's samples at a stage; '' is the one of its replies."""
    return model, f"{benchmark}/{stage}" if stage else benchmark


@dataclass(slots=True)
class Finished:
    """Samples that a stage has finished."""

    units: int = 0
    known: int = 0
    """Those of them that took no work, because the reply was known."""
    seconds: float = 0.0
    """What the others took by themselves, without waits."""

    def add(self, other: "Finished") -> None:
        """Add others."""
        self.units += other.units
        self.known += other.known
        self.seconds += other.seconds


@dataclass(frozen=True, slots=True)
class Report:
    """What a process of a stage has done since its last report."""

    finished: dict[Lane, Finished] = field(default_factory=dict)
    at_work_s: dict[str, float] = field(default_factory=dict)
    """For how long it had work for each model, or `PROGRAMS`."""


class Reporter:
    """Reports what the stage of this process has done."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._report = Report()
        self._under_way: Counter[str] = Counter()
        self._since: dict[str, float] = {}
        self._due = False

    def add(self, lane: Lane, seconds: float) -> None:
        """Count a sample of a lane that took so long by itself."""
        self._add(lane, Finished(1, 0, seconds))

    def add_known(self, lanes: Iterable[Lane]) -> None:
        """Count samples whose replies were known."""
        for lane in lanes:
            self._add(lane, Finished(1, 1))

    @contextmanager
    def work(self, model: str) -> Iterator[None]:
        """Note that there is work for a model, or for `PROGRAMS`."""
        if not self._under_way[model]:
            self._since[model] = _now()
        self._under_way[model] += 1
        try:
            yield
        finally:
            self._under_way[model] -= 1
            if not self._under_way[model]:
                self._count_time(model)

    @contextmanager
    def asking(
        self, model: str, lanes: Mapping[Any, Lane], requests: Container[K]
    ) -> Iterator[Callable[[K, Completion], None]]:
        """Yield what counts a model's replies to requests about samples; then count the others.

        Samples and requests have the same keys. A sample without a request took no work, but is one
        of those among which a share has requests; the reply to another request was known.
        """
        left = dict(lanes)

        def came(key: K, reply: Completion) -> None:
            if (lane := left.pop(key, None)) is not None:
                self.add(lane, reply.own_seconds)

        with self.work(model):
            yield came
        self.add_known(lane for key, lane in left.items() if key in requests)
        for key, lane in left.items():
            if key not in requests:
                self.add(lane, 0.0)

    def _add(self, lane: Lane, finished: Finished) -> None:
        self._report.finished.setdefault(lane, Finished()).add(finished)
        if not self._due:
            self._due = True
            asyncio.get_running_loop().call_later(_EVERY_S, self._send)

    def _send(self) -> None:
        for model, count in self._under_way.items():
            if count:
                self._count_time(model)
        self._due, report = False, self._report
        self._report = Report()
        self._link.report(report)

    def _count_time(self, model: str) -> None:
        now = _now()
        times = self._report.at_work_s
        times[model] = times.get(model, 0.0) + now - self._since[model]
        self._since[model] = now


def _now() -> float:
    return asyncio.get_running_loop().time()
