"""Whether a text tells pieces of a number that are to be joined: 'concatenate 34 and 7'."""

import re
from collections.abc import Iterator

_JOINING = re.compile(r"\b(?:concatenat|append|glu(?:e|ing)|join|side by side)")
_LINK = re.compile(
    r"(?:[\s,;:'\"-]|\b(?:and|with|to|then|next|the|digits?|numbers?|append(?:ed)?"
    r"|concatenated|joined)\b){1,12}"
)
_NUMBER = re.compile(r"(?<![\w.])\d{1,13}(?![\w/^*%°]|\.\d)")


def joined(text: str, number: int) -> bool:
    """Tell whether numbers in a row come to this one, where a text speaks of joining them.

    They may come in either order ('append 7 to 34'), and by their places ('300, 40 and 7').
    """
    if not _JOINING.search(text):
        return False
    digits = str(number)
    return any(
        _holds(row, digits) or _holds(row[::-1], digits) or _by_place(row, number)
        for row in _rows(text)
    )


def _rows(text: str) -> Iterator[list[str]]:
    """Yield the numbers with nothing but links between them."""
    row, end = list[str](), 0
    for found in _NUMBER.finditer(text):
        if row and not _LINK.fullmatch(text, end, found.start()):
            yield row
            row = []
        row.append(found[0])
        end = found.end()
    yield row


def _holds(row: list[str], digits: str) -> bool:
    """Tell whether some numbers next to one another read so."""
    for begin in range(len(row)):
        read = ""
        for each in row[begin : begin + len(digits)]:
            read += each
            if read == digits:
                return True
    return False


def _by_place(row: list[str], number: int) -> bool:
    """Tell whether a row holds every digit with the zeros of its place, one after another."""
    digits = str(number)
    parts = [it + "0" * (len(digits) - at) for at, it in enumerate(digits, 1) if it != "0"]
    spans = range(len(row) - len(parts) + 1)
    return any(row[begin : begin + len(parts)] == parts for begin in spans)
