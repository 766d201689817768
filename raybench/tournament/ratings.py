"""What the results say about the models: ratings per game and over all games.

Of two roles or more, each is rated with what it is worth to sit there. A role is a seat, or, where
sides are dealt (wolves and villagers), a side, which wins or loses as a team. Matches that share a
seed (their cards or topic), or a start from which models that always reply alike go on alike, are
not independent, so they are drawn together.

A forfeit is a loss by the rules; where sides are dealt, who left is rated with its side all the
same, whose one place is all that a team's result is. Beside these ratings stand those without the
matches in which somebody forfeited: how models play where they keep to the rules.

Whom nobody beat, or who beat nobody, gets no number but an interval with one end: `Ratings.bounds`.
A prior would give it one, which is the prior's and not the matches'; `stats` takes one from whoever
wants it, and a tournament never does.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from raybench.errors import ConfigurationError, Problem
from raybench.stats import overall, plackett_luce
from raybench.stats.plackett_luce import Seat
from raybench.stats.ratings.components import components
from raybench.stats.ratings.matches import Bundles, played, teams_in
from raybench.stats.ratings.outcome import Ratings
from raybench.stats.ratings.rated import rated
from raybench.stats.ratings.scale import FEWEST
from raybench.tournament.fixtures import Result


@dataclass(frozen=True)
class Rated:
    """Ratings by the same results; None and left out where there is nothing to rate."""

    games: Mapping[str, Ratings]
    overall: Ratings | None


def rate(
    results: Sequence[Result],
    games: Sequence[str],
    roles: Mapping[str, Sequence[str]],
    *,
    weights: Mapping[str, float] = {},
    bootstrap: int = 1000,
    seed: int = 0,
) -> Rated:
    """Rate the models by results; `roles` are those of each game.

    `weights` are those of games in the overall rating: 1 where none is given, and none at 0.
    """
    bundles = {game: it for game in games if (it := _bundles(results, game, roles[game]))}
    by_game = {
        game: _alone(game, it, roles[game], bootstrap=bootstrap, seed=seed)
        for game, it in bundles.items()
    }
    counted = {game: it for game, it in bundles.items() if weights.get(game, 1.0) > 0}
    if len(counted) == 1:
        (alone,) = counted
        return Rated(by_game, by_game[alone])
    if not counted:
        return Rated(by_game, None)
    weighed = {game: weights.get(game, 1.0) for game in counted}
    joint = overall.fit(counted, weights=weighed, bootstrap=bootstrap, seed=seed)
    return Rated(by_game, joint)


def looked(
    results: Sequence[Result],
    games: Sequence[str],
    roles: Mapping[str, Sequence[str]],
    models: Sequence[str],
    *,
    points: float,
    weights: Mapping[str, float] = {},
    bootstrap: int = 1000,
    seed: int = 0,
) -> float | None:
    """Return how wide `widest` would call what `rate` makes of the same, or a bit less if too wide.

    Nothing is fitted that it does not depend on: no game by itself, no bounds, and nothing at all
    where wins do not lead both ways between all models. The sandwich alone is quickly known, and
    what is published is never narrower. Only where it is at most `points` does the bootstrap say
    how wide the published interval is, by the replicates and the seed of that.
    """
    weighed = {game: weight for game in games if (weight := weights.get(game, 1.0)) > 0}
    bundles = {game: it for game in weighed if (it := _bundles(results, game, roles[game]))}
    if {*models} - {*played(bundles)}:
        return None
    if not teams_in(bundles) and len(components(bundles, sorted(models))) > 1:
        return None

    def wide(replicates: int) -> float | None:
        return widest(_joint(bundles, roles, weighed, bootstrap=replicates, seed=seed), models)

    width = wide(0)
    if width is None or width > points or bootstrap < FEWEST:
        return width
    return wide(bootstrap)


def bare(
    results: Sequence[Result],
    games: Sequence[str],
    roles: Mapping[str, Sequence[str]],
    *,
    weights: Mapping[str, float] = {},
) -> Ratings | None:
    """Return the overall ratings that `rate` finds, without bounds, replicates and single games.

    None where there is nothing to rate.
    """
    weighed = {game: weight for game in games if (weight := weights.get(game, 1.0)) > 0}
    bundles = {game: it for game in weighed if (it := _bundles(results, game, roles[game]))}
    return _joint(bundles, roles, weighed, bootstrap=0, seed=0) if bundles else None


def _joint(
    bundles: Mapping[str, Bundles],
    roles: Mapping[str, Sequence[str]],
    weights: Mapping[str, float],
    *,
    bootstrap: int,
    seed: int,
) -> Ratings:
    if len(bundles) == 1:
        ((game, them),) = bundles.items()
        return _alone(game, them, roles[game], bootstrap=bootstrap, seed=seed, bounds=False)
    return overall.fit(
        bundles,
        weights={game: weights[game] for game in bundles},
        bootstrap=bootstrap,
        seed=seed,
        bounds=False,
    )


def _alone(
    game: str,
    bundles: Bundles,
    roles: Sequence[str],
    *,
    bootstrap: int,
    seed: int,
    bounds: bool = True,
) -> Ratings:
    # The name of the likelihood of two is another one; the likelihood is the same.
    model = "Bradley–Terry" if len(roles) == 2 else "Plackett–Luce"
    return rated({game: bundles}, model=model, replicates=bootstrap, seed=seed, bounds=bounds)


def places(scores: Iterable[float]) -> tuple[int, ...]:
    """Return the place of each score: 1 is the best, equal ones share theirs."""
    them = tuple(scores)
    return tuple(1 + sum(other > score for other in them) for score in them)


def widest(found: Ratings | None, models: Sequence[str]) -> float | None:
    """Return the widest half of a 95 % interval of the models' ratings.

    None where one of them has none, or they cannot all be compared.
    """
    if found is None or len(found.components) > 1:
        return None
    halves = []
    for model in models:
        estimate = found.table.get(model)
        if estimate is None or estimate.ci95 is None:
            return None
        halves.append((estimate.ci95[1] - estimate.ci95[0]) / 2)
    return max(halves, default=None)


def _bundles(results: Iterable[Result], game: str, roles: Sequence[str]) -> Bundles:
    of = [it for it in results if it.fixture.game == game and len({*it.fixture.seats}) > 1]
    seated = [_seats(it, roles) for it in of]
    decided = [(it, seats) for it, seats in zip(of, seated, strict=True) if seats]
    return plackett_luce.bundles(
        [seats for _, seats in decided], clusters=[it.drawn_with for it, _ in decided]
    )


def _seats(result: Result, roles: Sequence[str]) -> tuple[Seat, ...]:
    seats = zip(result.fixture.seats, places(result.scores), strict=True)
    if not result.sides:
        return tuple(
            Seat(model, place, role) for (model, place), role in zip(seats, roles, strict=True)
        )
    if len({*result.sides}) < 2:
        raise ConfigurationError(
            Problem("ratings.invalid", f"{result.fixture}: all are of one side, {result.sides[0]}")
        )
    return tuple(
        Seat(model, place, side, side)
        for (model, place), side in zip(seats, result.sides, strict=True)
    )
