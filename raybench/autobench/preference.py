"""Whether judges prefer their own answers: how they rate them, beside how they rate all others'.

A judge's leaning to a model is how far above its own line it rates that model's answers: the line
through what it gave others' answers, over what its peers gave these. Its leaning to itself is its
self-preference. A line and not only its severity: a judge that hardly tells good from bad rates
good answers too low and bad ones too high, its own like all others, and prefers nobody.

What the peers say is uncertain, and the fewer they are the more: a line that took it for certain
would be too flat, and the best models would seem to prefer themselves.

A judge may have a taste for some models that its peers do not share, and its own may be one of them
by chance, however many tasks there are. So there are two intervals: over tasks, by these peers; and
among its leanings to the others. It is told to prefer itself only where both exclude 0.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raybench.autobench.ratings import Given, Numbers, Sums
from raybench.autobench.standing import SCALE
from raybench.statements import Statement
from raybench.stats import intervals
from raybench.stats.beyond import Lines, Points, among, beyond
from raybench.stats.grouped import Groups
from raybench.types import Estimate

LEAST_JUDGES = 4
"""With fewer only one peer is left of an answer, without the judge and whose answer it is; nobody
then knows how certain it is of what it says."""

APART = (SCALE[0] - SCALE[1], SCALE[1] - SCALE[0])
"""How far apart two ratings, and so means of them, can be."""
NO_CONTESTANT = Estimate(
    None, None, None, 0, "not computed: no contestant, and so without answers of its own"
)


@dataclass(frozen=True, slots=True)
class Preference:
    """By how much a judge rates its own answers higher than its peers lead to expect.

    In points that show within the scale: near its ends there is no room for all of them.
    """

    over_tasks: Estimate
    """As judged by these models, whatever the tasks.

    Simulated, 89 to 94 of 100 such intervals of judges without a preference hold 0; of the best
    model, whose ratings the scale's end cuts off, 76 to 84 after 200 iterations.
    """
    among_leanings: Estimate
    """The same number, as one among its leanings to the other contestants.

    It asks for much: of judges that add a whole point to their own and have tastes of 0.3 for all,
    a quarter is not found.
    """

    @property
    def told(self) -> bool | None:
        """Tell whether it prefers itself: both intervals lie above 0. None where one is missing."""
        both = self.over_tasks.ci95, self.among_leanings.ci95
        return None if None in both else all(it[0] > 0 for it in both if it)


@dataclass(frozen=True, slots=True)
class Peers:
    """What all judges said of others' answers, from which one judge's part can be taken."""

    ratings: Numbers
    """Iterations × judges × contestants, less each judge's severity, NaN where there is none."""
    sums: Sums
    squares: Sums

    @classmethod
    def of(cls, block: Given) -> "Peers":
        """Gather them; a judge's severity is its mean distance from the mean of all."""
        foreign = np.where(block.own, np.nan, block.ratings)
        even = np.ones_like(block.weights)
        apart = foreign - Sums.of(foreign, even).mean()[:, None]
        given = np.maximum((~np.isnan(apart)).sum(axis=(0, 2)), 1)
        levelled = foreign - (np.nansum(apart, axis=(0, 2)) / given)[:, None]
        return cls(levelled, Sums.of(levelled, even), Sums.of(levelled**2, even))

    def without(self, i: int) -> tuple[Numbers, Numbers]:
        """Return what judge i's peers said of every answer, and the variance of that mean's error.

        The error is what their differences say, once severity is out; NaN from fewer than two.
        """
        gave = self.ratings[:, i]
        said = self.sums.less(gave)
        others = self.sums.judges - ~np.isnan(gave)
        spread = np.maximum(self.squares.less(gave**2) - said**2, 0)
        return said, np.where(others > 1, spread / np.maximum(others - 1, 1), np.nan)


def preference(i: int, block: Given, peers: Peers, groups: Groups, *, over: str) -> Preference:
    """Return judge i's self-preference.

    `groups` has the group of every iteration: those of one stand or fall together. `over` names own
    answers and groups for the method's name: 'own answers by iteration'.
    """
    own = block.own[i]
    if not own.any():
        return Preference(NO_CONTESTANT, NO_CONTESTANT)
    gave = block.ratings[:, i]
    said, errors = peers.without(i)

    def points(where: NDArray[np.bool_]) -> Points:
        return Points(said[where], gave[where], groups[np.nonzero(where)[0]])

    both = ~np.isnan(gave) & ~np.isnan(said)
    if not (both & own).any():
        nothing = intervals.refuse_empty(over)
        return Preference(nothing, nothing)
    if len(block.judges) < LEAST_JUDGES:
        why = Statement(
            "refused.few_peers",
            "not computed: fewer than {least} judges, so that how certain its peers are of what "
            "they say cannot be known",
            least=LEAST_JUDGES,
        )
        nothing = Estimate(None, None, None, 0, why)
        return Preference(nothing, nothing)
    others = both & ~own & ~np.isnan(errors)
    lines = Lines.through(points(others), errors[others], int(groups.max()) + 1)
    found = beyond(points(both & own), lines, over=over)
    if found.value is None:
        return Preference(found, found)
    models = np.nonzero(others.any(axis=0))[0]
    leanings = [lines.above(points(others & (np.arange(len(own)) == model)))[0] for model in models]
    beside = among(found.value, np.array(leanings), over="its leanings to other models")
    return Preference(intervals.cut(found, APART), intervals.cut(beside, APART))
