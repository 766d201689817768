"""Around a table: all take every seat, and where there are too few models some sit twice."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from raybench.statements import Statement
from raybench.tournament.pairing.contract import Table

T = TypeVar("T")


def seatings(table: Sequence[T]) -> list[tuple[T, ...]]:
    """Return the seatings of a table, each shifted by one seat: everybody takes every seat once.

    With two seats they are both orders of the pair. Where models sit twice, seatings that would be
    the same are one.
    """
    around = tuple(table)
    return list(dict.fromkeys(around[i:] + around[:i] for i in range(len(around))))


def points(mine: float, other: float) -> float:
    """Return what one score wins against another: 1, 0, or a half where they are equal."""
    return 0.5 if mine == other else float(mine > other)


def shares(scores: Sequence[float]) -> list[float]:
    """Return the part of the others that each seat has beaten; a tie is half of a win."""
    others = len(scores) - 1
    # Against itself it has a half, which does not count.
    return [(sum(points(mine, it) for it in scores) - 0.5) / others for mine in scores]


def met(table: Table) -> Iterator[tuple[int, int]]:
    """Yield the pairs of different models at a table."""
    members = sorted(set(table))
    return ((a, b) for i, a in enumerate(members) for b in members[i + 1 :])


def notes(models: int, games: Mapping[str, int]) -> Iterator[str]:
    """Yield what has to be known of games that have more seats than there are models."""
    for game, seats in sorted(games.items()):
        if seats > models:
            least, more = divmod(seats, models)
            each = f"{least} or {least + 1}" if more else f"{least}"
            yield Statement(
                "game.more_seats",
                "{game} has {seats} seats and there are {models} models: each takes {each} of "
                "them, in turn. What a model does against itself says nothing of who is better, so "
                "that a match of {game} says less than one among {seats} different models.",
                game=game,
                seats=seats,
                models=models,
                each=each,
            )
