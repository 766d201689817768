"""Everybody against everybody, in every seat: all ordered seatings, drawn one by one.

Pairs follow the circle method: with an even number of models everybody plays once before anybody
plays again; with an odd one somebody waits in each turn of the circle, and the difference can be
two pairs.

Larger tables come in families: a table and the same table shifted by 1, 2, … models. Over a family
all sit equally often; within it the next table is one of somebody who has sat least, so that the
difference stays at a few tables. Which family comes next jumps about among all there are, without a
list of them, so that also a short beginning brings everybody together with many. A cycle holds each
ordered seating once: P(models, seats) matches; the next cycle has the models in another order, and
new seeds.
"""

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import count
from math import gcd, perm
from random import Random

from raybench.tournament.pairing.contract import Seated, Table

_GOLDEN = (5**0.5 - 1) / 2
"""Steps of this part of a circle never fall close to where they have been."""


class RoundRobin:
    """Draws all tables, and then again, as many cycles as are wanted."""

    adaptive = False

    def __init__(self, models: int, seats: int, rng: Random, cycles: int | None = None) -> None:
        """Draw so many cycles; None draws without end."""
        self._tables = _all(models, seats, rng, cycles)

    def learn(self, results: Sequence[Seated], to_come: Sequence[Table]) -> None:
        """Begin a round; results change nothing."""

    def draw(self) -> Table | None:
        """Return the next table; None after the last cycle."""
        return next(self._tables, None)


def _all(models: int, seats: int, rng: Random, cycles: int | None) -> Iterator[Table]:
    for _ in count() if cycles is None else range(cycles):
        order = rng.sample(range(models), models)
        tables = pairs(models) if seats == 2 else groups(models, seats, rng)
        for table in tables:
            yield tuple(order[i] for i in table)


def pairs(models: int) -> Iterator[Table]:
    """Yield every pair once, by the circle method."""
    circle = models - 1 + models % 2
    for turn in range(circle):
        if circle < models:
            yield turn, models - 1
        for step in range(1, circle // 2 + 1):
            yield (turn + step) % circle, (turn - step) % circle


def groups(models: int, seats: int, rng: Random) -> Iterator[Table]:
    """Yield every table once, a table being the same from wherever one begins to count."""
    families = perm(models - 1, seats - 1)
    stride = next(it for it in count(int(families * _GOLDEN) + 1) if gcd(it, families) == 1)
    start = rng.randrange(families)
    for i in range(families):
        first = _first(models, seats, (start + i * stride) % families)
        turned = [
            tuple((it - first[turn]) % models for it in first[turn:] + first[:turn])
            for turn in range(seats)
        ]
        if first == min(turned):  # else it is the family of another one, begun elsewhere
            yield from _family(first, models, turned.count(first))


def _first(models: int, seats: int, index: int) -> Table:
    """Return the index-th of all tables that begin with model 0."""
    left = list(range(1, models))
    table = [0]
    for _ in range(seats - 1):
        index, chosen = divmod(index, len(left))
        table.append(left.pop(chosen))
    return tuple(table)


def _family(first: Table, models: int, repeats: int) -> Iterator[Table]:
    """Yield a table's shifts, those of whoever has sat least in front.

    A table that is its own shift has fewer others: it comes back after a part of the models.
    """
    length = models // repeats
    unused = [True] * length
    sat = [0] * models
    waiting = [(0, model) for model in range(models)]
    heapify(waiting)
    while waiting:
        seen, model = heappop(waiting)
        if seen < sat[model]:
            continue  # it has sat since; it waits further behind as well
        shifts = [it for it in {(model - seat) % length for seat in first} if unused[it]]
        if not shifts:
            continue
        shift = min(
            shifts, key=lambda by: sorted((sat[(it + by) % models] for it in first), reverse=True)
        )
        unused[shift] = False
        table = tuple((it + shift) % models for it in first)
        for member in table:
            sat[member] += 1
            heappush(waiting, (sat[member], member))
        yield table
