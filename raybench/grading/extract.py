"""What a response states as its answer, by the methodology's rules (seed 001).

Every function takes time in proportion to the text, whatever a model wrote.
"""

import re

_CHOICE = re.compile(r"(?i)[\*\_]{0,2}Answer[\*\_]{0,2}\s*:[\s\*\_]{0,2}\s*([A-Z])(?![a-zA-Z0-9])")
_SAYS = re.compile(r"\w")
_LONGEST = 500
"""Characters of a last line that are returned: its end, where the answer stands."""
_BOX = re.compile(r"\\boxed\s*\{")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_FENCE, _END = "```python\n", "\n```"


def choice(text: str) -> str | None:
    """Return the letter, upper-cased, of the last 'Answer: X' in the last line; None without one.

    Blank lines at the end do not count. The letter need not be one of the options.
    """
    text = text.rstrip()
    found = _last(_CHOICE, text, text.rfind("\n") + 1)
    return found[1].upper() if found else None


def boxed(text: str) -> str | None:
    r"""Return what the last `\boxed{...}` holds; None where its braces never close.

    An earlier box is not taken for one that was cut off: the model went on after it. `\{` and `\}`
    are symbols to TeX, so they neither open nor close.
    """
    opening = _last(_BOX, text, 0)
    if opening is None:
        return None
    depth = 1
    for brace in _BRACE.finditer(text, opening.end()):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return text[opening.end() : brace.start()]
    return None


def code(text: str) -> str | None:
    r"""Return the first block of Python: what the methodology's regex finds.

    `(?<=```python\n)((?:\n|.)+?)(?=\n```)` takes quadratic time where many blocks open and none
    closes; looking for the two fences finds the same. The first block counts, as a search with the
    regex has it and as SciCode's own script does: what follows is often an example of its use.
    """
    fence = text.find(_FENCE)
    if fence < 0:
        return None
    begin = fence + len(_FENCE)
    end = text.find(_END, begin + 1)  # the regex wants at least one character
    return text[begin:end] if end >= 0 else None


def last_line(text: str) -> str | None:
    """Return the last line that has a letter or a digit; None without one.

    The end of a long line is returned.
    """
    for line in reversed(text.splitlines()):
        if _SAYS.search(line):
            return line.strip()[-_LONGEST:]
    return None


def _last(pattern: re.Pattern[str], text: str, begin: int) -> re.Match[str] | None:
    last = None
    for match in pattern.finditer(text, begin):
        last = match
    return last
