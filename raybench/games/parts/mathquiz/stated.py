r"""Whether a question states a number, however it is written.

Looked for are its digits (in any script, grouped, spaced out, reversed, one after another or by
their places, in pieces that are to be joined, with zeros around them, as a power of ten, in Morse,
with letters that look like them, as codes of characters), words in English, Spanish, Portuguese,
Italian, French, German and Dutch, simple fractions, Roman numerals (one, or one each for three
digits or more), other bases that are named or shown, binary of 7 digits or more without that, and
digits or words in base64, hex or the escapes of HTML, URLs and programs. Nothing is worked out: a
question like '11^2 + 2' may be too easy, which is its writer's loss, but it states nothing.

Not seen, as questions that state nothing look the same or it would take too much to tell them
apart: short Roman numerals that may be units, words or names of lines (`numerals.py` says which),
words of further languages, ordinals and numbers from a million on in languages other than
English, the French 'cent' by itself (it is a coin, too), a look-alike letter at a number's end
(a unit or a degree), digits one by one with other words between than 'and', 'then' and such, and
these reversed, pieces and codes of characters where no word tells that they are such.

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
from raybench.games.parts.mathquiz.digit_by_digit import digit_by_digit
from raybench.games.parts.mathquiz.disguised import disguised
from raybench.games.parts.mathquiz.foreign import named
from raybench.games.parts.mathquiz.joined import joined
from raybench.games.parts.mathquiz.numerals import in_base, in_roman
from raybench.games.parts.quoting import echoed

_ESCAPED = re.compile(r"\\(?:u00|x)([0-7][0-9a-fA-F])")
_RAISED = re.compile("[⁰¹²³⁴-⁹]+")
_LOWERED = re.compile("[₀-₉]+")
_THIN = re.compile(r"\{,\}|\\[,!;: ]")
_LATEX = re.compile(r"\\[dt]?frac\s*\{\s*(\d+)\s*\}\s*\{\s*(\d+)\s*\}")
_TIMES = re.compile(r"\\times|\\cdot|[×·⋅]")
_DIGITS = re.compile(r"\d+")
_TIGHT = re.compile(r"(?:\*\*|\*[,;]?\s\*|(?![+*×÷/^=<>%!])[\W_]){1,3}")
"""What may stand between digits that are to be read in a row: Markdown may, operators may not."""
_FRACTION = re.compile(r"(\d{1,30})\s*[/÷⁄]\s*(\d{1,30})")
_POWER = re.compile(r"(\d{1,30}(?:\.\d{1,30})?)(?:e|\s*[x*]\s*10\s*\^\s*\{?)\s*([-+]?\d{1,3})")
_SMALL_ROMAN = {sign: sign - 16 for sign in range(ord("ⅰ"), ord("ⅿ") + 1)}
"""Signs that are nothing but numerals, in capitals: those are never taken for units."""
_CODED = re.compile(r"[A-Za-z0-9+/]{4,}")


def how(question: str, number: int) -> str | None:
    """Return how a question states a number of two digits or more; None where it does not."""
    shown = _plain(_ESCAPED.sub(_unescaped, html.unescape(unquote(question))))
    text = shown.lower()
    return (
        _openly(shown, number)
        or ("digit by digit" if digit_by_digit(text, str(number)) else None)
        or ("in pieces" if joined(text, number) else None)
        or disguised(text, str(number))
        or ("in words of another language" if named(text, number) else None)
        or ("as a fraction" if _as_fraction(text, number) else None)
        or ("as a power of ten" if _as_power(text, number) else None)
        or ("in another base" if in_base(text, number) else None)
        or _there("in Roman numerals", shown, in_roman(shown, number))
        or ("in code" if any(_openly(it, number) for it in _decoded(shown)) else None)
    )


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16))


def _openly(text: str, number: int) -> str | None:
    digits, rows = str(number), [*_rows(text)]
    return (
        _there("in digits", text, _read(rows, digits))
        or _there("in reversed digits", text, _read(rows, digits[::-1]) if number % 10 else None)
        or ("in words" if digits in words.values(text.lower()) else None)
    )


def _there(way: str, text: str, where: tuple[int, int] | None) -> str | None:
    """Return the way in which a number is stated, with the piece of the text that does so."""
    return where and f"{way} ('{echoed(text[slice(*where)])}')"


def _plain(question: str) -> str:
    """Return a text in plain characters, without those that nobody sees."""
    question = question.translate(_SMALL_ROMAN)
    question = _RAISED.sub(lambda raised: f"^{raised[0]}", question)
    question = _LOWERED.sub(lambda lowered: f"_{lowered[0]}", question)
    text = _TIMES.sub("*", _THIN.sub("", question))
    text = unicodedata.normalize("NFKC", _LATEX.sub(r"\1/\2", text))
    seen = (each for each in text if unicodedata.category(each) not in ("Cf", "Mn", "Me"))
    return "".join(_digit(each) for each in seen)


def _digit(character: str) -> str:
    value = None if character.isascii() else unicodedata.decimal(character, None)
    return character if value is None else str(value)


def _rows(text: str) -> Iterator[list[re.Match[str]]]:
    """Yield the groups of digits that can be read in a row."""
    row = list[re.Match[str]]()
    for found in _DIGITS.finditer(text):
        if row and not _TIGHT.fullmatch(text, row[-1].end(), found.start()):
            yield row
            row = []
        row.append(found)
    if row:
        yield row


def _read(rows: Iterable[list[re.Match[str]]], digits: str) -> tuple[int, int] | None:
    """Return where some groups next to one another read so, zeros in front aside."""
    for row in rows:
        for begin, first in enumerate(row):
            read = ""
            for group in row[begin : begin + len(digits)]:
                read = (read + group[0]).lstrip("0")
                if read == digits:
                    return first.start(), group.end()
                if not read or len(read) > len(digits):
                    break
    return None


def _as_fraction(text: str, number: int) -> bool:
    return any(int(a) == number * int(b) != 0 for a, b in {*_FRACTION.findall(text)})


def _as_power(text: str, number: int) -> bool:
    powers = {*_POWER.findall(text)}  # each once: fractions are slow
    return any(Fraction(a) * Fraction(10) ** int(n) == number for a, n in powers)


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
