"""One order out of several rankings of the same models, each uncertain, some without some models.

*Score.* The share of the other models that a model stands above, averaged over the rankings that
have both: Borda's count. Every ranking weighs the same, whatever its scale and however many
questions it has; half of a model is counted where two are equal. Means of standardised scores were
the alternative: there a ranking whose scores lie far apart at one end decides more than others do,
and how far apart they lie is a matter of the scale (points, shares, ratings). Kemeny's order, which
contradicts the rankings in the fewest pairs, says nothing of how close models are, and of four
rankings it is often one of many: it is given beside (`kemeny`), as a check.

*Uncertainty.* A pair counts by how surely each ranking has it: the score is the mean over draws of
all rankings, and so are its errors. Who is surely above whom goes by Holm's steps over all pairs;
a rank's interval is what these orders leave, for all models at once. Simulated with 3 to 12 models,
close, far apart and equal, under one to five rankings that agree and that do not, all true ranks
lay in their intervals in 95 to 100 of 100 (tests/stats/test_consensus.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from raybench.stats.distributions import normal_below
from raybench.stats.joint import DRAWS, Joint
from raybench.stats.ranks import Flags, Floats, holds
from raybench.types import Estimate

METRIC = "suite/consensus_score"
MOST_EXACT = 14
"""Of more models Kemeny's order is looked for, and not found for sure: subsets double with each."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Place:
    """Where a model stands among all."""

    model: str
    score: Estimate
    """The share of the others that it stands above."""
    rank: int
    between: tuple[int, int]
    """What the orders that hold leave, true of all models at once in 95 of 100 cases."""
    rankings: tuple[str, ...]
    """By which of them it is placed."""


@dataclass(frozen=True, slots=True)
class Consensus:
    """All models, best first, and how far another method has another order."""

    places: tuple[Place, ...]
    kemeny: tuple[str, ...]
    """Kemeny's order."""
    exact: bool
    """Whether that is found for sure."""
    unsettled: int
    """Pairs that Kemeny's order has the other way round."""
    joint: Joint
    """The scores, and how their errors go together."""


def consensus(rankings: Mapping[str, Joint], *, seed: int = 0, count: int = DRAWS) -> Consensus:
    """Return the order that the rankings have in common, by their names."""
    models = tuple(sorted({model for of in rankings.values() for model in of.models}))
    if not models:
        nothing = Joint(METRIC, (), np.zeros(0), np.zeros((0, 0)))
        return Consensus((), (), True, 0, nothing)
    drawn = [of.drawn(count, seed=(seed, place)) for place, of in enumerate(rankings.values())]
    wins, compared = _wins(models, list(rankings.values()), drawn)
    whole = wins.mean(axis=0)  # models by models: how often the row is above the column
    scores = _scores(wins, compared)
    placed: Flags = np.asarray(compared.sum(axis=1) > 0)
    values = scores.mean(axis=0)
    between = _between(scores, placed)
    order = sorted(range(len(models)), key=lambda at: (not placed[at], -values[at], models[at]))
    kemeny, exact = _kemeny(whole, compared)
    above = {model: place for place, model in enumerate(kemeny)}
    places = []
    for at in order:
        by = tuple(name for name, of in rankings.items() if models[at] in of.models)
        rank = 1 + int((values[placed] > values[at] + _ROUNDING).sum()) if placed[at] else 0
        low, high = between[at]
        ends = (min(low, rank), max(high, rank))
        places.append(Place(models[at], _score(scores[:, at], placed[at], by), rank, ends, by))
    first, second = np.triu_indices(len(models), k=1)
    unsettled = sum(
        bool((values[i] - values[j]) * (above[j] - above[i]) < 0)
        for i, j in zip(first, second, strict=True)
        if placed[i] and placed[j] and abs(values[i] - values[j]) > _ROUNDING
    )
    return Consensus(
        tuple(place for place in places if place.rank),
        tuple(models[at] for at in kemeny if placed[at]),
        exact,
        unsettled,
        Joint(
            METRIC,
            tuple(models[at] for at in order if placed[at]),
            values[[at for at in order if placed[at]]],
            np.atleast_2d(np.cov(scores[:, [at for at in order if placed[at]]], rowvar=False)),
        ),
    )


