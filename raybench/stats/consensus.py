"""One order out of several rankings of the same models, each uncertain, some without some models.

*Score.* The share of the other models that a model stands above, averaged over the rankings that
have both: Borda's count. Every ranking weighs the same, whatever its scale and however many
questions it has; half of a model is counted where two are equal. Means of standardised scores were
the alternative: there a ranking whose scores lie far apart at one end decides more than others do,
and how far apart they lie is a matter of the scale (points, shares, ratings). Kemeny's order, which
contradicts the rankings in the fewest pairs, says nothing of how close models are, and of four
rankings it is often one of many: it is given beside (`kemeny`), as a check.

*Uncertainty.* Noise sets a score nearer to the middle than it is, the more so where all rankings
measure the same, and draws of the rankings would add that noise once more. So a score's interval is
what the orders leave in which the model is surely above or below others, by Holm's steps over its
pairs in all rankings: whatever the truth, it holds the share that the model truly stands above in
95 of 100 or more. Who is surely above whom as a whole goes by draws of all rankings, and by Holm's
steps over all pairs; a rank's interval is what these orders leave, for all models at once.
Simulated with 3 to 12 models, close, far apart and equal, under one to five rankings that agree and
that do not, all true ranks lay in their intervals in 95 to 100 of 100
(tests/stats/test_consensus.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from raybench.stats.agreement import sure
from raybench.stats.distributions import normal_below
from raybench.stats.joint import DRAWS, Joint
from raybench.stats.paired import holm
from raybench.stats.ranks import LEVEL, Flags, Floats, holds, order
from raybench.types import Estimate, Interval

METRIC = "suite/consensus_score"
MOST_EXACT = 14
"""Of more models Kemeny's order is looked for, and not found for sure: subsets double with each."""
_ROUNDING = 1e-9
_SETTLED = 9
"""Digits by which scores differ that are not equal but for rounding."""


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
    """Means of draws and how their errors go together: by how surely each stands above each."""


def consensus(rankings: Mapping[str, Joint], *, seed: int = 0, count: int = DRAWS) -> Consensus:
    """Return the order that the rankings have in common, by their names."""
    models = tuple(sorted({model for of in rankings.values() for model in of.models}))
    if not models:
        nothing = Joint(METRIC, (), np.zeros(0), np.zeros((0, 0)))
        return Consensus((), (), True, 0, nothing)
    joints = list(rankings.values())
    whole, compared = _wins(models, joints, [of.values[None] for of in joints])
    values = np.round(_scores(whole, compared)[0], _SETTLED)
    drawn = [of.drawn(count, seed=(seed, place)) for place, of in enumerate(joints)]
    noisy = _scores(_wins(models, joints, drawn)[0], compared)
    placed: Flags = np.asarray(compared.sum(axis=1) > 0)
    between, reaches = _between(noisy, placed), _reaches(models, joints, compared)
    best_first = sorted(np.flatnonzero(placed), key=lambda at: (-values[at], models[at]))
    kemeny, exact = _kemeny(whole[0], compared)
    above = {model: place for place, model in enumerate(kemeny)}
    places = []
    for at in best_first:
        by = tuple(name for name, of in rankings.items() if models[at] in of.models)
        rank = 1 + int((values[placed] > values[at]).sum())
        low, high = between[at]
        ends = (min(low, rank), max(high, rank))
        score = Estimate(float(values[at]), None, reaches[at], len(by), _told(len(by)))
        places.append(Place(models[at], score, rank, ends, by))
    first, second = np.triu_indices(len(models), k=1)
    unsettled = sum(
        bool((values[i] - values[j]) * (above[j] - above[i]) < 0)
        for i, j in zip(first, second, strict=True)
        if placed[i] and placed[j]
    )
    return Consensus(
        tuple(places),
        tuple(models[at] for at in kemeny if placed[at]),
        exact,
        unsettled,
        Joint(
            METRIC,
            tuple(models[at] for at in best_first),
            noisy[:, best_first].mean(axis=0),
            np.atleast_2d(np.cov(noisy[:, best_first], rowvar=False)),
        ),
    )


def _wins(
    models: Sequence[str], rankings: Sequence[Joint], drawn: Sequence[Floats]
) -> tuple[Floats, Floats]:
    """Return by draw how much of the rankings have each above each, and how many have both."""
    count = len(drawn[0])
    kind = np.dtype("f4" if count > 1 else "f8")  # draws are many, scores are published
    total: Floats = np.zeros((count, len(models), len(models)), dtype=kind)
    compared = np.zeros((len(models), len(models)))
    for of, scores in zip(rankings, drawn, strict=True):
        places = [models.index(model) for model in of.models]
        square = np.ix_(places, places)
        signs = np.sign(scores[:, :, None] - scores[:, None, :]).astype(kind)
        total[:, square[0], square[1]] += (1 + signs) / 2
        compared[square] += 1
    np.fill_diagonal(compared, 0)
    shares = np.divide(total, compared, out=np.zeros_like(total), where=compared > 0)
    return shares, compared


def _scores(wins: Floats, compared: Floats) -> Floats:
    """Return by draw each model's mean share over those that it is compared with."""
    others = np.maximum((compared > 0).sum(axis=1), 1)
    return np.asarray((wins * (compared > 0)).sum(axis=2) / others, dtype=np.float64)


def _told(rankings: int) -> str:
    many = f"{rankings} ranking{'s' * (rankings > 1)}"
    return f"mean share of the others below it, over {many}; what its pairs leave that hold"


def _reaches(models: Sequence[str], rankings: Sequence[Joint], compared: Floats) -> list[Interval]:
    """Return between what each score lies, if of its own pairs only those hold by Holm's steps."""
    ps = np.full((len(rankings), *compared.shape), np.nan)
    above = np.zeros(ps.shape)
    for way, of in enumerate(rankings):
        places = [models.index(model) for model in of.models]
        square = np.ix_(places, places)
        ps[way][square] = 2 * np.minimum(chance := sure(of), chance.T)
        above[way][square] = order(of.values)
    ps[:, np.eye(len(models), dtype=bool)] = np.nan
    found = []
    for at, others in enumerate(compared):
        own, stands = ps[:, at], above[:, at]
        raised = holm({(way, other): own[way, other] for way, other in np.argwhere(own >= 0)})
        held = np.zeros(own.shape, dtype=bool)
        for pair, p in raised.items():
            held[pair] = p < LEVEL
        shares = np.divide(1, others, out=np.zeros_like(others), where=others > 0)
        weigh = shares / max(1, int((others > 0).sum()))
        better, worse = ((held & (way * stands > 0)).sum(axis=0) @ weigh for way in (1, -1))
        found.append((round(float(better), _SETTLED), round(float(1 - worse), _SETTLED)))
    return found


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
