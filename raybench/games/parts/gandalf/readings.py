"""What a message can be read as, besides what it says: all the letters that lie hidden in it.

Every reading takes time in proportion to the message.
"""

import base64
import html
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import unquote

from raybench.games.parts.gandalf.folding import folded, letters
from raybench.games.parts.gandalf.signs import DIGITS, DRAWN, MORSE, NAMES, NATO, SIGNS

_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)*")
_SINGLE = re.compile(r"(?<![a-z0-9'’])[a-z](?![a-z0-9'’])")
_SENTENCE = re.compile(r"(?<![.!?;:])[.!?;:]+[\"')\]]*\s+|\n+")
_MARKED = re.compile(r"(?:(\*{1,3}|_{1,2}|~~|`)(\w{1,3})\1|[(\[{<](\w)[)\]}>])")
_CAPITAL = re.compile(r"[A-Z]")
_NUMBER = re.compile(r"[0-9]+")
_PREFIX = re.compile(r"\\u|u\+|&#x|\\x|0x")
_TOKEN = re.compile(r"[0-9a-z]+")
_HEX = re.compile(r"(?:[0-9a-f]{2})+")
_BITS = re.compile(r"[01]+")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+")
_BASE32 = re.compile(r"\b[A-Z2-7]{8,}")
_MORSE = re.compile(r"[.-]+")
_STROKES = str.maketrans("·•∙⋅*‐‑‒–—―−_", "....." + "-" * 8)
_NO_SIGNS = str.maketrans(".-", "  ")
_SAID = re.compile(r"\b(?:(dot|dit|di)|(dash|dah))\b", re.IGNORECASE)
_REPEATED = re.compile(r"(.)\1+")
_STEP = [chr(ord("a") + step) for step in range(26)]
"""As letters; a step back is one from the list's end."""
_URLSAFE = str.maketrans("-_", "+/")

_SHORTEST_MORSE = 7
"""So many signs at least make it worth reading."""


class Readings(NamedTuple):
    """All that one message can be read as: letters a to z, in lines."""

    plain: str
    """All its letters."""
    single: str
    """Those that stand alone."""
    initials: str
    """The first and the last letters of words, sentences and lines; capitals; marked letters."""
    named: str
    """Letters whose names are there, and those of words of the spelling alphabet."""
    alike: str
    """With letters for the digits and signs that look like them; l is i."""
    once: str
    """With one letter for several alike."""
    coded: str
    """In the encodings that computers use, and as numbers."""
    tapped: str
    """In Morse."""
    steps: str
    """How far it is from each letter of `plain` to the next."""


@lru_cache(maxsize=256)
def readings(text: str) -> Readings:
    """Return all that a message can be read as."""
    low = folded(text)
    plain = letters(low)
    words = _WORD.findall(low)
    return Readings(
        plain,
        "".join(_SINGLE.findall(low)),
        "\n".join((*_initials(low, words), *_picked(text))),
        "\n".join(_named(words, low)),
        "\n".join(_alike(low)),
        once(plain),
        "\n".join((*_decoded(text, low), *_numbered(low))),
        "\n".join(_tapped(text)),
        steps(plain),
    )


def one_stroke(word: str) -> str:
    """Return the word with i for l: look-alikes of one may mean the other."""
    return word.replace("l", "i")


def steps(word: str) -> str:
    """Return how far it is from each letter to the next: no shift of the alphabet changes it."""
    return "".join([_STEP[end - start] for start, end in pairwise(word.encode())])


def once(word: str) -> str:
    """Return the word with every letter once where it stands several times in a row."""
    return _REPEATED.sub(r"\1", word)


def _initials(low: str, words: list[str]) -> Iterator[str]:
    sentences = map(letters, _SENTENCE.split(low))
    lines = map(letters, low.split("\n"))
    for parts in (words, [*filter(None, sentences)], [*filter(None, lines)]):
        yield "".join(part[0] for part in parts)
        yield "".join(part[-1] for part in parts)


def _picked(text: str) -> Iterator[str]:
    yield "".join(_CAPITAL.findall(text)).lower()
    yield letters(folded("".join(one or other for _, one, other in _MARKED.findall(text))))


