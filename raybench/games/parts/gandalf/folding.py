"""Texts as plain letters, however these are written: case, accents, look-alikes, hidden signs."""

import re
import unicodedata

_ALIKE = {
    "а": "a", "в": "b", "с": "c", "ԁ": "d", "е": "e", "ғ": "f", "ɡ": "g", "һ": "h", "н": "h",
    "і": "i", "ј": "j", "к": "k", "ӏ": "l", "м": "m", "п": "n", "о": "o", "р": "p", "ԛ": "q",
    "г": "r", "ѕ": "s", "т": "t", "и": "u", "ѵ": "v", "ԝ": "w", "ш": "w", "х": "x", "у": "y",
    "α": "a", "β": "b", "ϲ": "c", "δ": "d", "ε": "e", "η": "n", "ι": "i", "κ": "k", "λ": "l",
    "μ": "m", "ν": "v", "ο": "o", "π": "p", "ρ": "p", "σ": "s", "ς": "s", "τ": "t", "υ": "u",
    "χ": "x", "γ": "y", "ζ": "z", "ω": "w",
    "ı": "i", "ȷ": "j", "ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "æ": "ae",
    "œ": "oe", "ɑ": "a", "ɩ": "i", "ɴ": "n", "ʀ": "r", "ʟ": "l", "ɪ": "i", "ʙ": "b", "ɢ": "g",
    "ʜ": "h", "ʏ": "y", "ᴀ": "a", "ᴄ": "c", "ᴅ": "d", "ᴇ": "e", "ᴊ": "j", "ᴋ": "k", "ᴍ": "m",
    "ᴏ": "o", "ᴘ": "p", "ᴛ": "t", "ᴜ": "u", "ᴠ": "v", "ᴡ": "w", "ᴢ": "z", "ꜰ": "f", "ꜱ": "s",
    "ɐ": "a", "ɔ": "c", "ǝ": "e", "ɟ": "f", "ƃ": "g", "ɥ": "h", "ᴉ": "i", "ɾ": "j", "ʞ": "k",
    "ɯ": "m", "ɹ": "r", "ʇ": "t", "ʌ": "v", "ʍ": "w", "ʎ": "y",
}  # fmt: skip
"""Letters that read as Latin ones: Cyrillic, Greek, small capitals, letters on their heads."""
_ROWS = (0x1F1E6, 0x1F130, 0x1F150, 0x1F170, 0x1F110, 0xE0061, 0xE0041)
"""Where alphabets of signs begin: flags, letters in squares and circles, and invisible tags."""
_BRAILLE = "⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
_TABLE = str.maketrans(
    {chr(first + at): letter for first in _ROWS for at, letter in enumerate(LETTERS)}
    | dict(zip(_BRAILLE, LETTERS, strict=True))
    | _ALIKE
)
_OTHER = re.compile(r"[^a-z]+")


def folded(text: str) -> str:
    """Return the text in lower case, with plain letters and digits for all that look like them."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text).casefold().translate(_TABLE)
    return "".join(map(_simple, plain))


def letters(text: str) -> str:
    """Return only the letters a to z of a folded text."""
    return _OTHER.sub("", text)


def _simple(character: str) -> str:
    """Return a digit for a digit of any script, and nothing for accents and what is not shown."""
    if character.isascii():
        return character
    if unicodedata.combining(character) or unicodedata.category(character) == "Cf":
        return ""
    digit = unicodedata.decimal(character, None)
    return character if digit is None else str(digit)
