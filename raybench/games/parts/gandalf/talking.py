"""What was said, as players and readers see it."""

from collections.abc import Callable, Sequence
from typing import Literal

from raybench.games.parts.gandalf.folding import folded
from raybench.games.parts.gandalf.settings import ROLES
from raybench.games.parts.quoting import quoted

Said = tuple[Literal["says", "guesses"], str]
"""What somebody did in their turn: a message, or a guess in plain letters."""


def same(one: str, other: str) -> bool:
    """Tell whether two messages are the very same, space and case aside."""
    return one.casefold().split() == other.casefold().split()


def spoken(text: str) -> str:
    """Return the letters of a message, of any script."""
    return "".join(filter(str.isalpha, folded(text)))


def conversation(
    said: Sequence[Said], password: str = "", quote: Callable[[str], str] = quoted
) -> str:
    """Return what was said, quoted, behind who said it; a password says which guess is right.

    It begins with the sentinel.
    """
    return "\n\n".join(
        f"The infiltrator guessed '{text}', which is {'right' if text == password else 'wrong'}."
        if how == "guesses"
        else f"The {ROLES[at % 2]}:\n{quote(text)}"
        for at, (how, text) in enumerate(said)
    )
