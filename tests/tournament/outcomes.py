"""Matches of tests, of which only what came out matters."""

import random
import zlib
from collections.abc import Mapping, Sequence

from raybench.tournament.fixtures import Fixture, Result
from raybench.tournament.records import Effort, GivenUp, Match
from raybench.tournament.turns import Forfeit


def match(
    number: int,
    seats: Mapping[str, str],
    scores: Mapping[str, float],
    *,
    game: str = "chess",
    seed: int | None = None,
    void: str | None = None,
    missing: str | None = None,
    forfeits: Sequence[Forfeit] = (),
    sides: Mapping[str, str] = {},
    efforts: Mapping[str, Effort] = {},
    errors: Sequence[tuple[str, str, int]] = (),
    last: Mapping[str, str] = {},
    votes_missing: int = 0,
    failed: Mapping[str, int] = {},
    given_up: Sequence[GivenUp] = (),
) -> Match:
    return Match(
        number,
        Fixture(game, tuple(seats.values()), number if seed is None else seed),
        tuple(seats),
        dict(scores),
        "void" if void else "ended",
        tuple(forfeits),
        void,
        missing,
        dict(sides),
        {role: efforts.get(role, Effort(turns=1, calls=1)) for role in seats},
        tuple(errors),
        dict(last),
        attempt=len(given_up),
        failed=dict(failed),
        given_up=tuple(given_up),
        votes=3 if votes_missing else 0,
        votes_missing=votes_missing,
        votes_lost=tuple((f"juror {each}", "it is away") for each in range(votes_missing)),
    )


def won(number: int, white: str, black: str, score: float, **more: object) -> Match:
    """A match of two, with the score of the one that moves first: 1, 0 or -1."""
    seats = {"white": white, "black": black}
    return match(number, seats, {"white": score, "black": -score}, **more)  # type: ignore[arg-type]


def duels(
    strengths: Mapping[str, float], each: int, seed: int = 0, game: str = "chess"
) -> list[Result]:
    """Both seatings of every pair, so often, won by strengths in natural logarithms of odds."""
    rng = random.Random(seed)
    found = []
    for turn in range(each):
        for one in strengths:
            for other in strengths:
                if one == other:
                    continue
                chance = 1 / (1 + 2.718281828 ** (strengths[other] - strengths[one]))
                score = 1.0 if rng.random() < chance else -1.0
                pair = "/".join(sorted((one, other)))
                fixture = Fixture(game, (one, other), zlib.crc32(f"{pair}{turn}".encode()))
                found.append(Result(fixture, (score, -score)))
    return found
