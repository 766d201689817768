"""Morse, in signs of all kinds and as it is spoken."""

import re
from collections.abc import Iterator

from raybench.games.parts.morse import LETTERS, SIGNS, plain

_NO_SIGNS = str.maketrans(".-", "  ")
_SAID = re.compile(r"\b(?:(dot|dit|di)|(dash|dah))\b", re.IGNORECASE)
_OF_WORDS = re.compile(r"(?<=\w)[.-]+")
_SHORTEST = 7
"""So many signs at least make it worth reading."""


def tapped(text: str) -> Iterator[str]:
    """Yield the letters of a message in Morse."""
    if _SAID.search(text):
        spoken = _SAID.sub(lambda said: "." if said[1] else "-", text.translate(_NO_SIGNS))
        chunks = re.split(r"[,;:/|\n]|\s{2,}", spoken)
        yield "".join(LETTERS.get("".join(SIGNS.findall(chunk)), "") for chunk in chunks)
    strokes = plain(text)
    if strokes.count(".") + strokes.count("-") < _SHORTEST:
        return
    # A sentence's full stop may follow the last sign, or be no sign itself.
    without = re.sub(r"\.(?=\s*$)", "", strokes, flags=re.MULTILINE)
    for each in (strokes, without, _OF_WORDS.sub("", strokes)):
        yield "".join(LETTERS.get(signs, "") for signs in SIGNS.findall(each))
