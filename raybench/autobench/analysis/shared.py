"""What judges' ratings have in common, and what one common factor leaves of it."""

import numpy as np

from raybench.autobench.analysis.ballots import Floats

_LEAST = 0.1
"""Least share of a judge's ratings that counts as its own: of nearly perfect judges little else is
left than how ratings are rounded, which they share."""
_STEPS = 100


def shared(ratings: Floats) -> Floats:
    """Return how far judges' tastes go together: what one factor leaves of their correlations.

    As a share of what it leaves of each judge's ratings, within -1 and 1.
    """
    found = correlations(*levelled(ratings))
    loadings = factor(found)
    left = np.maximum(1 - np.square(loadings), _LEAST)
    rest = (found - np.outer(loadings, loadings)) / np.sqrt(np.outer(left, left))
    return np.asarray(np.clip(rest, -1, 1))


def levelled(ratings: Floats) -> tuple[Floats, Floats]:
    """Return judges' ratings less their mean of a task (0: none), and 1 where there is one.

    Judges by tasks by contestants. How severe a judge is at a task, or by topic, moves all models
    alike and changes no order: judges that happen to be severe at the same tasks, as two of many
    do, are no echo chamber.
    """
    by_judge = ratings.transpose(1, 0, 2)
    seen = (~np.isnan(by_judge)).astype(np.float64)
    known = np.nan_to_num(by_judge)
    many = np.maximum(seen.sum(axis=2, keepdims=True), 1)
    return (known - known.sum(axis=2, keepdims=True) / many) * seen, seen


def correlations(values: Floats, seen: Floats) -> Floats:
    """Return how far judges go together, over the answers that both have rated.

    A judge that says the same of every answer goes with nobody.
    """
    flat, both = (array.reshape(len(array), -1) for array in (values, seen))
    squares = np.square(flat) @ both.T
    scale = np.sqrt(squares * squares.T)
    product = flat @ flat.T
    out = np.zeros_like(product)
    np.divide(product, scale, out=out, where=scale > 1e-9)
    return out


def factor(correlations: Floats) -> Floats:
    """Return each judge's loading on the one factor that explains most (principal axes)."""
    common = np.full(len(correlations), 0.5)
    loadings = np.zeros(len(correlations))
    for _ in range(_STEPS):
        reduced = correlations.copy()
        np.fill_diagonal(reduced, common)
        values, vectors = np.linalg.eigh(reduced)
        loadings = np.sqrt(max(float(values[-1]), 0.0)) * vectors[:, -1]
        common = np.minimum(np.square(loadings), 1.0)
    return np.asarray(loadings)
