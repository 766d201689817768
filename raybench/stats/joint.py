"""Scores of several models that were measured together, and how their errors go together.

Models that were put the same questions are lucky with the same ones: what the score of one is off
by tells something of the others'. Who is above whom is then surer than the scores' own intervals
say. Here each score has its published interval, and only how two go together is added.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from raybench.stats import clusters
from raybench.stats.asked import Asked
from raybench.stats.intervals import Z
from raybench.stats.ranks import Floats
from raybench.types import Estimate

DRAWS = 2000
_UNKNOWN = 10.0
"""So many times what scores span is an error of which nothing is known."""
_SETTLED = 9
"""Digits by which scores differ that are not equal but for rounding."""


@dataclass(frozen=True, eq=False)
class Joint:
    """Scores by one metric, with the covariance of their errors."""

    metric: str
    models: tuple[str, ...]
    values: Floats
    covariance: Floats

    @classmethod
    def of(cls, metric: str, scores: Mapping[str, Estimate], together: Floats) -> "Joint":
        """Return scores with their own errors, and the correlations of a covariance.

        `together` has the models in their order. Who has no score is left out. An error is half of
        the interval to 95 %, in standard deviations: it may be wider than the standard error, where
        few units, or units all alike, tell less than that. An error of which nothing is known is
        taken for a very large one.
        """
        names = [name for name, score in scores.items() if score.value is not None]
        places = [place for place, name in enumerate(scores) if name in names]
        values = np.array([scores[name].value for name in names], dtype=np.float64)
        found = [error(scores[name]) for name in names]
        # Where nothing is known of an error, no order may seem sure.
        most = _UNKNOWN * max([1.0, *(np.ptp(values) for _ in values[:1]), *filter(None, found)])
        errors = np.array([most if it is None else it for it in found], dtype=np.float64)
        alike = correlations(together[np.ix_(places, places)])
        return cls(
            metric,
            tuple(names),
            np.round(values, _SETTLED),
            np.asarray(alike * np.outer(errors, errors), dtype=np.float64),
        )

    def among(self, models: Sequence[str]) -> "Joint":
        """Return the scores of these models alone, in their order."""
        places = [self.models.index(name) for name in models]
        square = np.ix_(places, places)
        return Joint(self.metric, tuple(models), self.values[places], self.covariance[square])

    def drawn(self, count: int = DRAWS, *, seed: int | Sequence[int] = 0) -> Floats:
        """Return what other units of the same kind might have given: draws by models."""
        # By its eigenvalues: models alike in everything make it singular, and rounding worse.
        sizes, axes = np.linalg.eigh(self.covariance)
        root = axes * np.sqrt(np.maximum(sizes, 0.0))
        noise = np.random.default_rng(seed).standard_normal((count, len(self.models)))
        return np.asarray(np.round(self.values + noise @ root.T, _SETTLED))

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield a line of JSON for each model."""
        for row, model in enumerate(self.models):
            yield {
                "model": model,
                "metric": self.metric,
                "value": float(self.values[row]),
                "covariance": {
                    other: float(self.covariance[row, column])
                    for column, other in enumerate(self.models)
                },
            }

    @classmethod
    def read(cls, lines: Iterable[Mapping[str, Any]]) -> "Joint":
        """Return what `lines` has made lines of. Raises ValueError where it has not."""
        rows = list(lines)
        try:
            models = tuple(str(row["model"]) for row in rows)
            values = np.array([row["value"] for row in rows], dtype=np.float64)
            table = [[row["covariance"][other] for other in models] for row in rows]
            metric = str(rows[0]["metric"]) if rows else ""
        except (LookupError, TypeError) as error:
            raise ValueError(f"no scores with their covariances: {error!r}") from error
        covariance = np.array(table, dtype=np.float64).reshape(len(models), len(models))
        if not (np.isfinite(values).all() and np.isfinite(covariance).all()):
            raise ValueError("scores and covariances are numbers")
        return cls(metric, models, values, covariance)


def error(score: Estimate) -> float | None:
    """Return a score's error in standard deviations, None where nothing is known of it."""
    if score.value is None or score.ci95 is None or not all(map(math.isfinite, score.ci95)):
        return score.stderr
    low, high = score.ci95
    # Where an end was cut off, the other one tells how wide it was.
    cut = "cut at the ends" in score.method
    half = max(high - score.value, score.value - low) if cut else (high - low) / 2
    return max(half / Z, score.stderr or 0.0)


def correlations(covariance: Floats) -> Floats:
    """Return correlations; of what does not vary with others 0, and with itself 1."""
    sizes = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    known = np.outer(sizes, sizes)
    found = np.divide(covariance, known, out=np.zeros_like(known), where=known > 0)
    np.fill_diagonal(found, 1.0)
    return np.asarray(np.clip(found, -1.0, 1.0))


def of_questions(asked: Mapping[str, Sequence[Asked]], weights: Mapping[str, Fraction]) -> Floats:
    """Return the covariance of models' weighted sums of accuracies, by the questions they share.

    `asked` has each benchmark's tables, a model's each, in one order and with the same questions.
    A model that was asked nothing goes together with none.
    """
    found = [
        float(weights[name]) ** 2 * _covariance(tables)
        for name, tables in asked.items()
        if name in weights
    ]
    return np.asarray(sum(found[1:], start=found[0]))


def _covariance(tables: Sequence[Asked]) -> Floats:
    """Return the covariance of accuracies: that of sums by source, as `clusters.mean` has it."""
    shares = np.array([_shares(table) for table in tables])
    sources = tables[0].sources
    if sources is not None:
        shares = np.array([np.bincount(sources, row) for row in shares])
    groups = int((shares != 0).any(axis=0).sum())
    if groups < 2:
        return np.zeros((len(tables), len(tables)))
    return np.asarray(groups / (groups - 1) * shares @ shares.T)


def _shares(table: Asked) -> Floats:
    """Return by how much each question pulls an accuracy from its mean."""
    scores = table.scores()
    there = ~np.isnan(scores)
    if not there.any():
        return np.zeros(scores.shape[1])
    kept = there.any(axis=1)
    scores = scores[kept]
    means = np.nanmean(scores, axis=1, keepdims=True)
    return np.asarray(np.nansum((scores - means) * clusters.weights(scores), axis=0))