def _named(words: list[str], low: str) -> Iterator[str]:
    yield "".join(word[0] for word in words if word in NATO)
    if "double" in low or "x-ray" in low:
        words = _WORD.findall(re.sub("(double)[ -]+|(x)-", r"\1\2", low))
        yield "".join(word[0] for word in words if word in NATO)
    yield "".join(NAMES.get(word, word if len(word) == 1 else "") for word in words)


def _alike(low: str) -> Iterator[str]:
    for drawing, letter in DRAWN:
        low = low.replace(drawing, letter)
    digits = low.translate(DIGITS)
    yield one_stroke(letters(digits))
    yield one_stroke(letters(digits.translate(SIGNS)))


def _decoded(text: str, low: str) -> Iterator[str]:
    for plain in (unquote(text), html.unescape(text)):
        if plain != text:
            yield letters(folded(plain))
    yield from (_read(code) for code in _bytes(text, low))
    yield from _bits(low)


def _numbered(low: str) -> Iterator[str]:
    """Yield the letters that numbers stand for: by their place, or as a computer's codes.

    Every other number may only count the lines.
    """
    digits = _NUMBER.findall(low)
    values = [int(each) for each in digits if len(each) <= 3]
    for some in (values, values[::2], values[1::2]):
        for first in (0, 1):
            in_list = (value for value in some if first <= value < first + 26)
            yield "".join(chr(ord("a") + value - first) for value in in_list)
        yield _read(bytes(value for value in some if value < 256))
    octal = [int(each, 8) for each in digits if len(each) == 3 and not {*each} & {"8", "9"}]
    yield _read(bytes(value for value in octal if value < 256))


def _tapped(text: str) -> Iterator[str]:
    if _SAID.search(text):
        spoken = _SAID.sub(lambda said: "." if said[1] else "-", text.translate(_NO_SIGNS))
        chunks = re.split(r"[,;:/|\n]|\s{2,}", spoken)
        yield "".join(MORSE.get("".join(_MORSE.findall(chunk)), "") for chunk in chunks)
    strokes = text.translate(_STROKES)
    if strokes.count(".") + strokes.count("-") < _SHORTEST_MORSE:
        return
    # A sentence's full stop may follow the last sign.
    for each in (strokes, re.sub(r"\.(?=\s*$)", "", strokes, flags=re.MULTILINE)):
        yield "".join(MORSE.get(signs, "") for signs in _MORSE.findall(each))


def _bytes(text: str, low: str) -> Iterator[bytes]:
    """Yield what the message is as base64, base32 and hexadecimal, wherever that begins."""
    coded = text.translate(_URLSAFE)
    for tokens, block, decode in (
        (_BASE64.findall(coded), 4, base64.b64decode),
        (_BASE32.findall(text.upper()), 8, base64.b32decode),
    ):
        joined = "".join(tokens)
        yield from (decode(_whole(joined[start:], block)) for start in range(block))
        # Each by itself, too: padding between them moves what comes after.
        yield b"".join(decode(_padded(token, block)) for token in tokens if len(token) >= block)
    tokens = _TOKEN.findall(_PREFIX.sub(" ", low))
    yield bytes.fromhex("".join(token for token in tokens if _HEX.fullmatch(token)))


def _whole(code: str, block: int) -> str:
    """Return the code in whole blocks; what fills the last one up adds nothing that is read."""
    return code + "A" * (-len(code) % block)


def _padded(code: str, block: int) -> str:
    """Return the code of one word, filled up to whole blocks; none where no filling fits."""
    left = len(code) % block
    fits = {0} | ({2, 3} if block == 4 else {2, 4, 5, 7})
    return code + "=" * (-left % block) if left in fits else ""


def _bits(text: str) -> Iterator[str]:
    """Yield what the message's zeros and ones stand for, in sevens and eights."""
    tokens = _BITS.findall(text)
    for width in (7, 8):
        yield _read(bytes(int(token, 2) for token in tokens if 6 <= len(token) <= width))
        bits = "".join(tokens)
        for start in range(width if len(bits) > 6 * width else 0):
            ends = range(start, len(bits) - width + 1, width)
            yield _read(bytes(int(bits[at : at + width], 2) for at in ends))


def _read(code: bytes) -> str:
    """Return the letters among the bytes."""
    return letters(code.decode("latin-1").lower())
