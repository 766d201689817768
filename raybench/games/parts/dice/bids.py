"""Bids: how people write them, which are higher, how likely they hold."""

import math
import re
from collections.abc import Sequence
from functools import cache
from itertools import product

from raybench.games.parts.contract import InvalidMove

Bid = tuple[int, int]
"""How many dice, of which face. Tuples compare as bids do: first by the number of dice."""

_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER = rf"(\d+|{'|'.join(_NUMBERS)})"
_I = r"(?:i(?:'ll|\s+will)?\s+)?"
_BID = re.compile(
    rf"{_I}(?:bid\b[\s:]*)?(?:at\s+least\s+)?(?:quantity[\s:]+)?{_NUMBER}(?:\s*[x×,]\s*|\s+)"
    rf"(?:dice\s+|die\s+)?(?:of\s+|with\s+|showing\s+)?(?:face[\s:]+)?{_NUMBER}(?:'?s|es)?"
)
_CALL = re.compile(
    rf"{_I}(?:call|liar|bluff|challenge)(?:\s+(?:it|liar|(?:a\s+|the\s+)?(?:bluff|lie|bid)))?"
)
_AROUND = " \t\r\n.!\"'*`_()[]<>"
"""What people put around a move."""


def read(move: str) -> Bid | None:
    """Return the bid that a move makes, None where it calls.

    Raises InvalidMove where it is neither.
    """
    text = move.strip(_AROUND).lower()
    if _CALL.fullmatch(text):
        return None
    if found := _BID.fullmatch(text):
        return _number(found[1]), _number(found[2])
    raise InvalidMove(
        f"'{text[:60]}' is neither a bid nor a call: write 'bid QUANTITY FACE' or 'call'"
    )


def above(last: Bid | None, dice: int, faces: int) -> list[Bid]:
    """Return the bids that are higher than the last, with so many dice on the table, in order."""
    every = product(range(last[0] if last else 1, dice + 1), range(1, faces + 1))
    return [bid for bid in every if last is None or bid > last]


def chance(bid: Bid, own: Sequence[int], others: int, faces: int, *, wild: bool) -> float:
    """Return how likely a bid holds for who sees their own dice, and not so many others."""
    quantity, face = bid
    missing = max(0, quantity - count(own, face, wild=wild))
    return _tail(missing, others, (1 + (wild and face != 1)) / faces)


@cache
def _tail(k: int, n: int, p: float) -> float:
    """Return how likely at least k of n happen, each with probability p."""
    return sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))


def count(dice: Sequence[int], face: int, *, wild: bool) -> int:
    """Return how many of the dice count as that face."""
    return dice.count(face) + (dice.count(1) if wild and face != 1 else 0)


def _number(word: str) -> int:
    return int(word[:9]) if word.isdecimal() else _NUMBERS.index(word) + 1
