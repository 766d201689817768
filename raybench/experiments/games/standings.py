"""Where the models stand in one game or over all, as programs read it."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from raybench.statements import Statement
from raybench.stats.ratings.outcome import Bound, Ratings
from raybench.stats.ratings.ranking import orders, ranks
from raybench.stats.ratings.scale import SPREAD
from raybench.types import Estimate

NOT_RATED = Estimate(
    None, None, None, 0, "not computed: no match that it had with another model counts here"
)


class Standing:
    """Ratings `of` something, with what follows from them."""

    def __init__(self, of: str, ratings: Ratings) -> None:
        self._of, self._ratings = of, ratings
        self.orders = orders(ratings)
        self.ranks = ranks(ratings, self.orders)

    def rank(self, model: str) -> Estimate:
        """Return the model's place among all; between which two it is where that is not known."""
        ratings = self._ratings
        if (place := self.ranks.get(model)) is None:
            method = ratings.table.get(model, NOT_RATED).method
            return Estimate(None, None, None, ratings.n.get(model, 0), method)
        if place.value is None:
            best, worst = place.ends
            why = Statement(
                "refused.rank_between",
                "not computed: somewhere from {best} to {worst}, as not all groups are compared",
                best=best,
                worst=worst,
            )
            return Estimate(None, None, (best, worst), ratings.n[model], why)
        method = f"rank among the {len(self.ranks)} that can be compared, 1 is the best"
        if len(ratings.components) > 1:
            method += "; of two groups, the one from which wins lead down to the other is before it"
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
            group, place = ratings.group(model), self.ranks.get(model)
            part = ratings.components[group]
            known = part if rating.stderr is not None else ()
            yield {
                "of": self._of,
                "model": model,
                "rating": rating.to_json(),
                "group": 1 + group,
                "rank": place and place.value,
                "rank_between": place and place.ends,
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
                "degrees": order.degrees,
                "holm": order.holm,
                "share_of_replicates": order.share,
            }


def shown(ratings: Ratings | None, model: str) -> Estimate:
    """Return a model's rating, or, where it has none, what bounds it: an interval with one end."""
    if ratings is None or model not in ratings.table:
        return NOT_RATED
    rating = ratings.table[model]
    bound = ratings.bounds.get(model)
    return rating if bound is None else replace(rating, ci95=bound.interval)


def group(ratings: Ratings | None, model: str) -> Estimate | None:
    """Return the number of a model's group; None where there is but one, or it is in none."""
    if ratings is None or len(ratings.components) < 2 or model not in ratings.table:
        return None
    return Estimate(
        1.0 + ratings.group(model), None, None, ratings.n[model],
        "models of one group are compared with each other, each group by a scale of its own",
    )  # fmt: skip


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
