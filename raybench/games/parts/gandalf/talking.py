"""What was said, as players and readers see it; and which word a message guesses."""

import re
from collections.abc import Sequence
from typing import Literal

from raybench.games.parts.contract import InvalidMove
from raybench.games.parts.gandalf.folding import folded, letters
from raybench.games.parts.gandalf.settings import ROLES
from raybench.games.parts.quoting import quoted

Said = tuple[Literal["says", "guesses"], str]
"""What somebody did in their turn: a message, or a guess in plain letters."""

_LONGEST = 40
_LINE = 300
_BEFORE = re.compile(r"^[\W_]+")
_GUESS = re.compile(r"(?:my |final )*guess[\W_]{0,8}?[:=](?P<word>.*)", re.IGNORECASE)
_AROUND = " \t*_`~\"'.,;:!?()[]{}<>«»“”‘’…-="
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)?")


def guess(move: str) -> str | None:
    """Return the word that a move guesses, in plain letters; None where it is a message.

    Raises InvalidMove where it guesses, and not one word.
    """
    lines = [line[:_LINE] for line in move.splitlines() if line.strip()]
    found = [_GUESS.fullmatch(_BEFORE.sub("", line)) for line in lines]
    if not found or (last := found[-1]) is None:
        return None
    word = last["word"].strip(_AROUND)
    plain = letters(folded(word))
    if not plain or len(word) > _LONGEST or not _WORD.fullmatch(word):
        raise InvalidMove("a guess is one word, as in 'guess: WORD'")
    if any(found[:-1]):
        raise InvalidMove("a turn has one guess: name one word")
    return plain


def same(one: str, other: str) -> bool:
    """Tell whether two messages have the same letters."""
    return spoken(one) == spoken(other)


def spoken(text: str) -> str:
    """Return the letters of a message, of any script."""
    return "".join(filter(str.isalpha, folded(text)))


def conversation(said: Sequence[Said], password: str = "") -> str:
    """Return what was said, in words that show who said it; a password says which guess is right.

    It begins with the sentinel.
    """
    return "\n\n".join(
        f"The infiltrator guessed '{text}', which is {'right' if text == password else 'wrong'}."
        if how == "guesses"
        else f"The {ROLES[at % 2]}:\n{quoted(text)}"
        for at, (how, text) in enumerate(said)
    )
