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
_WRAPPED = re.compile(r"\s*(?:\\(?:text|textbf|mathrm|boxed)\s*)?(?:\(([^()]*)\)|\{([^{}]*)\})\s*")
_MARKS = " \t\r\n*_`~\"'“”‘’$"
_BEFORE = re.compile(
    r"[\s*_]*(?:(?P<side>white|black)(?:\s*:|\s+plays?\b)|(?:i(?:['’]ll|\s+will)?\s+)?play\b"
    r"|(?:my\s+)?(?:next\s+)?move(?:\s+is\b|\s*:))[\s:*_]*",
    re.IGNORECASE,
)
_BISHOP = re.compile(r"\bB(?=\s*(?:takes?|captures?)\b)")
_VICTIM = re.compile(rf"x\s*({_NAME})\s+(?=[a-h][1-8])")
_NAMES = re.compile(rf"\b{_NAME}\b")


def unwrapped(text: str) -> tuple[bool | None, str]:
    """Return the side that a move is said to be made by, if any, and the move itself.

    It may stand in brackets, or behind words that only announce it: 'White: e4', 'I play e4'.
    """
    if found := _WRAPPED.fullmatch(text.strip(_MARKS)):
        text = found[1] or found[2] or ""
    said = _BEFORE.match(text)
    if said is None:
        return None, text
    side = said["side"].lower() == "white" if said["side"] else None
    return side, text[said.end() :]


def noted(text: str) -> tuple[str, str]:
    """Return a move that is told in words in notation, and the piece that it is said to take.

    Any other text is returned as it is; the piece is '' where none is named.
    """
    if not _SPOKEN.search(text):
        return text, ""
    if text != text.upper():  # in a text that is shouted, B is the file as well
        text = _BISHOP.sub("bishop", text)
    low = text.lower()
    if "castl" in low:
        return _FILLERS.sub("", low), ""
    for pattern, into in _STEPS:
        low = pattern.sub(into, low)
    victim = _VICTIM.search(low)
    low = _VICTIM.sub("x", low)
    return _NAMES.sub(lambda name: _LETTERS[name[0]], low), victim[1] if victim else ""
