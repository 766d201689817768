r"""Whether a question states a number, however it is written.

Looked for are its digits (in any script, grouped, spaced out, reversed, with zeros around them, as
a power of ten), English words and no others, simple fractions, Roman numerals, other bases, and
digits or words in base64, hex or the escapes of HTML, URLs and programs. Nothing is worked out: a
question like '11^2 + 2' may be too easy, which is its writer's loss, but it states nothing.

The text is only compared; none of it is evaluated.
"""

import base64
import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from fractions import Fraction
from urllib.parse import unquote

from raybench.games.parts.mathquiz import words

_ESCAPED = re.compile(r"\\(?:u00|x)([0-7][0-9a-fA-F])")
_RAISED = re.compile("[⁰¹²³⁴-⁹]+")
_THIN = re.compile(r"\{,\}|\\[,!;: ]")
_LATEX = re.compile(r"\\[dt]?frac\s*\{\s*(\d+)\s*\}\s*\{\s*(\d+)\s*\}")
_TIMES = re.compile(r"\\times|\\cdot|[×·⋅]")
_DIGITS = re.compile(r"\d+")
_TIGHT = re.compile(r"(?:\*\*|(?![+*×÷/^=<>%!])[\W_]){1,3}")
"""What may stand between digits that are to be read in a row: Markdown may, operators may not."""
_FRACTION = re.compile(r"(\d{1,30})\s*[/÷⁄]\s*(\d{1,30})")
_POWER = re.compile(r"(\d{1,30}(?:\.\d{1,30})?)(?:e|\s*[x*]\s*10\s*\^\s*\{?)\s*([-+]?\d{1,3})")
_BASED = re.compile(r"0x[0-9a-f]+|0b[01]+|0o[0-7]+")
_PREFIXES = {"0x": 16, "0b": 2, "0o": 8}
_OF_BASES = re.compile(r"\b(?:base|radix|binary|octal|hex\w*)\b")
_TOKEN = re.compile(r"[a-z0-9]+")
_CODED = re.compile(r"[A-Za-z0-9+/]{4,}")
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
          (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_LARGEST_ROMAN = 3_999
_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
_LONG_BINARY = 7


def how(question: str, number: int) -> str | None:
    """Return how a question states a number of two digits or more; None where it does not."""
    shown = _plain(_ESCAPED.sub(_unescaped, html.unescape(unquote(question))))
    text = shown.lower()
    return (
        _openly(text, number)
        or ("as a fraction" if _as_fraction(text, number) else None)
        or ("as a power of ten" if _as_power(text, number) else None)
        or ("in another base" if _in_base(text, number) else None)
        or ("in Roman numerals" if _in_roman(text, number) else None)
        or ("in code" if any(_openly(it.lower(), number) for it in _decoded(shown)) else None)
    )


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16))


def _openly(text: str, number: int) -> str | None:
    digits, rows = str(number), [*_rows(text)]
    if any(_reads(row, digits) for row in rows):
        return "in digits"
    if number % 10 and any(_reads(row, digits[::-1]) for row in rows):
        return "in reversed digits"
    return "in words" if digits in words.values(text) else None


def _plain(question: str) -> str:
    """Return a text in plain characters, without those that nobody sees."""
    text = _TIMES.sub("*", _THIN.sub("", _RAISED.sub(lambda raised: f"^{raised[0]}", question)))
    text = unicodedata.normalize("NFKC", _LATEX.sub(r"\1/\2", text))
    seen = (each for each in text if unicodedata.category(each) not in ("Cf", "Mn", "Me"))
    return "".join(_digit(each) for each in seen)


def _digit(character: str) -> str:
    value = None if character.isascii() else unicodedata.decimal(character, None)
    return character if value is None else str(value)


def _rows(text: str) -> Iterator[list[str]]:
    """Yield the groups of digits that can be read in a row."""
    row, end = list[str](), 0
    for found in _DIGITS.finditer(text):
        if row and not _TIGHT.fullmatch(text, end, found.start()):
            yield row
            row = []
        row.append(found[0])
        end = found.end()
    if row:
        yield row


def _reads(row: list[str], digits: str) -> bool:
    """Tell whether some groups next to one another read so, zeros in front aside."""
    for begin in range(len(row)):
        read = ""
        for group in row[begin:]:
            read = (read + group).lstrip("0")
            if read == digits:
                return True
            if not read or len(read) > len(digits):
                break
    return False


def _as_fraction(text: str, number: int) -> bool:
    return any(int(a) == number * int(b) != 0 for a, b in _FRACTION.findall(text))


def _as_power(text: str, number: int) -> bool:
    return any(Fraction(a) * Fraction(10) ** int(n) == number for a, n in _POWER.findall(text))


def _in_base(text: str, number: int) -> bool:
    if any(int(it[2:], _PREFIXES[it[:2]]) == number for it in _BASED.findall(text)):
        return True
    binary = f"{number:b}"
    tokens = set(_TOKEN.findall(text))
    if len(binary) >= _LONG_BINARY and binary in tokens:
        return True
    named = _OF_BASES.search(text) is not None
    return named and any(_written(number, base) in tokens for base in range(2, 37))


def _written(number: int, base: int) -> str:
    written = ""
    while number:
        number, digit = divmod(number, base)
        written = _ALPHABET[digit] + written
    return written


def _in_roman(text: str, number: int) -> bool:
    if number > _LARGEST_ROMAN:
        return False
    roman, left = "", number
    for value, letters in _ROMAN:
        roman += letters * (left // value)
        left %= value
    return len(roman) > 1 and roman in _TOKEN.findall(text)


def _decoded(text: str) -> Iterable[str]:
    """Yield what parts of a text come to as base64 or as bytes in hex, where that is text."""
    for token in _CODED.findall(text):
        for decode in (_from_base64, bytes.fromhex):
            try:
                yield decode(token).decode("ascii")
            except ValueError:
                continue


def _from_base64(token: str) -> bytes:
    return base64.b64decode(token + "=" * (-len(token) % 4))
