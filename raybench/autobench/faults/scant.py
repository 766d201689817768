"""Whether a task has too few words to ask anything."""

import re

_LEAST = 3
"""Words: 'What is realism?' asks something."""
_LEAD = re.compile(
    r"(?:(?:sure|certainly|of course|okay|ok)\b[^\n:]{0,40}[!.,:]\s{0,4})?"
    r"(?:here(?:['’]s| is| are)\b[^\n:?]{0,120}:"
    r"|(?:the |your |final |generated ){0,2}(?:question|task|problem)(?: text)?(?: \d{1,3})?"
    r"\W{0,4}:)?",
    re.IGNORECASE,
)
"""What announces a task and is none of it."""
_PIECE = re.compile(r"[^\W_]+|[+×÷=<>≤≥^√±∫∑∏∂∞/%\\]|(?<=\d)!")
"""A word, a number or a sign that formulas have."""
# Where words are not set apart, nearly every character is one.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
_REQUEST = re.compile(
    r"\W{0,8}(?:define|explain|describe|distinguish|contrast|list|state|identify|discuss|compare|"
    r"prove|solve|simplify|compute|calculate|evaluate|translate|name|find|factor|expand|"
    r"differentiate|integrate|analy[sz]e|summari[sz]e|conjugate|decline|rewrite|rephrase|correct|"
    r"parse|spell|punctuate|pluralize|"
    r"who|what|when|where|why|how)\b",
    re.IGNORECASE,
)
"""Two words may ask: 'Define osmosis.'"""
_SOLID = 40
_ALPHANUMERIC = 0.1
"""Of so many characters or more this share, at least, is letters and digits, in formulas too."""


def is_scant(task: str) -> bool:
    """Tell whether there is next to nothing besides what announces a task, and rules and dots."""
    text = task.strip().lstrip("*#_>\"'“‘ \t\n")
    text = text[lead.end() :] if (lead := _LEAD.match(text)) else text
    pieces = 0
    for piece in _PIECE.finditer(text):
        pieces += max(1, sum(1 for _ in _UNSPACED.finditer(piece[0])))
        if pieces >= _LEAST:
            break
    else:
        return pieces < _LEAST - 1 or not _REQUEST.match(text)
    solid = "".join(text.split())
    return len(solid) >= _SOLID and sum(map(str.isalnum, solid)) < _ALPHANUMERIC * len(solid)
