"""The journal's ratings of answers as one block of numbers, and how much judges weighed then."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raybench.autobench.analysis.ballots import ballots
from raybench.autobench.protocol import Counted
from raybench.autobench.settings import Settings
from raybench.autobench.sources import Sources

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Given:
    """All ratings of answers: iterations × judges × contestants, NaN where there is none."""

    judges: tuple[str, ...]
    contestants: tuple[str, ...]
    ratings: Numbers
    weights: Numbers
    """Iterations × judges."""
    sources: Sources
    """Which of the iterations share a task."""

    @property
    def own(self) -> NDArray[np.bool_]:
        """Which of judges × contestants are a judge and its own answers."""
        return np.array([[judge == it for it in self.contestants] for judge in self.judges])


def given(played: Sequence[Counted], settings: Settings) -> Given:
    """Gather the ratings of the iterations that found a task."""
    held = ballots([iteration.record for iteration in played], settings)
    weights = np.array(
        [
            [iteration.before.weights[judge] for judge in held.judges]
            for iteration in played
            if iteration.record["task"] is not None
        ]
    ).reshape(held.tasks, len(held.judges))
    ratings = held.ratings.astype(np.float64)
    return Given(held.judges, held.contestants, ratings, weights, held.sources)


@dataclass(frozen=True, slots=True)
class Sums:
    """Weighted sums over judges, from which one judge's part can be taken again."""

    ratings: Numbers
    weights: Numbers
    judges: Numbers

    @classmethod
    def of(cls, ratings: Numbers, weights: Numbers) -> "Sums":
        """Add up iterations × judges × contestants, each judge as heavy as its weight then."""
        seen = ~np.isnan(ratings)
        heavy = weights[:, :, None] * seen
        return cls(
            (heavy * np.where(seen, ratings, 0)).sum(axis=1),
            heavy.sum(axis=1),
            seen.sum(axis=1).astype(float),
        )

    def mean(self) -> Numbers:
        """Return the mean of all, NaN where there are none."""
        return self.less(np.full_like(self.ratings, np.nan))

    def less(self, gave: Numbers, weight: Numbers | None = None) -> Numbers:
        """Return the mean of the others, NaN where there are none."""
        seen = ~np.isnan(gave)
        heavy = seen * (1.0 if weight is None else weight[:, None])
        total = self.ratings - heavy * np.where(seen, gave, 0)
        left = self.judges - seen > 0
        return np.where(left, total / np.where(left, self.weights - heavy, 1), np.nan)
