"""Morse: what stands for letters and digits, and the signs that people write it with."""

import re

LETTERS = {
    ".-": "a", "-...": "b", "-.-.": "c", "-..": "d", ".": "e", "..-.": "f", "--.": "g",
    "....": "h", "..": "i", ".---": "j", "-.-": "k", ".-..": "l", "--": "m", "-.": "n",
    "---": "o", ".--.": "p", "--.-": "q", ".-.": "r", "...": "s", "-": "t", "..-": "u",
    "...-": "v", ".--": "w", "-..-": "x", "-.--": "y", "--..": "z",
}  # fmt: skip
DIGITS = {
    **{"." * dots + "-" * (5 - dots): str(dots) for dots in range(5)},
    **{"-" * dashes + "." * (5 - dashes): str(5 + dashes) for dashes in range(5)},
}
SIGNS = re.compile(r"[.-]+")
_ALIKE = str.maketrans("·•∙⋅*‐‑‒–—―−_", "....." + "-" * 8)


def plain(text: str) -> str:
    """Return a text with '.' and '-' for all that dots and dashes may be written with."""
    return text.translate(_ALIKE)
