"""Where the models stand in one game or over all, as programs read it."""

import math
from collections.abc import Iterator
from typing import Any

from raybench.stats.ratings.outcome import Bound, Ratings
from raybench.stats.ratings.ranking import orders, ranks
from raybench.stats.ratings.scale import SPREAD
from raybench.types import Estimate


class Standing:
    """Ratings `of` something, with what follows from them."""

    def __init__(self, of: str, ratings: Ratings) -> None:
        self._of, self._ratings = of, ratings
        self.orders = orders(ratings)
        self.ranks = ranks(ratings, self.orders)

    def rank(self, model: str) -> Estimate:
        """Return the model's place among those that it can be compared with."""
        ratings = self._ratings
        if (place := self.ranks.get(model)) is None:
            why = "refused: no match that it had with another model counts here"
            method = ratings.table[model].method if model in ratings.table else why
            return Estimate(None, None, None, ratings.n.get(model, 0), method)
        method = f"rank among the {len(self._part(model))} that can be compared, 1 is the best"
        ends = place.replicates
        if ends is not None:
            method += "; bootstrap percentiles, of this rank alone"
        both = ends and (float(ends[0]), float(ends[1]))
        return Estimate(place.value, None, both, ratings.n[model], method)

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield each model's rating, rank, bound and covariances, best first.

        The covariance is the sandwich's, in squared points, with every model that it can be
        compared with: a difference has both variances less twice the covariance.
        """
        ratings = self._ratings
        covariance = SPREAD**2 * ratings.covariance
        number = {name: n for n, name in enumerate(ratings.models)}
        for model, rating in ratings.table.items():
            part, place = self._part(model), self.ranks.get(model)
            known = part if rating.stderr is not None else ()
            yield {
                "of": self._of,
                "model": model,
                "rating": rating.to_json(),
                "rank": place and place.value,
                "rank_ci95": place and place.replicates,
                "rank_simultaneous": place and place.simultaneous,
                "compared_with": [it for it in part if it != model],
                "bound": _bound(ratings.bounds.get(model)),
                "covariance": {it: float(covariance[number[model], number[it]]) for it in known},
            }

    def pairs(self) -> Iterator[dict[str, Any]]:
        """Yield how sure each model is above each other that it can be compared with."""
        for order in self.orders:
            yield {
                "of": self._of,
                "model": order.better,
                "above": order.worse,
                "points": order.difference.to_json(),
                "wins": self._ratings.chance(order.better, order.worse).to_json(),
                "p": order.p,
                "holm": order.holm,
                "share_of_replicates": order.share,
            }

    def _part(self, model: str) -> tuple[str, ...]:
        return next(part for part in self._ratings.components if model in part)


def _bound(bound: Bound | None) -> dict[str, Any] | None:
    """Return where a model without a number is, beside those whose mean is 1000."""
    if bound is None:
        return None
    least, most = (it if math.isfinite(it) else None for it in bound.interval)
    return {
        "at_least": least,
        "at_most": most,
        "beside": list(bound.beside),
        "method": bound.told,
    }
