"""The journal's ratings of answers as one block of numbers, and how much each judge weighed then.

Scores and weights are recomputed, as `replay` does: what is read from the journal is the ratings.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raybench.autobench.settings import Settings
from raybench.autobench.standing import Standing, advance, contestant_scores

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Step:
    """One iteration: its record, the weights it was scored with, and the scores it gave."""

    record: Mapping[str, Any]
    weights: Mapping[str, float]
    scores: Mapping[str, float | None]


def steps(records: Iterable[Mapping[str, Any]], settings: Settings) -> Iterator[Step]:
    """Yield the iterations in order."""
    standing = Standing.start(settings)
    for record in records:
        weights = standing.weights
        scores = contestant_scores(record["answers"], record["judgments"], weights)
        yield Step(record, weights, scores)
        standing = advance(standing, scores, settings)


@dataclass(frozen=True, slots=True)
class Given:
    """All ratings of answers: iterations × judges × contestants, NaN where there is none."""

    judges: tuple[str, ...]
    contestants: tuple[str, ...]
    ratings: Numbers
    weights: Numbers
    """Iterations × judges."""

    @property
    def own(self) -> NDArray[np.bool_]:
        """Which of judges × contestants are a judge and its own answers."""
        return np.array([[judge == it for it in self.contestants] for judge in self.judges])


def given(played: Iterable[Step], settings: Settings) -> Given:
    """Gather the ratings of the iterations that have any."""
    judges, contestants = settings.panel, settings.models
    rated = [step for step in played if step.record["judgments"]]
    ratings = np.full((len(rated), len(judges), len(contestants)), np.nan)
    for place, step in enumerate(rated):
        for i, judge in enumerate(judges):
            row = step.record["judgments"].get(judge, {})
            for j, contestant in enumerate(contestants):
                if (rating := row.get(contestant)) is not None:
                    ratings[place, i, j] = rating
    weights = [[step.weights[judge] for judge in judges] for step in rated]
    return Given(judges, contestants, ratings, np.array(weights).reshape(len(rated), len(judges)))


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

    def less(self, gave: Numbers, weight: Numbers | None = None) -> Numbers:
        """Return the mean of the others, NaN where there are none."""
        seen = ~np.isnan(gave)
        heavy = seen * (1.0 if weight is None else weight[:, None])
        total = self.ratings - heavy * np.where(seen, gave, 0)
        left = self.judges - seen > 0
        return np.where(left, total / np.where(left, self.weights - heavy, 1), np.nan)
