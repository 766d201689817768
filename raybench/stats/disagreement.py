"""Whose place differs from one ranking to another by more than noise explains.

A model's place in a ranking is the share of the others that it stands above, of those that both
rankings have. Its difference between two rankings is tested against the draws of both, and p-values
are raised by Holm's steps over all models and all pairs of rankings: of many differences some are
large by luck. Simulated with 3 to 12 models in two to four rankings that all measure the same, some
model was said to differ in 0 to 5 of 100 (tests/stats/test_disagreement.py).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from raybench.stats.distributions import normal_below
from raybench.stats.joint import DRAWS, Joint
from raybench.stats.paired import holm
from raybench.stats.ranks import LEVEL, Floats, ranks
from raybench.types import Estimate, Interval

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Shift:
    """How much better a model stands in one ranking than in another."""

    model: str
    higher: str
    """The ranking in which it stands better, or as well."""
    lower: str
    ranks: tuple[float, float]
    """Its ranks in the two, among the models that both have; equals share a mean rank."""
    among: int
    places: Estimate
    """By how many places it stands better: ranks of the lower less of the higher."""
    p: float
    """How often noise alone would set them this far apart, raised by Holm's steps over all."""

    @property
    def holds(self) -> bool:
        """Tell whether it is more than noise explains."""
        return self.p < LEVEL


def shifts(
    rankings: Mapping[str, Joint], *, seed: int = 0, count: int = DRAWS
) -> tuple[Shift, ...]:
    """Return the greatest shift of each model that two rankings have, the surest first."""
    drawn = {
        name: of.drawn(count, seed=(seed, place))
        for place, (name, of) in enumerate(rankings.items())
    }
    found = list(_shifts(rankings, drawn))
    raised = holm({place: p for place, (_, p) in enumerate(found)})
    by_model: dict[str, Shift] = {}
    for place, (shift, _) in enumerate(found):
        told = replace(shift, p=raised[place])
        best = by_model.get(told.model)
        if best is None or _order(told) < _order(best):
            by_model[told.model] = told
    return tuple(sorted(by_model.values(), key=_order))


def _order(shift: Shift) -> tuple[float, float, str]:
    return (shift.p, -(shift.places.value or 0.0), shift.model)


def _shifts(
    rankings: Mapping[str, Joint], drawn: Mapping[str, Floats]
) -> Iterator[tuple[Shift, float]]:
    for names in combinations(rankings, 2):
        one, other = (rankings[name] for name in names)
        models = [model for model in one.models if model in other.models]
        if len(models) < 2:
            continue
        sides = [ranks(rankings[it].among(models).values[None])[0] for it in names]
        draws = [
            ranks(drawn[it][:, [rankings[it].models.index(model) for model in models]])
            for it in names
        ]
        usual = float(np.sqrt((draws[1] - draws[0]).var(axis=0, ddof=1).mean()))
        for at, model in enumerate(models):
            gap, gaps = float(sides[1][at] - sides[0][at]), draws[1][:, at] - draws[0][:, at]
            ahead = 0 if gap >= 0 else 1
            yield (
                Shift(
                    model,
                    names[ahead],
                    names[1 - ahead],
                    (float(sides[ahead][at]), float(sides[1 - ahead][at])),
                    len(models),
                    _places(abs(gap), gaps if gap >= 0 else -gaps, len(models)),
                    1.0,
                ),
                _p(gap, gaps, usual),
            )


def _places(value: float, drawn: Floats, models: int) -> Estimate:
    spread = float(drawn.std(ddof=1))
    method = f"difference of ranks among {models}, draws of both rankings"
    if spread < _ROUNDING:
        return Estimate(value, None, None, models, f"{method}; no interval: all draws agree")
    low, high = (float(end) for end in np.quantile(drawn, [0.025, 0.975]))
    ends: Interval = (min(low, value), max(high, value))
    return Estimate(value, spread, ends, models, method)


def _p(gap: float, drawn: Floats, usual: float) -> float:
    """Return how often noise alone would set two ranks this far apart.

    By the normal distribution, as so rare an event as Holm asks for shows in no number of draws;
    by the draws' own share where that is more. Ranks at the ends vary little from draw to draw,
    also where it was luck that took a model there: so the spread is at least what is `usual`.
    """
    if gap == 0:
        return 1.0
    spread = max(float(drawn.std(ddof=1)), usual)
    if spread < _ROUNDING:
        return 0.0
    wrong = drawn <= 0 if gap > 0 else drawn >= 0
    told = 2 * normal_below(-abs(float(drawn.mean())) / spread)
    return min(1.0, max(told, 2 * float(wrong.mean())))
