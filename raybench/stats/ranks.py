"""Rank correlations of two orders, made of their pairs: so that pairs may be turned one by one."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from raybench.stats.distributions import normal_below
from raybench.stats.intervals import Z
from raybench.stats.paired import holm
from raybench.types import Interval

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
LEVEL = 0.05
"""How often the pairs that hold may name any of which the order is not so."""
Correlation = Callable[[Floats, Floats], Floats]
"""Of two orders, or of rows of them; NaN where one of the two has all equal."""


def order(scores: Floats) -> Floats:
    """Return who stands above whom: 1 where the first of a pair does, -1 where the second, else 0.

    Models are the last axis of the scores; there are two of them then.
    """
    return np.asarray(np.sign(scores[..., :, None] - scores[..., None, :]))


def kendall(one: Floats, other: Floats) -> Floats:
    """Return Kendall's τ-b: how alike the pairs are."""
    return _cosine(one.reshape(*one.shape[:-2], -1), other.reshape(*other.shape[:-2], -1))


def spearman(one: Floats, other: Floats) -> Floats:
    """Return Spearman's ρ: how alike it is how many more stand below each than above it.

    That is twice the rank, from the middle: equals have their mean rank.
    """
    return _cosine(one.sum(axis=-1), other.sum(axis=-1))


def places(scores: Floats) -> NDArray[np.int64]:
    """Return each row's places, 1 for the highest; equals share the best of theirs."""
    best_first = np.argsort(-scores, axis=-1)
    ordered = np.take_along_axis(scores, best_first, axis=-1)
    new = np.ones(scores.shape, dtype=bool)
    new[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    found = np.empty(scores.shape, dtype=np.int64)
    starts = np.where(new, np.arange(1, scores.shape[-1] + 1), 0)
    np.put_along_axis(found, best_first, np.maximum.accumulate(starts, axis=-1), axis=-1)
    return found


def ranks(scores: Floats) -> Floats:
    """Return each row's ranks, 1 for the highest; equals have the mean of their places."""
    return np.asarray((places(scores) + scores.shape[-1] + 1 - places(-scores)) / 2)


def furthest(correlation: Correlation, ours: Floats, theirs: Floats, holds: Flags) -> float:
    """Return how far from 0 the correlation of two orders may lie if only some of our pairs hold.

    The others all stand as theirs do, or all the other way round: whichever way it leans now. That
    need not be an order that models could have; no order that they could have lies further.
    """
    low, high = ends(correlation, ours, theirs, holds)
    return high if correlation(ours, theirs) >= 0 else low


def ends(correlation: Correlation, ours: Floats, theirs: Floats, holds: Flags) -> Interval:
    """Return between what the correlation of two orders lies if only some pairs hold."""
    low, high = (
        float(correlation(np.where(holds | (theirs == 0), ours, way * theirs), theirs))
        for way in (-1.0, 1.0)
    )
    return low, high


def holds(sure: Floats) -> Flags:
    """Return which pairs hold by Holm's steps over all pairs, at 5 %.

    `sure` has one minus the one-sided p of each model above each other, rows above columns. NaN
    counts as a pair that does not differ.
    """
    ps = {
        (i, j): 1.0 if np.isnan(sure[i, j]) else 2 * min(sure[i, j], sure[j, i])
        for i, j in combinations(range(len(sure)), 2)
    }
    out = np.zeros(sure.shape, dtype=bool)
    for (i, j), p in holm(ps).items():
        out[i, j] = out[j, i] = p < LEVEL
    return out


def reach(value: float, drawn: Floats, within: Interval, *, factor: float = Z) -> Interval:
    """Return the wider reach, to either side, of the percentiles and of their reflection.

    Drawn scores are noisier than scores, and so agree less with any order: where the order is
    nearly right, percentiles alone lie below the truth, and their reflection is nothing but 1.
    The percentiles are those that lie `factor` standard deviations off in a normal distribution.
    """
    tail = normal_below(-factor)
    low, high = (float(bound) for bound in np.quantile(drawn, [tail, 1 - tail]))
    low, high = min(low, 2 * value - high, value), max(high, 2 * value - low, value)
    return max(low, within[0]), min(high, within[1])


def _cosine(one: Floats, other: Floats) -> Floats:
    squares = _product(one, one) * _product(other, other)
    out = np.full_like(squares, np.nan)
    np.divide(_product(one, other), np.sqrt(squares), out=out, where=squares > 0)
    return out


def _product(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.einsum("...i,...i->...", one, other))
