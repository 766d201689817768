"""By how much some observations lie above the line on which others lie, where x is uncertain.

A line fitted to an uncertain x is too flat: what is high there is high by luck, too. Whatever lies
at the ends then seems to lie off the line. Where the variance of the error in x is known, so is how
much too flat, and the slope is corrected for it.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from raybench.statements import Statement
from raybench.stats.grouped import Groups, Values
from raybench.stats.intervals import refuse_empty, student
from raybench.types import Estimate

LEAST_RELIABILITY = 0.3
"""No slope is steepened to more than 1/0.3 of what was fitted: with less, x says next to nothing,
and what is left of its variance is itself chance."""

_ROUNDING = 1e-9
"""A variance or an error below this is rounding."""


class Points(NamedTuple):
    """Observations: y where x was, and the group of each: what repeats, as a task's ratings do."""

    x: Values
    y: Values
    groups: Groups


@dataclass(frozen=True, slots=True)
class Lines:
    """The line through points; and, for the jackknife, through what is left without each group."""

    x: Values
    """The mean of x: of all points, then without each group in turn."""
    y: Values
    slope: Values

    @classmethod
    def through(cls, points: Points, errors: Values, groups: int) -> "Lines":
        """Fit to points of which each x has an error of the variance that `errors` says.

        `groups` is how many there are, with those that have no point here.
        """
        x, y, of = points
        # Around the middle, so that no digits are lost.
        at = (float(x.mean()), float(y.mean())) if len(x) else (0.0, 0.0)
        u, v = x - at[0], y - at[1]
        n, su, sv, suu, suv, error = (
            _without_each(it, of, groups) for it in (np.ones_like(u), u, v, u * u, u * v, errors)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            mean_u, mean_v = su / n, sv / n
            variance = suu / n - mean_u**2
            variance = np.where(variance > _ROUNDING, variance, np.nan)
            reliability = np.maximum(LEAST_RELIABILITY, 1 - error / n / variance)
            slope = (suv / n - mean_u * mean_v) / variance / reliability
        return cls(mean_u + at[0], mean_v + at[1], slope)

    @property
    def fitted(self) -> bool:
        """Tell whether there is a line: points that differ in x."""
        return bool(np.isfinite(self.slope[0]))

    def above(self, own: Points) -> Values:
        """Return how far other points lie above the line on average: all, then without each group.

        NaN where there is no line, or no point left.
        """
        groups = len(self.slope) - 1
        n, x, y = (
            _without_each(it, own.groups, groups) for it in (np.ones_like(own.x), own.x, own.y)
        )
        n = np.where(n > 0, n, np.nan)
        return y / n - self.y - self.slope * (x / n - self.x)


def beyond(own: Points, lines: Lines, *, over: str) -> Estimate:
    """Return by how much `own` lies above the line, with an interval over groups: the jackknife's.

    Line and own points are left out by group together, so that what one group shares in both, and
    that the line is fitted and corrected, are part of the standard error.
    """
    if not len(own.x):
        return refuse_empty(over)
    if not lines.fitted:
        why = Statement(
            "refused.no_line",
            "not computed: {over}: there is nothing that differs to compare them with",
            over=over,
        )
        return Estimate(None, None, None, len(own.x), why)
    value, *each = lines.above(own).tolist()
    method = f"mean above the line, corrected for the error in x, over {over}"
    groups = len(np.unique(own.groups))
    if not np.isfinite(each).all():
        why = Statement(
            "no_interval.hangs_on_one",
            "{method}; no interval: it hangs on one group",
            method=method,
        )
        return Estimate(value, None, None, len(own.x), why)
    stderr = math.sqrt((groups - 1) / groups * math.fsum((it - value) ** 2 for it in each))
    if stderr < _ROUNDING:
        why = Statement("no_interval.all_equal", "{method}; no interval: all equal", method=method)
        return Estimate(value, None, None, len(own.x), why)
    half = student(groups - 1) * stderr
    named = f"{method}; jackknife, Student's t"
    return Estimate(value, stderr, (value - half, value + half), len(own.x), named)


def among(value: float, others: Values, *, over: str) -> Estimate:
    """Return a value with the interval that holds 0 where it may be one more of `others`.

    The others spread around 0, and how far is what the interval is made of: of one value that is
    like them, 95 in 100 intervals hold 0.
    """
    n = len(others)
    method = f"as one among {over}"
    if n < 2:
        why = Statement(
            "no_interval.fewer_than_two", "{method}; no interval: fewer than two", method=method
        )
        return Estimate(value, None, None, n, why)
    stderr = float(np.std(others, ddof=1)) * math.sqrt(1 + 1 / n)
    if stderr < _ROUNDING:
        why = Statement("no_interval.all_equal", "{method}; no interval: all equal", method=method)
        return Estimate(value, None, None, n, why)
    half = student(n - 1) * stderr
    return Estimate(value, stderr, (value - half, value + half), n, f"{method}, Student's t")


def _without_each(values: Values, of: Groups, groups: int) -> Values:
    """Return the sum of all values, and the sums without each group."""
    sums = np.bincount(of, values, minlength=groups).astype(np.float64)
    total = math.fsum(sums)
    return np.concatenate([[total], total - sums])
