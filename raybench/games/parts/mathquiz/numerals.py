"""Whether a text holds a number in other bases or in Roman numerals."""

import re

_BASED = re.compile(r"0x[0-9a-f]+|0b[01]+|0o[0-7]+")
_PREFIXES = {"0x": 16, "0b": 2, "0o": 8}
_NAMED = {"binary": 2, "octal": 8, "hex": 16, "hexadecimal": 16}
_NUMBERS = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
_BASES = {word: base for base, word in enumerate(_NUMBERS, start=2)}
_OF_BASE = re.compile(
    rf"\b(?:base|radix)(?: of)?[ _-]?(?P<base>\d{{1,2}}|{'|'.join(sorted(_NUMBERS)[::-1])})(?!\w)"
    rf"|\b(?P<name>{'|'.join(sorted(_NAMED)[::-1])})\b"
)
"""Words that name a base: of the others no numeral is looked for, as triangles have bases too."""
_TOKEN = re.compile(r"[a-z0-9]+")
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
          (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_LARGEST_ROMAN = 3_999
_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
_LONG_BINARY = 7


def in_base(text: str, number: int) -> bool:
    """Tell whether a text in lower case holds the number in a base other than ten."""
    if any(int(it[2:], _PREFIXES[it[:2]]) == number for it in _BASED.findall(text)):
        return True
    binary = f"{number:b}"
    tokens = set(_TOKEN.findall(text))
    if len(binary) >= _LONG_BINARY and binary in tokens:
        return True
    bases = {_base(found) for found in _OF_BASE.finditer(text)}
    return any(_written(number, base) in tokens for base in bases if 2 <= base <= 36)


def _base(found: re.Match[str]) -> int:
    """Return the base that words name."""
    if found["name"]:
        return _NAMED[found["name"]]
    return _BASES.get(found["base"]) or int(found["base"])


def _written(number: int, base: int) -> str:
    written = ""
    while number:
        number, digit = divmod(number, base)
        written = _ALPHABET[digit] + written
    return written


def in_roman(text: str, number: int) -> bool:
    """Tell whether a text in lower case holds the number in Roman numerals."""
    if number > _LARGEST_ROMAN:
        return False
    roman, left = "", number
    for value, letters in _ROMAN:
        roman += letters * (left // value)
        left %= value
    return len(roman) > 1 and roman in _TOKEN.findall(text)
