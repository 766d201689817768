"""The mean of scores of which some share a source, and so rise and fall together."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
"""Rows are parts that weigh the same however many scores they have (languages, say); columns are
questions, and a question has one source in all its rows. NaN: not asked."""
Sources = NDArray[np.int64]
"""The number of each column's source, where columns share sources too."""

_ROUNDING = 1e-12
"""Equal scores differ from their own mean by less; one score that differs, by far more."""


class Mean(NamedTuple):
    """A mean, its standard error (None from a single source), and how many sources there were."""

    value: float
    stderr: float | None
    sources: int


def mean(scores: Scores, sources: Sources | None = None) -> Mean:
    """Return the mean of the rows' means; its standard error is that of sums by source.

    With one row and each column its own source, that is sd/√n.
    """
    means = [math.fsum(row) / len(row) for row in (row[~np.isnan(row)] for row in scores)]
    shares = (scores - np.array(means)[:, None]) * weights(scores)
    by_source = np.nansum(shares, axis=0)
    asked = ~np.isnan(scores).all(axis=0)
    if sources is not None:
        by_source, asked = np.bincount(sources, by_source), np.bincount(sources, asked) > 0
    groups = int(asked.sum())
    value = math.fsum(means) / len(means)
    if groups == 1:
        return Mean(value, None, 1)
    stderr = math.sqrt(groups / (groups - 1) * total(np.square(by_source)))
    return Mean(value, stderr if stderr > _ROUNDING else 0.0, groups)


def of_sums(sums: Scores, counts: Scores) -> Mean:
    """Return the mean of scores of which only each source's sum and number are known.

    It is that of the scores one by one, without a list of them.
    """
    seen = counts > 0
    groups, n = int(seen.sum()), math.fsum(counts)
    value = math.fsum(sums) / n
    if groups == 1:
        return Mean(value, None, 1)
    stderr = math.sqrt(groups / (groups - 1) * total(np.square((sums - value * counts) / n)))
    return Mean(value, stderr if stderr > _ROUNDING else 0.0, groups)


def weights(scores: Scores) -> Scores:
    """Return what each score weighs in the mean; NaN where there is none."""
    seen = ~np.isnan(scores)
    each = 1 / (len(scores) * seen.sum(axis=1, keepdims=True))
    return np.where(seen, each, np.nan)


def total(values: Scores) -> float:
    """Return the sum of what is not NaN, to the last bit the same in whatever order it came."""
    return math.fsum(values[~np.isnan(values)])
