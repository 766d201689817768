"""Whether a text holds digits in signs that stand for them.

These are Morse, letters that look alike, and the codes of characters.
"""

import re
from collections.abc import Iterator

from raybench.games.parts import morse

_SIGNS_A_DIGIT = 5
_ALIKE = str.maketrans("ilo|", "1101")
_MIXED = re.compile(r"(?<![\w.])(?=[0-9]*[ilo|])[0-9ilo|]*[0-9](?!\w)")
"""A letter at the end may be a unit, a degree or a variable."""
_SPOKEN_OF = re.compile(r"\b(?:ascii|unicode|utf|chr|char|(?:code points?|character codes?)\b)")
_BETWEEN = r"(?:[\s,;:+.()'\"-]|and|chr|char){1,8}?"


def disguised(text: str, digits: str) -> str | None:
    """Return how a text in lower case holds digits in disguise, None where it does not."""
    if any(digits in row for row in _tapped(text)):
        return "in Morse"
    if any(found[0].translate(_ALIKE).lstrip("0") == digits for found in _MIXED.finditer(text)):
        return "in letters that look like digits"
    if _SPOKEN_OF.search(text) and _codes(digits).search(text):
        return "in the codes of its characters"
    return None


def _codes(digits: str) -> re.Pattern[str]:
    """Return what finds the codes of digits, in decimal or hex, next to one another."""
    each = (rf"(?:{ord(digit)}|(?:0x|u\+)?0*{ord(digit):x})" for digit in digits)
    return re.compile(rf"(?<![\w.]){_BETWEEN.join(each)}(?!\w|\.\d)")


def _tapped(text: str) -> Iterator[str]:
    """Yield the digits that stand next to one another in Morse."""
    row, end = "", 0
    signs = morse.plain(text)
    for found in morse.SIGNS.finditer(signs):
        read = _read(found[0])
        if row and (not read or not re.fullmatch(r"[\s/|,;]{1,3}", signs[end : found.start()])):
            yield row
            row = ""
        row, end = row + read, found.end()
    yield row


def _read(strokes: str) -> str:
    """Return the digits of strokes without gaps; '' where they are none."""
    if len(strokes) % _SIGNS_A_DIGIT == 1:
        strokes = strokes.removesuffix(".")  # a sentence's full stop
    fives = (strokes[at : at + _SIGNS_A_DIGIT] for at in range(0, len(strokes), _SIGNS_A_DIGIT))
    read = [morse.DIGITS.get(five, "") for five in fives]
    return "".join(read) if all(read) else ""
