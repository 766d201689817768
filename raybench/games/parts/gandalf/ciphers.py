"""Ciphers that need no key: five signs or two digits a letter, telephone keys, letters between."""

import re
from collections.abc import Iterator

from raybench.games.parts.gandalf.numbers import lettered

_FIVES = re.compile(r"(?<![a-z0-9])(?:[01]{5}|[ab]{5})+(?![a-z0-9])")
"""Binary, and Bacon's cipher, which is the same in two letters."""
_BITS = str.maketrans("ab", "01")
_ROMAN = re.compile(r"(?<![\w'’])(?=[ivx])x{0,2}(?:ix|iv|v?i{0,3})(?![\w'’])")
_ROMAN_ONES = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
_COORDINATES = re.compile(r"(?<!\d)(?:[1-5]{2})+(?!\d)")
_SQUARE = "abcdefghiklmnopqrstuvwxyz"
"""Row by row, as Polybius has it; i is j, too."""
_ON_KEYS = ("abc", "def", "ghi", "jkl", "mno", "pqrs", "tuv", "wxyz")
_PRESSED = re.compile(r"(?<!\d)([2-9])\1{0,3}(?!\d)")
_DIALLED = re.compile(r"[2-9](?:,?[\s-]?[2-9]){6,}")
_NO_DIGIT = re.compile(r"\D+")
_LONG = re.compile(r"[a-z]{13,}")
"""Words that can hold a password with as many letters between its own."""

KEYS = str.maketrans(
    {letter: str(key) for key, some in enumerate(_ON_KEYS, start=2) for letter in some}
)
"""The key that each letter is on."""


def deciphered(low: str, single: str) -> Iterator[str]:
    """Yield what a folded message, and its letters that stand alone, are in these ciphers.

    What is dialled, once a letter, comes in digits: a key has several letters.
    """
    fives = "".join(_FIVES.findall(low)).translate(_BITS)
    yield from lettered([int(fives[at : at + 5], 2) for at in range(0, len(fives), 5)])
    yield from lettered([_roman(found) for found in _ROMAN.findall(low)])
    pairs = "".join(_COORDINATES.findall(low))
    yield "".join(
        _SQUARE[5 * int(pairs[at]) + int(pairs[at + 1]) - 6] for at in range(0, len(pairs), 2)
    )
    yield "".join(_pressed(found) for found in _PRESSED.finditer(low))
    yield from (_NO_DIGIT.sub("", found) for found in _DIALLED.findall(low))
    for word in (single, *_LONG.findall(low)):
        yield word[::2]
        yield word[1::2]


def _roman(numeral: str) -> int:
    ones = numeral.lstrip("x")
    return 10 * (len(numeral) - len(ones)) + _ROMAN_ONES.index(ones)


def _pressed(found: re.Match[str]) -> str:
    """Return the letter for a key that is pressed so often."""
    letters, times = _ON_KEYS[int(found[1]) - 2], len(found[0])
    return letters[times - 1] if times <= len(letters) else ""
