"""Newton's method on many likelihoods at once, of which all have the same design.

The replicates of a bootstrap differ in counts alone, so that their steps are one batch of small
linear systems.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from raybench.stats.ratings.design import Design, Floats

STEPS = 500
_CLOSE = 1e-6
"""A step that moves no side by more is the last: what it leaves is about its square."""
_RIDGE = 1e-10
"""Keeps a flat likelihood's equations solvable; it bends steps, not where they end."""
_FLAT = 1e6
"""A likelihood this flat somewhere has no maximum there. The flattest that has one is hardly less
curved than one match in as many as there are models."""
_NOTHING = 1e-12
"""What a step adds to a logarithm of the likelihood that rises for ever, and hardly any more."""


@dataclass(frozen=True, eq=False)
class Maxima:
    """Where each likelihood is highest."""

    at: Floats
    """Likelihoods by parameters."""
    found: np.typing.NDArray[np.bool_]
    """False: there is none, it rises for ever or is flat."""


def maximise(
    design: Design,
    chosen: Floats,
    drawn: Floats,
    ground: Floats,
    *,
    start: Floats,
    offset: Floats | None = None,
    steps: int = STEPS,
) -> Maxima:
    """Return the maxima of Σ chosen·β − Σ drawn·log Σ exp β, one for each row.

    `ground` pins what matches cannot tell, and is added to the curvature: 1 for every pair of
    parameters whose sum stays what it was at the start. `offset` is added to the sides' strengths.

    A step of which no side moves by more than 1 relative to another raises the likelihood; a
    longer one is shortened by log(1 + m)/m, as the curvature changes by no more than e^m along
    it (self-concordance), so that no line is searched.
    """
    at = np.broadcast_to(start, chosen.shape).copy()
    found = np.zeros(len(chosen), dtype=bool)
    probe = np.random.default_rng(0).standard_normal(design.size)
    left = np.arange(len(chosen))
    for _ in range(steps):
        if not len(left):
            break
        odds = chances(design, at[left], offset)
        slope = chosen[left] - expected(design, drawn[left], odds)
        curved = curvature(design, drawn[left], odds) + ground
        curved[:, range(design.size), range(design.size)] += _RIDGE
        both = np.stack([slope, np.broadcast_to(probe, slope.shape)], axis=2)
        solved = np.linalg.solve(curved, both)
        step = solved[:, :, 0]
        moved = _sides(design, step)
        reach = moved.max(axis=1) - moved.min(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            at[left] += np.where(reach > 1, np.log1p(reach) / reach, 1.0)[:, None] * step
        flat = (np.abs(solved[:, :, 1]) >= _FLAT).any(axis=1)
        close = reach < _CLOSE
        found[left[close & ~flat]] = True
        done = close | (flat & ((slope * step).sum(axis=1) < _NOTHING))
        left = left[~done]
    return Maxima(at, found)


def chances(design: Design, at: Floats, offset: Floats | None = None) -> Floats:
    """Return with what probability each side is chosen: likelihoods by places by sets."""
    odds = _strengths(design, at, offset)
    odds -= odds.max(axis=1, keepdims=True)
    np.exp(odds, out=odds)
    odds /= odds.sum(axis=1, keepdims=True)
    return odds


def loglikelihood(
    design: Design, chosen: Floats, drawn: Floats, at: Floats, offset: Floats | None = None
) -> Floats:
    """Return the logarithm of each likelihood, but for what an offset adds to those chosen."""
    found = _strengths(design, at, offset)
    top = found.max(axis=1, keepdims=True)
    logs = np.log(np.exp(found - top).sum(axis=1)) + top[:, 0]
    return np.asarray((chosen * at).sum(axis=1) - (drawn * logs).sum(axis=1))


def expected(design: Design, drawn: Floats, odds: Floats) -> Floats:
    """Return what would be chosen on the average."""
    weighed = odds * drawn[:, None, :]
    return np.asarray((design.members @ weighed.reshape(len(odds), -1).T).T)


def curvature(design: Design, drawn: Floats, odds: Floats) -> Floats:
    """Return the information about the parameters, one matrix for each likelihood."""
    pairs = combinations(range(odds.shape[1]), 2)
    weighed = odds * drawn[:, None, :]
    both = [weighed[:, one] * odds[:, other] for one, other in pairs]
    found = (design.products @ np.concatenate(both, axis=1).T).T
    return np.asarray(found).reshape(len(odds), design.size, design.size)


def _sides(design: Design, at: Floats) -> Floats:
    return np.asarray((design.rows @ at.T).T)


def _strengths(design: Design, at: Floats, offset: Floats | None) -> Floats:
    """Return the sides' strengths, set by set; who is not there has none."""
    sides = _sides(design, at)
    if offset is not None:
        sides = sides + offset
    found = np.ascontiguousarray(sides)[:, design.sets]
    if not design.there.all():
        found[:, ~design.there] = -np.inf
    return np.asarray(found)
