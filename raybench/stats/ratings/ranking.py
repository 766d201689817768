"""Who is the better of two, and who is at which place: how sure both are."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from raybench.stats.distributions import two_sided
from raybench.stats.paired import holm
from raybench.stats.ranks import places
from raybench.stats.ratings.outcome import Ratings
from raybench.stats.ratings.scale import FEWEST
from raybench.types import Estimate

SURE = 0.05
"""The most that p may be, raised by Holm's steps, for an order to hold."""
_ROUNDING = 1e-7
"""Strengths that differ by less, in natural logarithms, are equal."""


@dataclass(frozen=True, slots=True)
class Order:
    """Two models of a component, the better first: how sure it is that it is the better."""

    better: str
    worse: str
    difference: Estimate
    p: float | None
    """How often chance alone would set two equal models this far apart (sandwich, Student's t)."""
    degrees: float
    """Of freedom, which that goes by."""
    holm: float | None
    """The same, raised for the number of pairs: those below 0.05 hold together."""
    share: float | None
    """In which share of the replicates it is the better."""


@dataclass(frozen=True, slots=True)
class Rank:
    """A model's place among all, the best being 1; those who are equal share one.

    A model of a component that is above another is before all of that one's, however far.
    """

    ends: tuple[int, int]
    """The best and the worst it can be: they differ where components are not compared."""
    replicates: tuple[int, int] | None
    """Where 95 % of the replicates have it: for this model alone. None where its rating has no
    interval: replicates of too few matches, or of matches all alike, agree and know nothing."""
    simultaneous: tuple[int, int]
    """What the orders that hold by Holm leave: true of all models at once in 95 % of pools. Of two
    components' models none holds: all that their wins are is one way."""

    @property
    def value(self) -> int | None:
        """Return the place, None where it is not known."""
        return self.ends[0] if self.ends[0] == self.ends[1] else None


def orders(ratings: Ratings) -> tuple[Order, ...]:
    """Return every pair of each component, the better first."""
    found = []
    for ranked in _ranked(ratings):
        for better, worse in combinations(ranked, 2):
            aim = ratings.pair(better, worse)
            drawn = ratings.draws @ aim
            # Where the two were equal, as in a replicate of ties alone, neither was the better.
            share = float(np.mean((np.sign(drawn) + 1) / 2)) if len(drawn) >= FEWEST else None
            difference = ratings.difference(better, worse)
            degrees = ratings.freedom(aim)
            p = _p(difference, degrees)
            found.append(Order(better, worse, difference, p, degrees, None, share))
    raised = holm({(it.better, it.worse): it.p for it in found if it.p is not None})
    return tuple(replace(it, holm=raised.get((it.better, it.worse))) for it in found)


def ranks(ratings: Ratings, known: Sequence[Order] | None = None) -> Mapping[str, Rank]:
    """Return the place of each model, with both intervals.

    Of a component of several, models whose number is refused have none. `known` are the orders,
    where they have been worked out already.
    """
    above, below = dict.fromkeys(ratings.models, 0), dict.fromkeys(ratings.models, 0)
    for order in orders(ratings) if known is None else known:
        if order.holm is not None and order.holm < SURE:
            above[order.worse] += 1
            below[order.better] += 1
    found = {}
    components = _ranked(ratings)
    whole = sum(map(len, components))
    for number, ranked in enumerate(components):
        higher = sum(len(components[upper]) for upper, lower in ratings.above if lower == number)
        lower = sum(len(components[lower]) for upper, lower in ratings.above if upper == number)
        unknown = whole - len(ranked) - higher - lower
        drawn = _drawn(ratings, ranked)
        at = {name: ratings.strengths[ratings.models.index(name)] for name in ranked}
        for name in ranked:
            # Equal models share the better place, as they do within a replicate.
            place = 1 + sum(bool(it > at[name] + _ROUNDING) for it in at.values())
            ends = (higher + place, higher + place + unknown)
            sure = (1 + above[name], whole - below[name])
            own = drawn.get(name) if ratings.table[name].ci95 is not None else None
            replicates = own and (higher + own[0], higher + own[1] + unknown)
            found[name] = Rank(ends, replicates, sure)
    return found


def _ranked(ratings: Ratings) -> list[list[str]]:
    """Return the rated models of each component, best first, and those that are one alone."""
    return [
        [name for name in ratings.table if name in part and (ratings.rated(name) or len(part) == 1)]
        for part in ratings.components
    ]


def _drawn(ratings: Ratings, ranked: list[str]) -> dict[str, tuple[int, int]]:
    if len(ratings.draws) < FEWEST or not ranked:
        return {}
    columns = [ratings.models.index(name) for name in ranked]
    drawn = places(ratings.draws[:, columns])
    ends = np.quantile(drawn, [0.025, 0.975], axis=0, method="closest_observation")
    return {name: (int(low), int(high)) for name, low, high in zip(ranked, *ends, strict=True)}


def _p(difference: Estimate, degrees: float) -> float | None:
    if difference.value is None or not difference.stderr or math.isnan(difference.stderr):
        return None
    return two_sided(difference.value / difference.stderr, degrees)
