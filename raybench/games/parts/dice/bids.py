"""Bids: how people write them, which are higher, how likely they hold."""

import math
import re
from collections.abc import Sequence
from functools import cache
from itertools import product

from raybench.games.parts.contract import InvalidMove
from raybench.games.parts.numbers import NUMBERS, counted
from raybench.games.parts.quoting import echoed
from raybench.statements import Statement

Bid = tuple[int, int]
"""How many dice, of which face. Tuples compare as bids do: first by the number of dice."""

_NUMBER = rf"(\d+|{'|'.join(NUMBERS)})"
_I = r"(?:i(?:'ll|\s+will)?\s+)?"
_BID = re.compile(
    rf"{_I}(?P<named>(?:bid|raise(?:\s+it)?(?:\s+to)?)\b[\s:]*)?(?:at\s+least\s+)?"
    rf"(?:quantity[\s:]+)?{_NUMBER}(?:\s*[x×,]\s*|\s+|(?(named)[-–]|(?!)))"
    rf"(?:dice\s+|die\s+)?(?:of\s+|with\s+|showing\s+)?(?:face[\s:]+)?{_NUMBER}(?:'?s|es)?"
)
"""A dash joins two numbers where a bid is named: '3-5' alone may be anything."""
_WHOSE = r"(?:(?:a|the|that|this|your|his|her|their|(?:the|my)\s+\w+'s|player[\s_]?\d+'s)\s+)"
_LIE = r"(?:bluff|lie)"
_CALL = re.compile(
    rf"{_I}(?:liar|bluff|(?:call|challenge)(?:\s+(?:liar|{_WHOSE}?{_LIE}|"
    rf"(?:it|that|this|{_WHOSE}?(?:(?:last|previous|current)\s+)?bid)(?:\s+a\s+{_LIE})?))?)"
    rf"|you(?:'re|\s+are)\s+(?:lying|bluffing|a\s+liar)|(?:it|that|this)(?:'s|\s+is)\s+a\s+{_LIE}"
)
_BRACKETS = str.maketrans(dict.fromkeys("()[]<>{}", " ") | {"’": "'"})
_AROUND = " \t\r\n.!\"'*`_"
"""What people put around a move."""


def read(move: str) -> Bid | None:
    """Return the bid that a move makes, None where it calls.

    Raises InvalidMove where it is neither.
    """
    text = move.translate(_BRACKETS).strip(_AROUND).lower()
    if found := _BID.fullmatch(text):
        return counted(found[2]), counted(found[3])
    if _CALL.fullmatch(text):
        return None
    raise InvalidMove(
        Statement(
            "dice.no_move",
            "'{move}' is neither a bid nor a call: write 'bid QUANTITY FACE' or 'call'",
            move=echoed(move.strip()),
        )
    )


def check(bid: Bid, last: Bid | None, dice: int, faces: int) -> None:
    """Raise InvalidMove where a bid may not follow the last, with so many dice on the table."""
    quantity, face = bid
    if not 1 <= face <= faces:
        raise InvalidMove(
            Statement(
                "dice.no_face",
                "there is no face {face}: faces are 1 to {most}",
                face=face,
                most=faces,
            )
        )
    if not 1 <= quantity <= dice:
        raise InvalidMove(
            Statement(
                "dice.too_many",
                "{bid} dice cannot be bid: {dice} are on the table",
                bid=quantity,
                dice=dice,
            )
        )
    if last is not None and bid <= last:
        raise InvalidMove(
            Statement(
                "dice.not_above",
                "{bid} is not above the last bid, {last}: "
                "bid more dice, or as many of a higher face, or call",
                bid=f"{some(quantity)} of {face}",
                last=f"{some(last[0])} of {last[1]}",
            )
        )


def some(dice: int) -> str:
    """Return so many dice in words."""
    return "1 die" if dice == 1 else f"{dice} dice"


def above(last: Bid | None, dice: int, faces: int) -> list[Bid]:
    """Return the bids that are higher than the last, with so many dice on the table, in order."""
    return _every(dice, faces)[_place(last, faces) :]


def listed(last: Bid | None, dice: int, faces: int) -> list[str]:
    """Return them as moves."""
    return _moves(dice, faces)[_place(last, faces) :]


@cache
def _every(dice: int, faces: int) -> list[Bid]:
    return [*product(range(1, dice + 1), range(1, faces + 1))]


@cache
def _moves(dice: int, faces: int) -> list[str]:
    return ["bid {} {}".format(*bid) for bid in _every(dice, faces)]


def _place(last: Bid | None, faces: int) -> int:
    """Return how many bids are not above the last."""
    return (last[0] - 1) * faces + last[1] if last else 0


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
