"""Numbers that stand for letters, in digits and in words: by their place, or as computers do."""

import re
from collections.abc import Iterator, Sequence

from raybench.games.parts.gandalf.codes import read
from raybench.games.parts.gandalf.folding import LETTERS
from raybench.games.parts.numbers import WORDS

_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
    "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth",
    "seventeenth", "eighteenth", "nineteenth", "twentieth",
)  # fmt: skip
_CARDINAL = {word: value for value, word in enumerate(WORDS)}
ORDINAL = {word: value for value, word in enumerate(_ORDINALS, start=1)}
_UNIT = "|".join((*_ORDINALS[:9], *WORDS[1:10]))
_LONGEST_FIRST = "|".join(sorted((*WORDS, *_ORDINALS), key=len, reverse=True))
_NUMBER = re.compile(rf"\btwenty[ -](?P<unit>{_UNIT})\b|\b(?P<word>{_LONGEST_FIRST})\b|[0-9]+")
MIRROR = str.maketrans(LETTERS, LETTERS[::-1])
"""Each letter's place from the other end."""
APART = str.maketrans({letter: f"t{unit}" for letter, unit in zip("uvwxyz", "abcdef", strict=True)})
"""Letters as 'twenty one' has them where that is read as two numbers."""
_DIGITS = re.compile(r"[0-9]+")


def numbered(low: str) -> Iterator[str]:
    """Yield the letters for which the numbers of a folded message stand."""
    digits = _DIGITS.findall(low)
    yield from lettered([int(each) for each in digits if len(each) <= 3])
    octal = [int(each, 8) for each in digits if len(each) == 3 and not {*each} & {"8", "9"}]
    yield read(bytes(value for value in octal if value < 256))
    found = [_value(each) for each in _NUMBER.finditer(low)]
    if any(in_words for _, in_words, _ in found):
        short = [each for each in found if each[0] < 1000]
        for counting in ((False,), (True,), (False, True)):
            yield from lettered([value for value, _, ordinal in short if ordinal in counting])
        if "twenty" in low:
            yield from lettered([part for value, _, _ in short for part in _apart(value)])


def _value(found: re.Match[str]) -> tuple[int, bool, bool]:
    """Return a number, whether it is in words, and whether it says which rather than how many."""
    word = found["unit"] or found["word"]
    if not word:
        return int(found[0][:4]), False, False
    value = ORDINAL[word] if word in ORDINAL else _CARDINAL[word]
    return value + (20 if found["unit"] else 0), True, word in ORDINAL


def _apart(value: int) -> tuple[int, ...]:
    """Return a number as the words for it have it: 'twenty three' may be two numbers."""
    return (20, value - 20) if 20 < value < 30 else (value,)


def lettered(values: Sequence[int]) -> Iterator[str]:
    """Yield the letters for numbers, from both ends; every other one may only count them."""
    for some in (values, values[::2], values[1::2]):
        for first in (0, 1):
            in_list = (value for value in some if first <= value < first + 26)
            forwards = "".join(chr(ord("a") + value - first) for value in in_list)
            yield forwards
            yield forwards.translate(MIRROR)
        yield read(bytes(value for value in some if value < 256))
