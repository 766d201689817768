"""What a message holds in the encodings that computers use."""

import base64
import html
import re
from collections.abc import Iterator
from urllib.parse import unquote

from raybench.games.parts.gandalf.folding import folded, letters

_PREFIX = re.compile(r"\\u|u\+|&#x|\\x|0x")
_TOKEN = re.compile(r"[0-9a-z]+")
_HEX = re.compile(r"(?:[0-9a-f]{2})+")
_BITS = re.compile(r"[01]+")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+")
_BASE32 = re.compile(r"\b[A-Z2-7]{8,}")
_LONG, _LAYERS = 8, 2
"""So many letters of base64 at least may hold more of it, so many times."""
_URLSAFE = str.maketrans("-_", "+/")


def decoded(text: str, low: str) -> Iterator[str]:
    """Yield the letters that a message, also given folded, stands for as code."""
    for plain in (unquote(text), html.unescape(text)):
        if plain != text:
            yield letters(folded(plain))
    yield from (read(code) for code in _bytes(text, low))
    for inner in _within(text):
        yield from (read(code) for code in _bytes(inner, inner.lower()))
    yield from _bits(low)


def _within(text: str) -> Iterator[str]:
    """Yield the texts that a message holds in base64, and those that these hold so."""
    for _ in range(_LAYERS):
        tokens = _BASE64.findall(text.translate(_URLSAFE))
        codes = (base64.b64decode(_padded(token, 4)) for token in tokens if len(token) >= _LONG)
        plain = (code.decode("ascii") for code in codes if code.isascii())
        text = " ".join(it for it in plain if "".join(it.split()).isprintable()).strip()
        if not text:
            return
        yield text


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
        yield read(bytes(int(token, 2) for token in tokens if 6 <= len(token) <= width))
        bits = "".join(tokens)
        for start in range(width if len(bits) > 6 * width else 0):
            ends = range(start, len(bits) - width + 1, width)
            yield read(bytes(int(bits[at : at + width], 2) for at in ends))


def read(code: bytes) -> str:
    """Return the letters among bytes."""
    return letters(code.decode("latin-1").lower())
