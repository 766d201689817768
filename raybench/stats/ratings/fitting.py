"""The fit itself: strengths that games share, and what each game's roles are worth."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from raybench.errors import Problem, RaybenchError
from raybench.stats.ratings.components import Components, components, parted, untold, within
from raybench.stats.ratings.design import Floats
from raybench.stats.ratings.matches import Bundles, kept, teams_in
from raybench.stats.ratings.newton import chances, curvature, maximise
from raybench.stats.ratings.prior import Prior
from raybench.stats.ratings.tally import Effect, Tally, tally

_FLAT = 1e-9
"""Of the largest curvature, what is less is rounding."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """Where the likelihood is highest."""

    games: Mapping[str, Bundles]
    """What was fitted: matches within components."""
    parts: Components
    whole: Tally | None
    """Of all matches, where teams play and fall into components: their order follows from it."""
    tally: Tally
    at: Floats
    """Strengths, then effects."""
    curved: Floats
    """The information about them, pinned by the ground."""
    ground: Floats
    """What the matches leave open and is kept at 0, as the mean of each component."""
    prior: Prior | None
    left_out: tuple[Effect, ...]
    """Effects that the matches do not tell."""
    degrees: Floats
    """Of each game: its bundles beyond the number of free parameters that it has to tell; of one
    among several, beyond its part of the strengths."""


def fit(
    games: Mapping[str, Bundles],
    models: tuple[str, ...],
    share: Mapping[str, float],
    prior: float | None,
) -> Fitted:
    """Return the maximum of what has one: within components, without effects that are not told."""
    parts: Components = (models,)
    whole: Tally | None = None
    teams = teams_in(games)
    if prior is None and not teams:
        parts = components(games, models)
    if len(parts) > 1:
        games = {name: kept(it, lambda match: within(match, parts)) for name, it in games.items()}
    effects = effects_of(games)
    left_out: tuple[Effect, ...] = ()
    ground = _pinned(models, parts, len(effects))
    while True:
        made = tally(games, models, effects, share)
        chosen, drawn = made.sums(made.times[None].astype(np.float64))
        design, imagined = made.design, None
        if prior is not None:
            imagined = Prior.of(design, prior)
            design, (chosen, drawn) = imagined.design, imagined.sums(chosen, drawn)
            ground = np.zeros_like(ground)
        maxima = maximise(design, chosen, drawn, ground, start=np.zeros(design.size))
        lost = set[str]()
        if maxima.found[0]:
            curved = curvature(design, drawn, chances(design, maxima.at))[0] + ground
            lost = {effects[it][0] for it in _flat(curved) - len(models) if it >= 0}
        if maxima.found[0] and not lost:
            at = maxima.at[0]
            degrees = _degrees(made, tuple(games), at, curved, design.size - len(parts))
            return Fitted(
                games, parts, whole, made, at, curved, ground, imagined, left_out, degrees
            )
        lost = lost or {game for game, _ in untold(made)}
        if lost:
            left_out += tuple(it for it in effects if it[0] in lost)
            effects = [it for it in effects if it[0] not in lost]
            ground = _pinned(models, parts, len(effects))
        elif teams and parts == (models,):
            taken = parted(made)
            parts, ground, whole = taken.parts, taken.ground, made
            games = {
                name: kept(it, partial(taken.within, made, name)) for name, it in games.items()
            }
        else:
            raise RaybenchError(
                Problem(
                    "ratings.unsettled",
                    "The ratings did not settle, which matches cannot cause that lie within some "
                    "thousand points",
                    fix="Give a prior, or rate fewer models at once.",
                )
            )


def _flat(curved: Floats) -> NDArray[np.int64]:
    """Return the parameters along which the likelihood does not change: any number would do."""
    values, vectors = np.linalg.eigh(curved)
    level = vectors[:, values < _FLAT * values[-1]]
    return np.flatnonzero((np.abs(level) > _FLAT).any(axis=1))


def _pinned(models: tuple[str, ...], parts: Components, effects: int) -> Floats:
    """Return what wins within components leave open: the mean of each."""
    size = len(models) + effects
    ground = np.zeros((size, size))
    for part in parts:
        columns = [models.index(name) for name in part]
        ground[np.ix_(columns, columns)] = 1
    return ground


def _degrees(made: Tally, names: tuple[str, ...], at: Floats, curved: Floats, free: int) -> Floats:
    """Return the degrees of freedom of each game: of one alone, bundles less free parameters.

    Several share what it takes to tell strengths by the information that each has. Their roles take
    nothing from that, as seats are balanced: counted too, they would make the intervals of games
    with tables of six twice as wide as they have to be.
    """
    odds = chances(made.design, at[None])
    telling = np.diff(made.drawn_from.indptr) > 0
    games = range(len(names))
    found = np.array([made.times[telling & (made.game == game)].sum() for game in games], float)
    told = np.zeros(len(found))
    for game in games:
        drawn = made.sums(np.where(made.game == game, made.times, 0.0)[None])[1]
        told[game] = np.trace(np.linalg.solve(curved, curvature(made.design, drawn, odds)[0]))
    if not found.any():
        return found
    if len(names) > 1:  # each of a game's own effects is told by that game, and is 1 of the sum
        own = np.array([sum(game == name for game, _ in made.effects) for name in names])
        told, free = np.maximum(told - own, 0.0), free - len(made.effects)
    part = told / told.sum() if told.any() else told  # models that met but themselves take none
    # A game of which nothing is left adds no variance, and takes no freedom from the others.
    return np.where(found > 0, found - free * part, np.inf)


def effects_of(games: Mapping[str, Bundles]) -> list[Effect]:
    """Return an effect for every role but the last of a game, by which the others are measured."""
    return [(game, role) for game, them in roles_of(games).items() for role in them[:-1]]


def roles_of(games: Mapping[str, Bundles]) -> dict[str, tuple[str, ...]]:
    """Return the roles of each game, by their names."""
    found: dict[str, set[str]] = {game: set() for game in games}
    for game, bundles in games.items():
        for bundle in bundles:
            for match, _ in bundle:
                found[game].update(player.role for side in match for player in side.players)
    return {game: tuple(sorted(them)) for game, them in found.items()}
