"""Moves as people write them: names of players, and what they say."""

import re
import unicodedata
from collections.abc import Sequence

from raybench.games.parts.contract import InvalidMove
from raybench.games.parts.werewolf.settings import NOBODY

_WORDS = re.compile(r"[^\W\d_]+|\d+")
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NO_ONE = re.compile(r"\bno[ -]?one\b")
_NOBODY = {"nobody", "abstain", "none", "skip", "pass"}
_AROUND = frozenset(
    word
    for words in (
        "i my we our the a an is am ll will would to for on at of against no this please",
        "choose chose choice name names pick select vote votes voting voted move question number",
        "victim target kill attack eliminate lynch hang execute protect guard save shield",
        "look see check inspect investigate player seat p night today tonight",
    )
    for word in words.split()
)
"""What may stand around a name without changing what is meant; "not" is no such word."""
_CUT = " […]"
_DOUBLE = "\N{FULLWIDTH QUOTATION MARK}\N{DOUBLE LOW-9 QUOTATION MARK}\N{DOUBLE PRIME}"


def chosen(move: str, allowed: Sequence[str]) -> str:
    """Return whom a move names: one of those allowed.

    Raises InvalidMove where it names another one, several or none.
    """
    text = _NO_ONE.sub(NOBODY, move[:1_000].lower())
    words = [_number(word) for word in _WORDS.findall(text)]
    named = {f"player_{word[:9]}" for word in words if word.isdecimal()}
    named |= {NOBODY for word in words if word in _NOBODY}
    rest = [word for word in words if not word.isdecimal() and word not in _AROUND | _NOBODY]
    if len(named) != 1 or rest:
        shown = " ".join(move.split())[:60]
        raise InvalidMove(f"'{shown}' does not name one player; possible are {', '.join(allowed)}")
    (name,) = named
    if name not in allowed:
        raise InvalidMove(f"{name} cannot be chosen now; possible are {', '.join(allowed)}")
    return name


def spoken(move: str, words: int) -> str:
    """Return a speech as it is quoted: on one line, without quotes of its own, and not too long.

    So it cannot pass for a line of the game's. Raises InvalidMove where nothing is said.
    """
    said = "".join(_within(each) for each in move).split()
    text = " ".join(said)
    kept = " ".join(said[:words])[: 8 * words].rstrip()
    if not kept:
        raise InvalidMove("you have said nothing: say something, if only that you know nothing")
    return text if kept == text else kept + _CUT


def _number(word: str) -> str:
    return str(_NUMBERS.index(word) + 1) if word in _NUMBERS else word


def _within(character: str) -> str:
    """Return a character as a quotation can hold it: nothing in it looks like its end."""
    if character == '"' or unicodedata.category(character) in ("Pi", "Pf") or character in _DOUBLE:
        return "'"
    return character if character.isprintable() else " "
