"""Whether a text tells a number digit by digit: '1, then 2, then 3', 'hundreds 1, tens 2, units 3'.

Digits are those of one figure and their English words.
"""

import re
from collections import defaultdict
from itertools import pairwise

from raybench.games.parts.numbers import WORDS

_NAMES = WORDS[:10]
_VALUES = {name: str(value) for value, name in enumerate(_NAMES)}
_DIGIT = rf"(?<![\w.])(?:[0-9]|{'|'.join(_NAMES)})(?![\w/^*%°]|\.[0-9])"
_LINK = r"(?:and|then|next|finally|followed by|after that) "
_ROW = re.compile(rf"{_DIGIT}(?:(?:[,;] |[,;]? {_LINK}(?:{_LINK})?){_DIGIT})+")
_REVERSED = re.compile(r"\brevers|\bbackwards?\b|\bright to left\b|\bback to front\b")
_ONE = re.compile(_DIGIT)

_FROM_THE_RIGHT = {
    "hundred thousand": 5, "ten thousand": 4, "thousand": 3, "hundred": 2, "ten": 1, "ones": 0,
    "unit": 0, "last": 0, "final": 0,
}  # fmt: skip
_FROM_THE_LEFT = {
    "first": 0, "leading": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "sixth": 5,
}  # fmt: skip
_PLACE = "|".join((*_FROM_THE_RIGHT, *_FROM_THE_LEFT, "middle")).replace(" ", "[ -]")
_PART = re.compile(rf"(?P<digit>{_DIGIT})|\b(?P<place>{_PLACE})s?\b")
_BETWEEN = re.compile(
    r"['’]?(?:[ :=-]|digit|place|position|column|figure|\bis\b|\bin\b|\bat\b|\bas\b|\bof\b|\bthe\b"
    r"|\bits\b|\ba\b|\bbeing\b|\bequals\b)*"
)
"""What may stand between a place and its digit."""
_FARTHEST = 30


def digit_by_digit(text: str, digits: str) -> bool:
    """Tell whether a text in lower case tells these digits one by one, in order or by place.

    In reversed order, too, where it speaks of one: any list of numbers is the reverse of another.
    """
    rows = {"".join(map(_value, _ONE.findall(row[0]))) for row in _ROW.finditer(text)}
    backwards = digits[::-1] in rows and _REVERSED.search(text) is not None
    return digits in rows or backwards or _by_place(text, digits)


def _by_place(text: str, digits: str) -> bool:
    told = defaultdict[int, set[str]](set)
    for one, other in pairwise(_PART.finditer(text)):
        place, digit = one["place"] or other["place"], one["digit"] or other["digit"]
        between = text[one.end() : other.start()]
        if place and digit and len(between) <= _FARTHEST and _BETWEEN.fullmatch(between):
            told[_from_the_left(place.replace("-", " "), len(digits))].add(_value(digit))
    return all(digit in told[at] for at, digit in enumerate(digits))


def _from_the_left(place: str, count: int) -> int:
    """Return at which of so many digits a place is; -1 for none."""
    if place == "middle":
        return count // 2 if count % 2 else -1
    if place in _FROM_THE_LEFT:
        return _FROM_THE_LEFT[place]
    return max(count - 1 - _FROM_THE_RIGHT[place], -1)


def _value(digit: str) -> str:
    return _VALUES.get(digit, digit)
