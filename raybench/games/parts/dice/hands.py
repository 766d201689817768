"""Everybody's dice: how they are rolled, and whose turn comes after whose."""

import random
from collections.abc import Iterable
from itertools import chain

Hands = tuple[tuple[int, ...], ...]
"""By seat, each sorted; none for who is out."""


def rolled(seed: int, round_: int, counts: Iterable[int], faces: int) -> Hands:
    """Return what each seat rolls with so many dice in a match's so-manieth round."""
    rng = random.Random(f"liars_dice/{seed}/{round_}")
    return tuple([one(rng, count, faces) for count in counts])


def one(rng: random.Random, count: int, faces: int) -> tuple[int, ...]:
    """Return a roll of so many dice."""
    return tuple(sorted(rng.choices(range(1, faces + 1), k=count))) if count else ()


def following(seat: int, hands: Hands) -> int:
    """Return the next seat that has dice, the seat itself where no other has."""
    for each in chain(range(seat + 1, len(hands)), range(seat)):
        if hands[each]:
            return each
    return seat
