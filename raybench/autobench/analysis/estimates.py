"""What the bootstrap over iterations says of scores, of weights, and of who stands above whom."""

import math
from collections.abc import Mapping

import numpy as np
from scipy import stats

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
            over=found.ballots.sources.over("scored iterations"),
            within=SCALE,
        )
        for at, model in enumerate(found.ballots.contestants)
    }


def weights(found: Resampled) -> dict[str, Estimate]:
    """Return each judge's weight after the last iteration: w of equation 3."""
    sources = found.ballots.sources
    over = "iterations with a task" if sources.shared is None else sources.over("iterations")
    return {
        judge: estimate(
            float(found.weights[at]),
            found.drawn.weights[:, at],
            found.ballots.distinct,
            over=over,
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
    """Return how likely one contestant stands above another, over other tasks of the same kind.

    By Student's t of the difference of their scores, whose spread is that of the draws: the plain
    share of draws is far too sure after few iterations (of equal models 30 % of pairs were told
    apart at 97.5 % after three iterations, 11 % after ten; so, about 5 % are). None for a model and
    itself, for one that was never scored, and where the iterations are fewer than carry an
    interval.
    """
    models, scored = found.ballots.contestants, found.ballots.scored
    return {
        model: {
            other: _above(found, i, j, int(min(scored[i], scored[j]))) if i != j else None
            for j, other in enumerate(models)
        }
        for i, model in enumerate(models)
    }


def _above(found: Resampled, i: int, j: int, n: int) -> float | None:
    drawn = found.drawn.scores[:, i] - found.drawn.scores[:, j]
    drawn = drawn[~np.isnan(drawn)]
    if n < FEWEST or len(drawn) < 2:
        return None
    gap = float(found.scores[i] - found.scores[j])
    spread = float(np.std(drawn, ddof=1)) * math.sqrt(n / (n - 1))
    if spread < _SPREAD:
        return 0.5 if abs(gap) < _SPREAD else float(gap > 0)
    return float(stats.t.cdf(gap / spread, n - 1))
