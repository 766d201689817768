"""Numbers, times and names in few characters, as terminals show them."""

import re

from raybench.tracking.text import one_line
from raybench.types import several

# They turn the order of what follows them on the line: a name could so change its neighbours.
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def clean(text: str, most: int | None = None) -> str:
    """Return somebody's text as one line that moves no cursor and turns nothing around."""
    return one_line(_TURNING.sub("", text), most)


def short(number: float) -> str:
    """Return a count in few characters: 950, 12.3k, 4.5M."""
    for size, name in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.{1 if number < 100 * size else 0}f}{name}"
    return f"{number:.0f}"


def duration(seconds: float) -> str:
    """Return a time in the two units that matter: 45 s, 4 min 10 s, 2 h 5 min."""
    whole = round(max(seconds, 0))
    if whole < 60:
        return f"{whole} s"
    if whole < 600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 3600:
        return f"{whole // 60} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: '1 reply', '2 replies'."""
    return f"{number:,} {noun if number == 1 else several(noun)}"
