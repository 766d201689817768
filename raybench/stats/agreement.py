"""How far two rankings of the same models agree, where both are uncertain.

*What is meant.* The correlation between the orders that both ways of measuring would come to with
endless questions, iterations or matches: of these models. Whether other models would agree as well
is another question, with an interval of its own, which is far wider (`populations`), and whether
orders that have nothing to do with each other would agree as far, with a p (`unrelated`).

*Intervals.* Noise in either order makes the two agree less than they do, and where models are close
no replicate shows by how much. So a correlation's interval holds the percentiles (or their
reflection) of draws of both sides' units, and those of true scores that such measurements may come
from (`latent`). To a side whose sign is not excluded by these, it reaches to where the correlation
would be if every pair of models whose order does not hold on both sides (Holm's steps) stood alike
on both, or the other way round. That of τ reaches to no side further than that: with a pair that
holds on both sides the other way round, τ is not 1. Simulated with 4 to 12 models, a third as far
apart as the noise to eight times as far, with and without equals, beside scores without an error
(and without equals) too, and populations correlated from -1 to 1, these intervals held the true τ
in 96 to 100 of 100, draws of units alone in as few as 60 (tests/stats/test_agreement.py). They are
wide where the data say little: of no use where models lie closer than the noise, 1.0 wide on
average where they lie three times as far apart.

*Few models.* n models have n(n−1)/2 pairs, so that τ has but few values: of three −1, −⅓, ⅓ and 1.
Two agree or they do not. That is said, and no interval claims more.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from raybench.statements import Statement
from raybench.stats import latent, populations, unrelated
from raybench.stats.distributions import normal_below
from raybench.stats.joint import DRAWS, Joint
from raybench.stats.ranks import (
    Correlation,
    Flags,
    Floats,
    ends,
    holds,
    kendall,
    order,
    reach,
    spearman,
)
from raybench.types import Estimate, Interval

FEWEST = 2
_FEW = 4
"""So many models have so few orders that it is said which values τ can have."""
_LEAST_DRAWN = 4
"""Of fewer models there are hardly others to draw."""
_ENOUGH = 0.5
"""Least share of the draws that have to have a correlation for an interval."""
_LIMITS = (-1.0, 1.0)
_TAIL = 0.025
METHOD = (
    "draws of both sides' units and of true scores, or what pairs allow that do not hold on both"
)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two orders agree."""

    kendall: Estimate
    """τ-b, with the interval of these models."""
    spearman: Estimate
    """ρ, likewise."""
    others: Estimate
    """τ-b, were the models others of the same kind, too."""
    p: float | None
    """How often orders that have nothing to do with each other agree, or contradict, so far."""
    models: tuple[str, ...]
    """Those that both have."""
    alike: int
    """Pairs of models whose order holds on both sides, and is the same."""
    opposed: tuple[tuple[str, str], ...]
    """Pairs whose order holds on both sides, and is not: the first is above the second on the one
    side, and below it on the other."""
    pairs: int
    """Of all, those that are equal on a side included."""


def between(one: Joint, other: Joint, *, seed: int = 0, count: int = DRAWS) -> Agreement:
    """Return how far two orders agree that share no questions, iterations or matches."""
    models = tuple(model for model in one.models if model in other.models)
    sides = [one.among(models), other.among(models)]
    pairs = len(models) * (len(models) - 1) // 2
    if refusal := _refusal(sides, len(models)):
        refused = Estimate(None, None, None, len(models), refusal)
        return Agreement(refused, refused, refused, None, models, 0, (), pairs)
    ours, theirs = (order(side.values) for side in sides)
    both = holds(sure(sides[0])) & holds(sure(sides[1]))
    drawn = [side.drawn(count, seed=(seed, place)) for place, side in enumerate(sides)]
    true = [order(scores) for scores in latent.drawn(sides[0], sides[1], count, seed=seed)]
    fresh = np.random.default_rng((seed, len(sides))).integers(0, len(models), drawn[0].shape)
    noisy = [order(scores) for scores in drawn]
    anew = [order(np.take_along_axis(scores, fresh, 1)) for scores in drawn]

    def found(name: str, by: Correlation, *, bounded: bool, told: str = "") -> Estimate:
        value, far = float(by(ours, theirs)), ends(by, ours, theirs, both)
        within = far if bounded else _LIMITS
        spread, *limits = _limits(value, by(*noisy), by(*true), far, within)
        method = f"{name}; {told}{METHOD}"
        return Estimate(value, spread, (limits[0], limits[1]), len(models), method)

    # Pairs that hold bound τ, which counts pairs; ρ depends on how far the others lie apart, too.
    tau = found("Kendall's τ-b", kendall, bounded=True, told=_told(len(models)))
    return Agreement(
        tau,
        found("Spearman's ρ", spearman, bounded=False),
        _others(tau, kendall(*true), kendall(*anew)),
        unrelated.p(ours, theirs),
        models,
        int((both & (ours * theirs > 0)).sum()) // 2,
        tuple(_opposed(models, both, ours, theirs)),
        pairs,
    )


