"""What was gained on held-out positions: the same ones, played before and after."""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from raybench.arena.studies import PHASES, Marked
from raybench.stats import composite, grouped, intervals
from raybench.types import Counts, Estimate, Interval

BEFORE, AFTER = PHASES
GAIN = "gain"
_REFUSED = Estimate(None, None, None, 0, "not computed: no held-out position was played both times")


def studied(marks: Mapping[str, Mapping[int, Marked]]) -> dict[str, Estimate]:
    """Return what moves are worth before and after, and the difference, of one study.

    Positions of one family rise and fall together.
    """
    before, after = marks.get(BEFORE, {}), marks.get(AFTER, {})
    both = sorted(before.keys() & after.keys())
    if not both:
        return dict.fromkeys((BEFORE, AFTER, GAIN), _REFUSED)
    families = [after[place].family for place in both]
    old, new = ([of[place].worth for place in both] for of in (before, after))
    differences = [b - a for a, b in zip(old, new, strict=True)]
    return {
        BEFORE: _mean(old, families, (0.0, 1.0)),
        AFTER: _mean(new, families, (0.0, 1.0)),
        GAIN: _mean(differences, families, (-1.0, 1.0)),
    }


def chance(marks: Mapping[str, Mapping[int, Marked]]) -> float | None:
    """Return how often chance alone would bring a gain, or a loss, that is no smaller.

    None where there are no positions, or they are all of one family.
    """
    gain = studied(marks)[GAIN]
    families = {it.family for it in marks.get(AFTER, {}).values()}
    return intervals.chance(gain, len(families))


def over_all(gains: Mapping[str, Estimate]) -> Estimate:
    """Return the mean gain over sets of positions, each weighing the same."""
    weights = {name: Fraction(1, len(gains)) for name in gains}
    return composite.weighted(gains, weights)


def counted(marks: Mapping[str, Mapping[int, Marked]]) -> Counts:
    """Return what happened at held-out positions, before and after together."""
    every = [mark for by in marks.values() for mark in by.values()]
    truncated = sum(it.truncated for it in every)
    return Counts(
        ok=sum(it.error is None for it in every),
        truncated=truncated,
        unparsed=sum(it.error is not None for it in every) - truncated,
    )


def _mean(values: list[float], families: list[str], ends: Interval) -> Estimate:
    number = {name: at for at, name in enumerate(dict.fromkeys(families))}
    if len(number) == len(values):
        found = intervals.mean(values, over="held-out positions")
    else:
        groups = np.array([number[it] for it in families], dtype=np.int64)
        over = "held-out positions by family"
        found = grouped.mean(np.array(values, dtype=np.float64), groups, over=over)
    if len(number) > 1 and found.value is not None and not found.stderr:
        return intervals.others(found, len(number), ends)
    return intervals.cut(found, ends)
