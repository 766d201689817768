"""The speeches of a debate, and how they are shown to sides and readers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from raybench.games.parts.debate.settings import Turn
from raybench.games.parts.quoting import quoted


@dataclass(frozen=True, slots=True)
class Speech:
    """What one side said in one of its turns."""

    role: str
    part: str
    round: int
    text: str
    cut: bool
    """More came behind what is shown."""


def rounds(speeches: Sequence[Speech]) -> list[list[Speech]]:
    """Return the speeches by their rounds."""
    return [list(pair) for _, pair in groupby(speeches, key=attrgetter("round"))]


def titled(speech: Speech, words: int) -> str:
    """Return what a speech is called; where it was cut, that stands here, which no text can."""
    number = f" {speech.round}" if speech.part == "rebuttal" else ""
    return f"{speech.part}{number}" + (f" (cut after {words} words)" if speech.cut else "")


def shown(
    speeches: Sequence[Speech],
    words: int,
    name: Callable[[str], str],
    quote: Callable[[str], str] = quoted,
) -> str:
    """Return the speeches, each behind its side's name, quoted for players or as readers need."""
    return "\n\n".join(
        f"{name(speech.role)}, {titled(speech, words)}:\n{quote(speech.text)}"
        for speech in speeches
    )


def visible(speeches: Sequence[Speech], role: str, turn: Turn | None) -> list[Speech]:
    """Return the speeches that a role may see: of a round that is written blind, its own only."""
    hidden = turn.round if turn is not None and turn.blind else None
    return [it for it in speeches if it.role == role or it.round != hidden]
