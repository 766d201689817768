"""What the bootstrap over iterations says of scores, of weights, and of who stands above whom."""

import math
from collections.abc import Mapping

import numpy as np

from raybench.autobench.analysis.ballots import Floats
from raybench.autobench.analysis.resample import Resampled
from raybench.autobench.standing import SCALE
from raybench.stats.intervals import student
from raybench.types import Estimate, Interval

FEWEST = 3
"""Fewer scored iterations carry no interval: there is hardly anything to draw from."""
_SPREAD = 1e-9
"""Equal replicates differ by rounding alone; others by far more."""


def scores(found: Resampled) -> dict[str, Estimate]:
    """Return each contestant's score: S of equation 2."""
    return {
        model: estimate(
            float(found.scores[at]),
            found.drawn.scores[:, at],
            int(found.ballots.scored[at]),
            over="scored iterations",
            within=SCALE,
        )
        for at, model in enumerate(found.ballots.contestants)
    }


def weights(found: Resampled) -> dict[str, Estimate]:
    """Return each judge's weight after the last iteration: w of equation 3."""
    return {
        judge: estimate(
            float(found.weights[at]),
            found.drawn.weights[:, at],
            found.ballots.tasks,
            over="iterations with a task",
            within=(0.0, 1.0),
        )
        for at, judge in enumerate(found.ballots.judges)
    }


def estimate(value: float, drawn: Floats, n: int, *, over: str, within: Interval) -> Estimate:
    """Return a value with the interval that its replicates over n iterations give.

    The interval is Student's, with the replicates' standard deviation: that of draws from n,
    raised by √(n/(n−1)). Percentiles of the replicates were tried and cover less where iterations
    are few. In simulation (8 judges of unlike quality, tasks that differ, scores up to the end of
    the scale), of intervals meant to cover 95 %, percentiles covered 73, 83, 90, 92 and 95 % of the
    true scores with 3, 5, 10, 20 and 50 iterations, Student's 94, 94, 94, 94 and 96 %, and
    95 % or more of the true weights. It is cut at the ends of the scale, where no score can lie.
    """
    if n == 0 or math.isnan(value):
        return Estimate(None, None, None, 0, f"refused: no {over}")
    method = f"bootstrap over {over}, weights replayed"
    if n < FEWEST:
        return Estimate(value, None, None, n, f"{method}; no interval from fewer than {FEWEST}")
    known = drawn[~np.isnan(drawn)]
    spread = float(known.std(ddof=1)) if len(known) > 1 else 0.0
    if spread < _SPREAD:
        return Estimate(value, None, None, n, f"{method}; no interval: all equal")
    stderr = spread * math.sqrt(n / (n - 1))
    low, high = value - student(n - 1) * stderr, value + student(n - 1) * stderr
    method += ", Student's t"
    if low < within[0] or high > within[1]:
        # Few iterations give wide intervals; none of it lies where no value can.
        low, high = max(low, within[0]), min(high, within[1])
        method += ", cut at the ends of the scale"
    return Estimate(value, stderr, (low, high), n, method)


def above(found: Resampled) -> Mapping[str, Mapping[str, float | None]]:
    """Return the share of draws in which one contestant scores above another, ties half.

    None for a model and itself, for one that was never scored, and where the iterations are fewer
    than carry an interval.
    """
    models = found.ballots.contestants
    enough = found.ballots.scored >= FEWEST
    return {
        model: {
            other: share_above(found.drawn.scores[:, i], found.drawn.scores[:, j])
            if i != j and enough[i] and enough[j]
            else None
            for j, other in enumerate(models)
        }
        for i, model in enumerate(models)
    }


def share_above(one: Floats, other: Floats) -> float | None:
    """Return the share of draws in which one lies above the other, ties half."""
    gap = one - other
    gap = gap[~np.isnan(gap)]
    if not len(gap):
        return None
    tied = np.abs(gap) < _SPREAD
    return float(np.where(tied, 0.5, gap > 0).mean())
