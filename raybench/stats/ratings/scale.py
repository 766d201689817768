"""The scale of ratings, and what is told on it: a value and the wider of two intervals."""

import math

import numpy as np

from raybench.stats.intervals import student
from raybench.stats.ratings.design import Floats
from raybench.types import Estimate

MEAN = 1000.0
SPREAD = 400 / math.log(10)
"""Points of the scale in one natural logarithm of odds."""
SCALE = "1000 + 400/ln 10 · θ, mean 1000"
"""So that 400 points are odds of ten to one, and the mean of those that can be compared is 1000."""
FEWEST = 100
"""Replicates that an interval takes at least: of fewer, the ends are single draws."""
_ROUNDING = 1e-9
"""A standard error below this, in natural logarithms, is none."""


def told(
    aim: Floats,
    strengths: Floats,
    covariance: Floats,
    draws: Floats,
    *,
    degrees: float,
    points: float = SPREAD,
) -> Estimate:
    """Return a sum of parameters in points, with the wider reach, to either side, of two intervals.

    The sandwich's is symmetric, and ends too soon where a model lost next to nothing. Percentiles
    do not, and are off where there are few matches. In simulation (4 to 10 models, 1 to 20 matches
    for each seating, with and without ties; 200 pools each) intervals of ratings and differences
    held the truth in 95 to 98 % (99 % after one round of five), the sandwich's alone in 94 to 96 %,
    percentiles alone in 92 to 95 %.
    """
    value = points * float(aim @ strengths)
    if degrees < 1:
        why = "; no interval: too few matches (or clusters of them) for the number of parameters"
        return Estimate(value, None, None, 0, why)
    stderr = points * math.sqrt(max(float(aim @ covariance @ aim), 0.0))
    if stderr < _ROUNDING * points:
        why = "; no interval: the matches are all alike"
        return Estimate(value, None, None, 0, why)
    half = student(degrees) * stderr
    low, high = value - half, value + half
    if len(draws) < FEWEST:
        return Estimate(value, stderr, (low, high), 0, "; sandwich, Student's t")
    drawn = np.quantile(points * (draws @ aim), [0.025, 0.975])
    ends = (min(low, float(drawn[0])), max(high, float(drawn[1])))
    return Estimate(
        value, stderr, ends, 0, "; interval: sandwich or bootstrap percentiles, the wider"
    )
