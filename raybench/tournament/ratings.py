"""What the results say about the models: ratings per game and over all games.

Of two roles or more, each is rated with what it is worth to sit there. A role is a seat, or, where
sides are dealt (wolves and villagers), a side, which wins or loses as a team. Matches that share a
seed share their cards, topic or opening, so they are drawn together.

A forfeit is a loss by the rules. Beside these ratings stand those without the matches in which
somebody forfeited: how models play where they keep to the rules.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from raybench.errors import ConfigurationError
from raybench.stats import overall, plackett_luce
from raybench.stats.plackett_luce import Seat
from raybench.stats.ratings.matches import Bundles
from raybench.stats.ratings.outcome import Ratings
from raybench.stats.ratings.rated import rated
from raybench.tournament.fixtures import Result


@dataclass(frozen=True)
class Rated:
    """Ratings by the same results; None and left out where there is nothing to rate."""

    games: Mapping[str, Ratings]
    overall: Ratings | None
    results: int


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
        game: rated(
            # The name of the likelihood of two is another one; the likelihood is the same.
            {game: it}, model="Bradley–Terry" if len(roles[game]) == 2 else "Plackett–Luce",
            replicates=bootstrap, seed=seed,
        )
        for game, it in bundles.items()
    }  # fmt: skip
    weighed = {game: weight for game in bundles if (weight := weights.get(game, 1.0)) > 0}
    counted = {game: bundles[game] for game in weighed}
    if len(counted) == 1:
        (alone,) = counted
        return Rated(by_game, by_game[alone], len(results))
    joint = (
        overall.fit(counted, weights=weighed, bootstrap=bootstrap, seed=seed) if counted else None
    )
    return Rated(by_game, joint, len(results))


def places(scores: Iterable[float]) -> tuple[int, ...]:
    """Return the place of each score: 1 is the best, equal ones share theirs."""
    them = tuple(scores)
    return tuple(1 + sum(other > score for other in them) for score in them)


def widest(found: Rated, models: Sequence[str]) -> float | None:
    """Return the widest half of a 95 % interval of the models' overall ratings.

    None where one of them has none, or they cannot all be compared.
    """
    if found.overall is None or len(found.overall.components) > 1:
        return None
    halves = []
    for model in models:
        estimate = found.overall.table.get(model)
        if estimate is None or estimate.ci95 is None:
            return None
        halves.append((estimate.ci95[1] - estimate.ci95[0]) / 2)
    return max(halves, default=None)


def _bundles(results: Iterable[Result], game: str, roles: Sequence[str]) -> Bundles:
    of = [it for it in results if it.fixture.game == game and len({*it.fixture.seats}) > 1]
    seated = [_seats(it, roles) for it in of]
    decided = [(it, seats) for it, seats in zip(of, seated, strict=True) if seats]
    return plackett_luce.bundles(
        [seats for _, seats in decided], clusters=[it.fixture.seed for it, _ in decided]
    )


def _seats(result: Result, roles: Sequence[str]) -> tuple[Seat, ...]:
    seats = zip(result.fixture.seats, places(result.scores), strict=True)
    if not result.sides:
        return tuple(
            Seat(model, place, role) for (model, place), role in zip(seats, roles, strict=True)
        )
    if len({*result.sides}) < 2:
        raise ConfigurationError(f"{result.fixture}: all are of one side, {result.sides[0]}")
    return tuple(
        Seat(model, place, side, side)
        for (model, place), side in zip(seats, result.sides, strict=True)
    )
