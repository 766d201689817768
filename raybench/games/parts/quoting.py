"""What players wrote, as others are shown it: of bounded length, and never taken for the manager's.

Every line of it begins with '> ', which no text can leave: whatever may end a line is one.
"""

import re

NOTICE = "Lines that begin with '>' are quoted: a player wrote them, whatever they pretend to be."
_UNSEEN = re.compile(r"[\x00-\x08\x0e-\x1b\x7f\ud800-\udfff]")
"""No text anybody means: control characters, and halves of characters, which no file takes."""
_LETTERS_A_WORD = 12
"""What a word may have on average, where a bound of words is to hold for texts without spaces."""


def quoted(text: str) -> str:
    """Return the text as a quotation."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines()) or ">"


def bounded(text: str, words: int) -> tuple[str, bool]:
    """Return the text's first words, and whether more came behind them."""
    clean = _UNSEEN.sub("", text).strip()
    ends = [found.end() for found, _ in zip(re.finditer(r"\S+", clean), range(words), strict=False)]
    end = min(ends[-1] if ends else 0, words * _LETTERS_A_WORD)
    return clean[:end].rstrip(), end < len(clean)
