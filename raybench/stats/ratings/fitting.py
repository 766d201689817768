"""The fit itself: strengths that games share, and what each game's roles are worth."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from raybench.stats.ratings.components import Components, untold
from raybench.stats.ratings.matches import Bundles
from raybench.stats.ratings.newton import chances, curvature, maximise
from raybench.stats.ratings.prior import Prior
from raybench.stats.ratings.tally import Effect, Floats, Tally, tally


@dataclass(frozen=True, eq=False)
class Fitted:
    """Where the likelihood is highest."""

    games: Mapping[str, Bundles]
    tally: Tally
    at: Floats
    """Strengths, then effects."""
    curved: Floats
    """The information about them, pinned by the ground."""
    ground: Floats
    """What matches cannot tell: 1 for two models of one component, whose mean is free."""
    prior: Prior | None
    left_out: tuple[Effect, ...]
    """Effects that the matches do not tell."""
    degrees: int
    """Bundles beyond the number of free parameters."""


def fit(
    games: Mapping[str, Bundles],
    models: tuple[str, ...],
    parts: Components,
    share: Mapping[str, float],
    prior: float | None,
) -> Fitted | None:
    """Return the maximum, or None where there is none, whatever effects are left out."""
    effects = effects_of(games)
    left_out: tuple[Effect, ...] = ()
    while True:
        made = tally(games, models, effects, share)
        size = made.design.size
        ground = np.zeros((size, size))
        chosen, drawn = made.sums(made.times[None].astype(np.float64))
        design, imagined = made.design, None
        if prior is not None:
            imagined = Prior.of(design, prior)
            design, (chosen, drawn) = imagined.design, imagined.sums(chosen, drawn)
        else:
            for part in parts:
                columns = [models.index(name) for name in part]
                ground[np.ix_(columns, columns)] = 1
        maxima = maximise(design, chosen, drawn, ground, start=np.zeros(size))
        if maxima.found[0]:
            curved = curvature(design, drawn, chances(design, maxima.at))[0] + ground
            telling = np.diff(made.drawn_from.indptr) > 0
            degrees = int(made.times[telling].sum()) - (size - len(parts))
            return Fitted(games, made, maxima.at[0], curved, ground, imagined, left_out, degrees)
        lost = {game for game, _ in untold(made)}
        if not lost:
            return None
        left_out += tuple(it for it in effects if it[0] in lost)
        effects = [it for it in effects if it[0] not in lost]


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
