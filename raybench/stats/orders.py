"""How far the order of models agrees from one way of asking to another, and how far chance lets it.

Kendall's τ between two wordings falls short of 1 because of the wording, and because so many
matches say so much and no more. Beside it therefore stands the τ of a wording with itself, on other
matches: fixtures are halved, and the halves' orders are compared, over many ways to halve them. The
τ of other wordings on other matches differs from that in nothing but the wording.

Halves know less than all matches do, so that both lie below the τ by all of them.

Orders change by leaps, for which a jackknife is no sharp tool: simulated, intervals held the mean τ
of such tournaments in 92 to 100 of 100, and those between halves are up to twice too wide.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raybench.stats.intervals import cut, student
from raybench.stats.steadiness import Floats, Parts, jackknife
from raybench.types import Estimate

LEAST_MODELS = 3
"""Two models have one order or the other."""
_HALVINGS = 100
_HALVES = 400
_ROUNDING = 1e-9
Groups = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Orders:
    """Kendall's τ, each the mean over pairs of wordings, or over wordings."""

    between: Estimate
    """Of two wordings, by the same matches, all of them."""
    same: Estimate
    """Of a wording with itself, by the one half of the matches and by the other."""
    other: Estimate
    """Of two wordings, by the one half of the matches and by the other."""
    lost: Estimate
    """What another wording takes of the agreement: 0 on average where it does not matter."""


def orders(of: Parts, seed: int = 0) -> Orders:
    """Return how far orders agree, from the parts of ratings by group of fixtures."""
    return _found([of], seed)


def changed(before: Parts, after: Parts, seed: int = 0) -> Orders:
    """Return by how much that rises from before to after, on the same groups."""
    return _found([before, after], seed)


def _found(stages: Sequence[Parts], seed: int) -> Orders:
    """Return what there is of one stage, or of the last one less the first."""
    groups, wordings, models = stages[0].shape
    if models < LEAST_MODELS:
        why = f"not computed: fewer than {LEAST_MODELS} models have no orders to correlate"
        return Orders(*[Estimate(None, None, None, groups, why)] * 4)
    many = wordings * (wordings - 1) // 2
    pairs = f"over {many} pair{'s' * (many > 1)} of phrasings"
    by = "after less before, " if len(stages) > 1 else ""
    limit = float(len(stages))

    def left_out(find: _Find, method: str, limit: float = limit) -> Estimate:
        """Return what is found, with the interval of leaving groups out."""

        def found(kept: Groups) -> float:
            first, *then = (find(of, kept, seed) for of in stages)
            return then[0] - first if then else first

        return cut(jackknife(found, groups, method=by + method), (-limit, limit))

    return Orders(
        cut(_halfway(stages, f"{by}mean Kendall's τ {pairs}, same matches", seed), (-limit, limit)),
        left_out(_same, f"mean Kendall's τ over {wordings} phrasings, between halves of matches"),
        left_out(_other, f"mean Kendall's τ {pairs}, between halves of matches"),
        left_out(
            _lost,
            "τ between halves of matches, of the same phrasing less that of others",
            2 * limit,
        ),
    )


_Find = Callable[[Parts, Groups, int], float]


def _halfway(stages: Sequence[Parts], method: str, seed: int) -> Estimate:
    """Return the τ between wordings, with the interval of leaving half of the groups out.

    Orders change by leaps: leaving one group out in turn would tell little of them.
    """
    groups = len(stages[0])
    half = _ranks(groups, _HALVES, seed)[:, : groups // 2]
    first, *then = (_between(of[half].mean(axis=1)) for of in stages)
    drawn = then[0] - first if then else first
    first, *then = (_between(of.mean(axis=0)) for of in stages)
    value = float(then[0] - first if then else first)
    named = f"{method}, delete-half jackknife over fixtures ({groups} groups)"
    stderr = float(np.std(drawn, ddof=1))
    if stderr < _ROUNDING:
        return Estimate(value, None, None, groups, f"{named}; no interval: all halves alike")
    reach = student(groups - 1) * stderr
    ends = (value - reach, value + reach)
    return Estimate(value, stderr, ends, groups, f"{named}, Student's t")


def _between(ratings: Floats) -> Floats:
    """Return the mean τ of two wordings; wordings and models are the last axes."""
    above = _above(ratings)
    return _off(np.asarray(np.einsum("...vp,...wp->...vw", above, above)) / above.shape[-1])


def _same(of: Parts, kept: Groups, seed: int) -> float:
    return float(np.trace(_halved(of, kept, seed)) / of.shape[1])


def _other(of: Parts, kept: Groups, seed: int) -> float:
    return float(_off(_halved(of, kept, seed)))


def _lost(of: Parts, kept: Groups, seed: int) -> float:
    return _same(of, kept, seed) - _other(of, kept, seed)


def _halved(of: Parts, kept: Groups, seed: int) -> Floats:
    """Return the mean τ of each wording by one half with each by the other half."""
    # Drawn among all groups, so that halves without one of them are nearly the halves with it.
    ranks = _ranks(len(of), _HALVINGS, seed, kept)
    half = len(kept) // 2
    one, other = (
        _above(of[kept][some].mean(axis=1)) for some in (ranks[:, :half], ranks[:, half:])
    )
    return np.asarray(np.einsum("hvp,hwp->vw", one, other) / one.shape[-1] / _HALVINGS)


def _above(ratings: Floats) -> Floats:
    """Return which of each two models stands above the other: 1, -1, or 0 where neither does."""
    first, second = np.triu_indices(ratings.shape[-1], k=1)
    return np.asarray(np.sign(ratings[..., first] - ratings[..., second]))


def _off(alike: Floats) -> Floats:
    """Return the mean beside the diagonal of the last two axes."""
    size = alike.shape[-1]
    beside = alike.sum(axis=(-2, -1)) - np.trace(alike, axis1=-2, axis2=-1)
    return np.asarray(beside / (size * (size - 1)))


def _ranks(groups: int, draws: int, seed: int, kept: Groups | None = None) -> Groups:
    """Return so many random orders of groups, or of the places of those that are kept."""
    drawn = np.random.default_rng(seed).random((draws, groups))
    return np.asarray((drawn if kept is None else drawn[:, kept]).argsort(axis=1))