def _wins(
    models: Sequence[str], rankings: Sequence[Joint], drawn: Sequence[Floats]
) -> tuple[Floats, Floats]:
    """Return by draw how much of the rankings have each above each, and how many have both."""
    count = len(drawn[0])
    total = np.zeros((count, len(models), len(models)), dtype=np.float32)
    compared = np.zeros((len(models), len(models)))
    for of, scores in zip(rankings, drawn, strict=True):
        places = [models.index(model) for model in of.models]
        square = np.ix_(places, places)
        signs = np.sign(scores[:, :, None] - scores[:, None, :]).astype(np.float32)
        total[:, square[0], square[1]] += (1 + signs) / 2
        compared[square] += 1
    np.fill_diagonal(compared, 0)
    shares = np.divide(total, compared, out=np.zeros_like(total), where=compared > 0)
    return shares, compared


def _scores(wins: Floats, compared: Floats) -> Floats:
    """Return by draw each model's mean share over those that it is compared with."""
    others = np.maximum((compared > 0).sum(axis=1), 1)
    return np.asarray((wins * (compared > 0)).sum(axis=2) / others, dtype=np.float64)


def _score(drawn: Floats, placed: bool, by: Sequence[str]) -> Estimate:
    if not placed:
        return Estimate(None, None, None, len(by), "refused: compared with no other model")
    value, spread = float(drawn.mean()), float(drawn.std(ddof=1))
    method = f"mean share of the others below it, over {len(by)} ranking{'s' * (len(by) > 1)}"
    if spread < _ROUNDING:
        return Estimate(value, None, None, len(by), f"{method}; no interval: all draws agree")
    low, high = (float(end) for end in np.quantile(drawn, [0.025, 0.975]))
    return Estimate(value, spread, (low, high), len(by), f"{method}, percentiles of draws")


def _between(scores: Floats, placed: Flags) -> list[tuple[int, int]]:
    """Return the best and worst rank of each that the orders which hold leave it."""
    gaps = scores[:, :, None] - scores[:, None, :]
    mean, spread = gaps.mean(axis=0), gaps.std(axis=0, ddof=1)
    certain = np.where(np.abs(mean) < _ROUNDING, 0.0, np.copysign(np.inf, mean))
    z = np.divide(mean, spread, out=certain, where=spread > _ROUNDING)
    sure = normal_below(z)
    held = holds(sure) & np.outer(placed, placed)
    better = (held & (mean < 0)).sum(axis=1)
    worse = (held & (mean > 0)).sum(axis=1)
    there = int(placed.sum())
    return [(1 + int(up), there - int(down)) for up, down in zip(better, worse, strict=True)]


def _kemeny(wins: Floats, compared: Floats) -> tuple[list[int], bool]:
    """Return the order that contradicts the rankings in the fewest pairs, each as sure as it is.

    By the best order of every subset of models; of many models, from Borda's by moving each to
    where it contradicts least, until none moves.
    """
    cost = np.asarray(wins.T * compared, dtype=np.float64)  # row above column contradicts so many
    n = len(cost)
    start = sorted(range(n), key=lambda at: (-float((wins * (compared > 0))[at].sum()), at))
    if n > MOST_EXACT:
        return _moved(start, cost), False
    return _best(start, cost), True


def _best(start: Sequence[int], cost: Floats) -> list[int]:
    n = len(start)
    ordered = cost[np.ix_(start, start)]  # of equally good orders the one nearest to Borda's
    below = np.zeros((n, 1 << n))  # what it costs to have each above all of a subset
    for at in range(n):
        size = 1 << at
        below[:, size : 2 * size] = below[:, :size] + ordered[:, [at]]
    least = np.full(1 << n, np.inf)
    top = np.zeros(1 << n, dtype=np.int64)
    least[0] = 0.0
    sets = np.arange(1 << n)
    for many in range(1, n + 1):
        these = sets[np.bitwise_count(sets) == many]
        for at in range(n - 1, -1, -1):  # the last one that costs least is the first by Borda
            having = these[(these >> at) & 1 == 1]
            rest = having ^ (1 << at)
            told = least[rest] + below[at, rest]
            better = told <= least[having] + _ROUNDING
            least[having[better]], top[having[better]] = told[better], at
    found, left = [], (1 << n) - 1
    while left:
        found.append(int(start[top[left]]))
        left ^= 1 << int(top[left])
    return found


def _moved(start: Sequence[int], cost: Floats) -> list[int]:
    order = list(start)
    moved = True
    while moved:
        moved = False
        for model in list(order):
            others = [it for it in order if it != model]
            # The cost of each place: above all that follow, below all that come before.
            up = np.concatenate([[0.0], np.cumsum(cost[others, model])])
            down = np.concatenate([np.cumsum(cost[model, others][::-1])[::-1], [0.0]])
            costs = up + down
            place, now = int(costs.argmin()), order.index(model)
            if costs[place] < costs[now] - _ROUNDING:
                order = [*others[:place], model, *others[place:]]
                moved = True
    return order
