"""Whether a text holds a number in other bases or in Roman numerals."""

import re

from raybench.games.parts.numbers import WORDS

_BASED = re.compile(r"0x[0-9a-f]+|0b[01]+|0o[0-7]+")
_PREFIXES = {"0x": 16, "0b": 2, "0o": 8}
_NAMED = {"binary": 2, "octal": 8, "hex": 16, "hexadecimal": 16}
_NUMBERS = WORDS[2:]
_BASES = {word: base for base, word in enumerate(_NUMBERS, start=2)}
_OF_BASE = re.compile(
    rf"\b(?:base|radix)(?: of)?[ _-]?(?P<base>\d{{1,2}}|{'|'.join(sorted(_NUMBERS)[::-1])})(?!\w)"
    rf"|\b(?P<name>{'|'.join(sorted(_NAMED)[::-1])})\b"
)
"""Words that name a base: of the others no numeral is looked for, as triangles have bases too."""
_TOKEN = re.compile(r"[a-z0-9]+")
_INDEXED = re.compile(r"(?<![a-z0-9])([a-z0-9]+)\)?_\{?(\d{1,2})(?!\d)")
"""A numeral with its base as an index: '1004_7', '(1004)_{7}'."""
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
          (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_ADDED = {"cm": "dcccc", "cd": "cccc", "xc": "lxxxx", "xl": "xxxx", "ix": "viiii", "iv": "iiii"}
"""How clocks have it: nothing is taken away."""
_LARGEST_ROMAN = 3_999
_FEWEST_DIGITS = 3
_BETWEEN = r"[\s,;./|-]{1,3}"
_SPOKEN_OF = re.compile(r"\b(?:roman|numerals?)\b", re.IGNORECASE)
_NAMES = re.compile(r"\b(?=[A-Z]*[^MDCLXVI\W\d_a-z])[A-Z]{2,5}\b")
"""Letters that name points, or are shouted: two of them that are numerals may do so, too."""
_ORDINARY = frozenset({"div", "Div", "dix", "Dix", "mix", "Mix", "xxx"})
_LONGEST_ORDINARY = 3
_AMOUNT = re.compile(r"\d[ -]?$")
_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
_LONG_BINARY = 7


def in_base(text: str, number: int) -> bool:
    """Tell whether a text in lower case holds the number in a base other than ten."""
    if any(int(it[2:], _PREFIXES[it[:2]]) == number for it in _BASED.findall(text)):
        return True
    binary = f"{number:b}"
    tokens = set(_TOKEN.findall(text))
    if len(binary) >= _LONG_BINARY and (binary in tokens or _grouped(text, binary)):
        return True
    bases = {_base(found) for found in _OF_BASE.finditer(text)}
    written = {_written(number, base) for base in bases if 2 <= base <= 36}
    if tokens & written or any(_grouped(text, it) for it in written if it.isdecimal()):
        return True
    indexed = {(it, int(base)) for it, base in _INDEXED.findall(text)}
    return any(2 <= base <= 36 and it == _written(number, base) for it, base in indexed)


def _grouped(text: str, numeral: str) -> bool:
    """Tell whether a text holds a numeral with gaps in it."""
    return re.search(rf"(?<![\w.]){'[ _]?'.join(numeral)}(?!\w|\.\d)", text) is not None


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


def in_roman(text: str, number: int) -> tuple[int, int] | None:
    """Return where a text holds the number in Roman numerals, and means them; None for nowhere.

    It may be one numeral, or one each for three digits or more. What is also a unit, a word, a
    differential or the name of a line is meant as such, unless the text speaks of numerals: '15
    cm', 'mix', 'x dx', 'the sides AB and CD'.
    """
    if number > _LARGEST_ROMAN or len(roman := _roman(number)) < 2:
        return None
    spoken_of, names = _SPOKEN_OF.search(text), _NAMES.search(text) is not None
    forms = _added(roman)
    digits = str(number)
    if len(digits) >= _FEWEST_DIGITS and "0" not in digits:
        forms += "|" + _BETWEEN.join(_added(_roman(int(digit))) for digit in digits)
    all_ = re.finditer(rf"(?<![^\W_])(?<!\\)(?:{forms})(?![^\W_])", text, re.IGNORECASE)
    meant = (it.span() for it in all_ if spoken_of or not _is_ordinary(it, names))
    return next(meant, None)


def _is_ordinary(found: re.Match[str], names: bool) -> bool:
    """Tell whether the letters of a numeral are likely to mean something else."""
    letters, before = found[0], found.string[max(found.start() - 2, 0) : found.start()]
    if len(letters) > _LONGEST_ORDINARY:
        return False
    if len(letters) == 2 and (names or not letters.isupper()):
        return True
    return letters in _ORDINARY or _AMOUNT.search(before) is not None


def _added(roman: str) -> str:
    """Return what matches a numeral, whether or not it takes away."""
    return re.sub("|".join(_ADDED), lambda pair: f"(?:{pair[0]}|{_ADDED[pair[0]]})", roman)


def _roman(number: int) -> str:
    written, left = "", number
    for value, letters in _ROMAN:
        written += letters * (left // value)
        left %= value
    return written
