"""How far above the rest a model is at least that nobody beat, or below it at most.

Its likelihood rises for ever, so that there is no estimate. But what it won says that it is not
weak: strengths at which that would have been rare are ruled out, which leaves an interval with one
end. It is the profile likelihood's: all strengths at which the likelihood, with the others' best,
is within χ²/2 of what it can reach.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from scipy import optimize, sparse, stats

from raybench.stats.ratings.components import Components
from raybench.stats.ratings.design import design
from raybench.stats.ratings.fitting import effects_of
from raybench.stats.ratings.matches import Bundles, Match, Side, kept, models_of
from raybench.stats.ratings.newton import loglikelihood, maximise
from raybench.stats.ratings.outcome import Bound
from raybench.stats.ratings.scale import MEAN, SPREAD
from raybench.stats.ratings.tally import Tally, tally

_DROP = float(stats.chi2.ppf(0.95, 1)) / 2
_REACH = 40.0
"""Strengths, in natural logarithms, beyond which no end is looked for."""


def bound(name: str, games: Mapping[str, Bundles], parts: Components) -> Bound | None:
    """Return where a model that is a component of its own is, beside the largest that it met.

    None where it met none, or too seldom to say anything. Matches of one cluster count together as
    one, as a likelihood takes all that it multiplies for independent; for the same reason, games do
    not weigh alike here.
    """
    met = {
        model
        for bundles in games.values()
        for bundle in bundles
        for match, _ in bundle
        if name in (playing := models_of(match))
        for model in playing
    } - {name}
    numbered = [(number, part) for number, part in enumerate(parts, 1) if met & set(part)]
    numbered.sort(key=lambda it: -len(it[1]))
    found = (_beside(name, part, number, games) for number, part in numbered)
    return next((it for it in found if it is not None), None)


def _beside(
    name: str, part: tuple[str, ...], number: int, games: Mapping[str, Bundles]
) -> Bound | None:
    them = {*part, name}  # In matches of single players: of a team's win nobody has it all.
    met = {game: kept(it, lambda match: _among(match, them)) for game, it in games.items()}
    above = {
        one.place < other.place
        for it in met.values()
        for bundle in it
        for match, _ in bundle
        for one in match
        for other in match
        if one.players[0].model == name != other.players[0].model
    }
    if len(above) != 1:
        return None
    (up,) = above
    share = {game: _independent(it) for game, it in met.items()}
    found = _end(tally(met, (*part, name), effects_of(met), share), 1 if up else -1)
    if found is None:
        return None
    points = MEAN + SPREAD * found
    where = part[0] if len(part) == 1 else f"the mean of component {number}"
    told = f"{'at least' if up else 'at most'} {points:.0f} where {where} is {MEAN:g} (95 %, "
    interval = (points, float("inf")) if up else (-float("inf"), points)
    return Bound(interval, part, f"{told}profile likelihood)")


def _independent(bundles: Bundles) -> float:
    """Return what a match weighs where those of a bundle weigh 1 on the average."""
    matches = sum(many * times for bundle, many in bundles.items() for _, times in bundle)
    return sum(many for bundle, many in bundles.items() if bundle) / max(matches, 1)


def _among(match: Match, them: set[str]) -> Iterator[Match]:
    sides: tuple[Side, ...] = tuple(it for it in match if it.players[0].model in them)
    if len(sides) > 1 and all(len(it.players) == 1 for it in match):
        yield sides


def _end(made: Tally, sign: int) -> float | None:
    """Return how far from the others' mean the last model is at least, in natural logarithms."""
    own = len(made.models) - 1
    size = made.design.size
    # Its strength is the others' mean and an offset.
    moved = np.eye(size)
    moved[own, :own] = 1 / own
    moved = moved[:, np.arange(size) != own]
    plain = design(sparse.csr_array(made.design.rows @ moved), made.design.listed)
    chosen, drawn = made.sums(made.times[None].astype(np.float64))
    ground = np.zeros((size - 1, size - 1))
    ground[:own, :own] = 1
    share = made.design.rows[:, [own]].toarray()[:, 0]
    at = np.zeros(size - 1)

    def height(strength: float) -> float:
        nonlocal at
        offset = share * strength
        found = maximise(plain, chosen @ moved, drawn, ground, start=at, offset=offset)
        at = found.at[0] if found.found[0] else np.zeros(size - 1)
        high = loglikelihood(plain, chosen @ moved, drawn, found.at, offset)
        return float(high[0] + chosen[0, own] * strength)

    top = height(sign * _REACH)

    def above(strength: float) -> float:
        return height(strength) - (top - _DROP)

    if above(-sign * _REACH) > 0:
        return None
    return float(optimize.brentq(above, -_REACH, _REACH, xtol=1e-7))
