"""Matchmaking: who meets whom, by one of several ways; each has a file of its own."""

from collections.abc import Mapping, Sequence
from functools import partial

from raybench.errors import ConfigurationError, Problem, did_you_mean
from raybench.tournament.pairing.contract import Pairing
from raybench.tournament.pairing.information import InformationGain
from raybench.tournament.pairing.random_balanced import RandomBalanced
from raybench.tournament.pairing.round_robin import RoundRobin
from raybench.tournament.pairing.rounds import Choosing, Rounds
from raybench.tournament.pairing.seats import notes
from raybench.tournament.pairing.swiss import Swiss

__all__ = ["WAYS", "Pairing", "matchmaking", "notes"]

WAYS: Mapping[str, Choosing] = {
    "information": InformationGain,
    "random": RandomBalanced,
    "round_robin": RoundRobin,
    "swiss": Swiss,
}
"""The ways to choose, by the names that a configuration has for them."""


def matchmaking(
    way: str,
    models: Sequence[str],
    games: Mapping[str, int],
    *,
    seed: int,
    size: int,
    cycles: int | None = None,
) -> Pairing:
    """Return matchmaking for the models, and the games with their numbers of seats.

    `size` is how many matches of each game a round has; `cycles` ends a round robin after so many.
    Raises ConfigurationError for a way there is not, and for cycles of one that has none.
    """
    if way not in WAYS:
        raise ConfigurationError(
            Problem(
                "setting.choice",
                f"unknown matchmaking '{way}'",
                setting="games.pairing",
                given=way,
                fix=did_you_mean(way, WAYS),
            )
        )
    choosing = WAYS[way]
    if cycles is not None:
        if way != "round_robin" or cycles < 1:
            raise ConfigurationError(
                Problem(
                    "setting.conflict",
                    f"matchmaking '{way}' with cycles={cycles}: only a round robin has them, one "
                    "or more",
                    setting="games.cycles",
                    given=cycles,
                    fix="leave them out, or choose 'round_robin'",
                )
            )
        if short := [game for game, seats in games.items() if seats > len(models)]:
            raise ConfigurationError(
                Problem(
                    "setting.range",
                    f"cycles={cycles}, but there are fewer models ({len(models)}) than seats in "
                    f"{', '.join(short)}: no cycle ends there",
                    setting="games.cycles",
                    given=cycles,
                    fix="Say how many matches are to be played",
                )
            )
        choosing = partial(RoundRobin, cycles=cycles)
    try:
        return Rounds(choosing, models, games, seed=seed, size=size, endless=cycles is None)
    except ValueError as error:
        raise ConfigurationError(
            Problem("setting.conflict", f"matchmaking: {error}", setting="games.pairing")
        ) from error
