"""Rank correlations of two orders, made of their pairs: so that pairs may be turned one by one."""

from collections.abc import Callable

import numpy as np

from raybench.autobench.analysis.ballots import Flags, Floats

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


def furthest(correlation: Correlation, ours: Floats, theirs: Floats, holds: Flags) -> float:
    """Return how far from 0 the correlation of two orders may lie if only some of our pairs hold.

    The others all stand as theirs do, or all the other way round: whichever way it leans now. That
    need not be an order that models could have; no order that they could have lies further.
    """
    lean = 1.0 if correlation(ours, theirs) >= 0 else -1.0
    turned = np.where(holds | (theirs == 0), ours, lean * theirs)
    return float(correlation(turned, theirs))


def _cosine(one: Floats, other: Floats) -> Floats:
    squares = _product(one, one) * _product(other, other)
    out = np.full_like(squares, np.nan)
    np.divide(_product(one, other), np.sqrt(squares), out=out, where=squares > 0)
    return out


def _product(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.einsum("...i,...i->...", one, other))
