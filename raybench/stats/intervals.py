"""Estimates of one number from independent observations."""

import math
from collections.abc import Sequence

import numpy as np

from raybench.statements import Statement
from raybench.stats.distributions import normal_quantile, student_quantile, two_sided
from raybench.types import Estimate, Interval

Z = normal_quantile(0.975)
_ROUNDING = 1e-12
"""Equal numbers that were computed in different ways differ by less."""


def difference(one: float, other: float) -> float:
    """Return one number less another, and 0 where they are the same but for rounding."""
    same = math.isclose(one, other, rel_tol=_ROUNDING, abs_tol=_ROUNDING)
    return 0.0 if same else one - other


def refuse_empty(over: str) -> Estimate:
    """Return that there is no estimate because nothing was observed; `over` names it."""
    why = Statement("refused.empty", "not computed: no {over}", over=over)
    return Estimate(None, None, None, 0, why)


def mean(values: Sequence[float], *, over: str) -> Estimate:
    """Mean with Student's interval; `over` names what was observed, for the method's name.

    One observation carries no interval, nor do observations that are all equal: that they agree
    does not say how far the next one would lie. None is guessed.
    """
    n = len(values)
    if n == 0:
        return refuse_empty(over)
    average = math.fsum(values) / n
    if n == 1:
        return Estimate(average, None, None, 1, f"mean over {over}; no interval from one")
    if math.isclose(min(values), max(values), rel_tol=_ROUNDING, abs_tol=_ROUNDING):
        method = f"mean over {over}"
        why = Statement("no_interval.all_equal", "{method}; no interval: all equal", method=method)
        return Estimate(average, None, None, n, why)
    stderr = float(np.std(values, ddof=1)) / math.sqrt(n)
    half = student(n - 1) * stderr
    return Estimate(
        average, stderr, (average - half, average + half), n, f"mean over {over}, Student's t"
    )


def cut(estimate: Estimate, limits: Interval) -> Estimate:
    """Return the estimate without the part of its interval in which it cannot lie.

    Few observations give wide intervals; none of it lies beyond the ends of the scale.
    """
    if estimate.ci95 is None:
        return estimate
    inside = (max(estimate.ci95[0], limits[0]), min(estimate.ci95[1], limits[1]))
    if inside == estimate.ci95:
        return estimate
    method = Statement(
        "method.cut", "{method}, cut at the ends of the scale", method=estimate.method
    )
    return Estimate(estimate.value, estimate.stderr, inside, estimate.n, method)


def share(successes: int, n: int, *, over: str) -> Estimate:
    """Share of successes with Wilson's interval, which stays inside 0 and 1."""
    if n == 0:
        return refuse_empty(over)
    p = successes / n
    return Estimate(p, math.sqrt(p * (1 - p) / n), wilson(p, n), n, f"share of {over}, Wilson")


def wilson(p: float, n: float, *, z: float = Z) -> Interval:
    """Return the interval around a share of n observations; n need not be whole."""
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # At p = 0 and 1 a bound is p itself, up to rounding.
    return max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half))


def student(degrees: float) -> float:
    """Return how many standard errors a 95 % interval reaches to either side."""
    return student_quantile(0.975, degrees)


def others(mean: Estimate, independent: int, ends: Interval) -> Estimate:
    """Return a mean of observations that are all equal, with an interval for those not seen.

    At most so many differ as Wilson's interval has for none of so many seen, each by as much as
    the ends of the scale allow.
    """
    assert mean.value is not None
    share, (low, high) = wilson(0.0, independent)[1], ends
    inside = (
        max(low, mean.value - share * (mean.value - low)),
        mean.value + share * (high - mean.value),
    )
    method = f"{mean.method.removesuffix('; no interval: all equal')}, all equal: Wilson for others"
    return Estimate(mean.value, mean.stderr, inside, mean.n, method)


def chance(mean: Estimate, independent: int) -> float | None:
    """Return how often chance alone would set a mean of so many observations this far from 0.

    By Student's t, on both sides; where all are equal, as often as all of so many signs agree.
    None where there are fewer than two.
    """
    if mean.value is None or independent < 2:
        return None
    if not mean.stderr:
        return 2.0 ** (1 - independent) if difference(mean.value, 0.0) else 1.0
    return two_sided(mean.value / mean.stderr, independent - 1)


def chance_by(found: Estimate, degrees: float = math.inf) -> float | None:
    """Return how often chance alone would set a value this far from 0, by its own interval.

    It is 0.05 where the interval ends at 0, and beside that as Student's t of so many degrees.
    None where it does not say.
    """
    if found.value is None or found.ci95 is None:
        return None
    towards = found.value - found.ci95[0] if found.value > 0 else found.ci95[1] - found.value
    return two_sided(student(degrees) * found.value / towards, degrees) if towards > 0 else None
