"""Moves in words, put into notation: 'knight takes e5', 'pawn to e8, becoming a queen'."""

import re

_LETTERS = {"pawn": "P", "knight": "N", "bishop": "B", "rook": "R", "queen": "Q", "king": "K"}
_NAME = f"(?:{'|'.join(_LETTERS)})"
_SPOKEN = re.compile(rf"\b(?:{_NAME}|takes?|captures?|castl(?:es?|ing))\b", re.IGNORECASE)
_FILLERS = re.compile(r"\b(?:i|on|to|the)\b")
_STEPS = tuple(
    (re.compile(pattern), into)
    for pattern, into in (
        (r"\b(?:and|with)\s+(?=check|mate)", ""),  # notation drops the rest of it
        (  # what a pawn becomes, in a sentence or behind its square, as in 'e8 queen'
            r"[\s,;]*(?:\band\s+)?\b(?:promot(?:es?|ing)|becom(?:es?|ing))\b"
            rf"(?:\s+(?:in)?to)?(?:\s+an?)?\s+({_NAME})\b",
            r"=\1",
        ),
        (rf"\b(?:i|the|my|an?(?=\s+{_NAME})|plays?|moves?|goes|from|on|at)\b", ""),
        # 'e pawn' and 'g1 knight', where a square is still to come
        (rf"\b([a-h][1-8]?)[\s-]+({_NAME})\b(?=.*[a-h][1-8])", r"\2 \1"),
        (rf"(?<=[a-h][18])\s*[=/]?\s*\(?({_NAME})\)?(?!\w)", r"=\1"),
        (r"\b(?:takes?|captures?)\b", " x "),
    )
)
_VICTIM = re.compile(rf"x\s*({_NAME})\s+(?=[a-h][1-8])")
_NAMES = re.compile(rf"\b{_NAME}\b")


def noted(text: str) -> tuple[str, str]:
    """Return a move that is told in words in notation, and the piece that it is said to take.

    Any other text is returned as it is; the piece is '' where none is named.
    """
    if not _SPOKEN.search(text):
        return text, ""
    low = text.lower()
    if "castl" in low:
        return _FILLERS.sub("", low), ""
    for pattern, into in _STEPS:
        low = pattern.sub(into, low)
    victim = _VICTIM.search(low)
    low = _VICTIM.sub("x", low)
    return _NAMES.sub(lambda name: _LETTERS[name[0]], low), victim[1] if victim else ""