def beside(one: Joint, scores: Mapping[str, float], *, seed: int = 0) -> Agreement:
    """Return how far an order agrees with scores that are taken as they are."""
    models = tuple(scores)
    values = np.array([scores[model] for model in models], dtype=np.float64)
    table = Joint("", models, values, np.zeros((len(models), len(models))))
    return between(one, table, seed=seed)


def sure(joint: Joint) -> Floats:
    """Return one minus the one-sided p of each model above each other, rows above columns.

    A difference without an error is sure; equal scores without one are not told apart.
    """
    variances = np.diag(joint.covariance)
    spread = np.sqrt(np.maximum(variances[:, None] + variances - 2 * joint.covariance, 0.0))
    gaps = joint.values[:, None] - joint.values
    known = spread > np.sqrt(np.finfo(np.float64).eps * (variances[:, None] + variances))
    sure_of = np.where(gaps == 0, 0.0, np.copysign(np.inf, gaps))
    z = np.divide(gaps, spread, out=sure_of, where=known)
    return normal_below(z)


def possible(models: int) -> list[float]:
    """Return the values that τ can have of so many models, none of them equal."""
    pairs = models * (models - 1) // 2
    return [1 - 2 * discordant / pairs for discordant in range(pairs, -1, -1)]


def _told(models: int) -> str:
    if models > _FEW:
        return ""
    values = [f"{value:z.2f}" for value in possible(models)]
    return f"{models} models: without equals τ can only be {', '.join(values)}; "


def _refusal(sides: Sequence[Joint], models: int) -> str:
    if models < FEWEST:
        return Statement(
            "refused.not_in_both",
            "not computed: {count} model has a place in both",
            count="one" if models == 1 else "no",
        )
    if any(np.ptp(side.values) == 0 for side in sides):
        return Statement(
            "refused.models_equal", "not computed: all models are equal in one of the two"
        )
    return ""


def _limits(
    value: float, noisy: Floats, true: Floats, far: Interval, within: Interval
) -> tuple[float, float, float]:
    """Return a correlation's spread, and the ends of its interval."""
    known = noisy[~np.isnan(noisy)]
    low, high = reach(value, known, _LIMITS) if len(known) else _LIMITS
    least, most = (float(end) for end in np.nanquantile(true, [_TAIL, 1 - _TAIL]))
    low, high = min(low, least), max(high, most)
    low, high = min(low, far[0]) if low < 0 else low, max(high, far[1]) if high > 0 else high
    spread = float(known.std(ddof=1)) if len(known) > 1 else 0.0
    return spread, max(low, within[0]), min(high, within[1])


def _others(tau: Estimate, true: Floats, anew: Floats) -> Estimate:
    """Return τ with the interval that is of other models, too."""
    name = tau.method.partition(";")[0]
    known = anew[~np.isnan(anew)]
    assert tau.value is not None and tau.ci95 is not None
    if tau.n < _LEAST_DRAWN or len(known) < _ENOUGH * len(anew):
        why = f"{name}; no interval over models from fewer than {_LEAST_DRAWN}, or so many equal"
        return Estimate(tau.value, None, None, tau.n, why)
    # Models drawn anew tell too little where they are few, normal ones where they are not normal.
    found = tau.ci95, reach(tau.value, known, _LIMITS), populations.interval(true, tau.n)
    ends_ = min(low for low, _ in found), max(high for _, high in found)
    method = f"{name}; {METHOD}; and over models, drawn anew and of a normal population"
    return Estimate(tau.value, None, ends_, tau.n, method)


def _opposed(
    models: Sequence[str], both: Flags, ours: Floats, theirs: Floats
) -> Iterator[tuple[str, str]]:
    for i, j in combinations(range(len(models)), 2):
        if both[i, j] and ours[i, j] * theirs[i, j] < 0:
            yield (models[i], models[j]) if ours[i, j] > 0 else (models[j], models[i])
