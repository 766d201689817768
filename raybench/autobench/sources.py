"""What repeats in an assessment: its iterations, or its tasks where these come more than once.

A list of given tasks that is shorter than the run is gone through again and again. What a model is
good at, and what judges see in it, stays with the task: a second iteration of it says more of this
task and little of others. So the tasks are the sample, each with all its iterations; with every
iteration for itself, of intervals meant to cover 95 % of the scores that other tasks would give, a
list of 30 covered 84 to 88 % after 50 iterations and 52 to 58 % after 300; so, 94 to 97 %.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raybench.autobench.settings import Settings
from raybench.statements import Statement

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Sources:
    """Which of some iterations share a task."""

    shared: Numbers | None = None
    """The number of each one's task, from 0; None where each has its own."""

    @classmethod
    def of(cls, records: Iterable[Mapping[str, Any]], settings: Settings) -> "Sources":
        """Return those of these records, in their order. Only given tasks come more than once."""
        if not settings.tasks:
            return OWN
        places: dict[str, int] = {}
        numbers = [places.setdefault(record["task"], len(places)) for record in records]
        return OWN if len(places) == len(numbers) else cls(np.array(numbers, dtype=np.int64))

    @property
    def by(self) -> str:
        """What intervals are clustered by."""
        return "iteration" if self.shared is None else "task"

    def numbers(self, iterations: int) -> Numbers:
        """Return the number of each iteration's source, from 0."""
        return np.arange(iterations) if self.shared is None else self.shared

    def count(self, iterations: int) -> int:
        """Return how many sources so many iterations have."""
        return iterations if self.shared is None else int(self.shared.max()) + 1

    @property
    def again(self) -> str:
        """What has to be said where tasks come more than once; else ''."""
        if self.shared is None:
            return ""
        each = np.bincount(self.shared)
        return Statement(
            "sources.repeated",
            "They are {tasks} tasks, each {times} times: a task that comes again is no new one, "
            "and intervals are over tasks, each with all its iterations.",
            tasks=len(each),
            times=f"{each.min()} to {each.max()}" if each.min() < each.max() else f"{each.max()}",
        )

    def over(self, iterations: str) -> str:
        """Return what an interval is over, for its method's name."""
        return iterations if self.shared is None else f"tasks, each with its {iterations}"


OWN = Sources()
"""Every iteration has a task of its own."""
