"""The ratings of a run, as its configuration wants them."""

from collections.abc import Sequence
from dataclasses import dataclass

from raybench.config import Config
from raybench.experiments.games import setup
from raybench.games.parts import choice
from raybench.stats.ratings.outcome import Ratings
from raybench.tournament import ratings
from raybench.tournament.fixtures import Result
from raybench.tournament.ratings import Rated
from raybench.tournament.records import Match


@dataclass(frozen=True)
class RatedTwice:
    """Ratings by all matches that count, and by those in which nobody forfeited."""

    all: Rated
    played: Rated
    forfeited: int
    """Matches with forfeits."""


def rated(config: Config, matches: Sequence[Match]) -> RatedTwice:
    """Rate the models."""
    every = [it.result for it in matches if it.result is not None]
    clean = [it.result for it in matches if it.result is not None and not it.forfeits]
    found = by(config, every)
    same = len(clean) == len(every)
    played = found if same else by(config, clean)
    return RatedTwice(found, played, len(every) - len(clean))


def alone(config: Config, results: Sequence[Result]) -> Ratings | None:
    """Return the overall ratings by results, without intervals of replicates, and no game's."""
    names = [game.name for game in setup.chosen(config)]
    return ratings.bare(results, names, _roles(config), weights=setup.weights(config))


def widest(config: Config, results: Sequence[Result]) -> float | None:
    """Return the widest half of an interval of an overall rating, None where one is open."""
    return ratings.looked(
        results,
        [game.name for game in setup.chosen(config)],
        _roles(config),
        [model.name for model in config.roster.models],
        points=config.games.narrow or 0.0,
        weights=setup.weights(config),
        bootstrap=config.games.bootstrap,
        seed=config.seed,
    )


def by(config: Config, results: Sequence[Result]) -> Rated:
    """Rate the models by these results, in each game and over all."""
    return ratings.rate(
        results,
        [game.name for game in setup.chosen(config)],
        _roles(config),
        weights=setup.weights(config),
        bootstrap=config.games.bootstrap,
        seed=config.seed,
    )


def _roles(config: Config) -> dict[str, Sequence[str]]:
    by_rules = setup.rules(config)
    return {it.name: choice.seats(it, by_rules.get(it.name, {})) for it in setup.chosen(config)}
