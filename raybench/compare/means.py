"""Differences of means: over what both sides did, paired; or of two runs that are independent."""

import math
from collections.abc import Hashable, Sequence

import numpy as np

from raybench.compare.found import SCORE, Scale, Score
from raybench.statements import Statement
from raybench.stats import grouped, intervals
from raybench.stats.distributions import two_sided
from raybench.stats.intervals import student
from raybench.types import Counts, Estimate

MOVER = "from both intervals (MOVER)"
"""How the method ends where the interval of a difference is put together from two others."""
BY_INTERVAL = "by the interval (MOVER)"
"""How a test begins that goes by the interval of the difference."""
UNPAIRED = "difference of independent runs, not paired"
"""How the method of a difference begins that is of two runs' own scores."""
_NO_INTERVAL = Statement("no_test.no_interval", "one side has no interval")
_NONE = Estimate(None, None, None, 0, "not computed: the run has none")


def paired(
    metric: str,
    title: str,
    sides: tuple[Sequence[float], Sequence[float]],
    *,
    of: str,
    families: Sequence[Hashable] = (),
    over: str = "",
    scale: Scale = SCORE,
    higher_is_better: bool = True,
    counts: tuple[Counts, Counts] | None = None,
    notes: Sequence[str] = (),
) -> Score:
    """Return the mean difference over what both sides did, in one order; `of` says what that is.

    What is of one family rises and falls together, and counts as one observation.
    """
    one, other = sides
    differences = [intervals.difference(b, a) for a, b in zip(one, other, strict=True)]
    number = {name: at for at, name in enumerate(dict.fromkeys(families))}
    independent, clustered = len(number) or len(one), len(number) not in (0, len(one))
    what = over or f"{of} of both, paired"
    if clustered:
        groups = np.array([number[it] for it in families], dtype=np.int64)
        found = grouped.mean(np.array(differences), groups, over=f"{what}, by family")
    else:
        found = intervals.mean(differences, over=what)
    test = "paired Student's t, clustered" if clustered else "paired Student's t"
    return Score(
        metric,
        title,
        baseline=intervals.mean(one, over=of),
        candidate=intervals.mean(other, over=of),
        difference=found,
        p=intervals.chance(found, independent),
        test=test if found.stderr else "signs, all equal",
        independent=independent,
        gained=sum((it > 0) is higher_is_better and it != 0 for it in differences),
        lost=sum((it > 0) is not higher_is_better and it != 0 for it in differences),
        higher_is_better=higher_is_better,
        of=of,
        scale=scale,
        counts=counts,
        notes=notes,
    )


def apart(
    metric: str,
    title: str,
    one: Estimate | None,
    other: Estimate | None,
    *,
    of: str,
    scale: Scale = SCORE,
    higher_is_better: bool = True,
    counts: tuple[Counts, Counts] | None = None,
    notes: Sequence[str] = (),
) -> Score:
    """Return the difference of what two independent runs came to: nothing in it is paired."""
    one, other = one or _NONE, other or _NONE
    found, p, test, independent = _difference(one, other)
    return Score(
        metric, title, one, other, found, p=p, test=test, independent=independent,
        higher_is_better=higher_is_better, of=of, scale=scale, counts=counts, notes=notes,
        untested=_NO_INTERVAL if p is None else "",
    )  # fmt: skip


def _difference(one: Estimate, other: Estimate) -> tuple[Estimate, float | None, str, int]:
    """Return the difference, its p and the test, and how many independent observations it has."""
    for it in (one, other):
        if it.value is None:
            return Estimate(None, None, None, 0, it.method), None, "none", 0
    assert one.value is not None and other.value is not None
    value, n = intervals.difference(other.value, one.value), min(one.n, other.n)
    method = UNPAIRED
    if one.stderr and other.stderr:
        stderr = math.hypot(one.stderr, other.stderr)
        degrees = stderr**4 / sum(
            it.stderr**4 / max(it.n - 1, 1) for it in (one, other) if it.stderr
        )
        half = student(degrees) * stderr
        ends = (value - half, value + half)
        found = Estimate(value, stderr, ends, n, f"{method}, Welch")
        p = two_sided(value / stderr, degrees)
        return found, p, "Welch's t", math.floor(degrees) + 1
    if one.ci95 is None or other.ci95 is None:
        return (
            Estimate(value, None, None, n, f"{method}; no interval: one has none"),
            None,
            "none",
            0,
        )
    below = math.hypot(other.value - other.ci95[0], one.ci95[1] - one.value)
    above = math.hypot(other.ci95[1] - other.value, one.value - one.ci95[0])
    found = Estimate(value, None, (value - below, value + above), n, f"{method}, {MOVER}")
    if (by_interval := intervals.chance_by(found)) is None:
        return found, None, "none", 0
    return found, by_interval, BY_INTERVAL, n
