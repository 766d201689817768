"""Text that models or users wrote, made safe to show: names and replies are never trusted."""

import re

# Terminals obey C0 and C1 control characters, XML forbids most of them; nobody needs to read one.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """Return text without control characters (tabs and newlines stay) and lone surrogates."""
    shown = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))
    return shown.encode("utf-8", "replace").decode("utf-8")


def one_line(text: str, most: int | None = None) -> str:
    """Return printable text on one line, cut with an ellipsis after `most` characters."""
    line = " ".join(printable(text).split())
    return line if most is None or len(line) <= most else line[: most - 1] + "…"


def short_name(name: str, most: int) -> str:
    """Return a name on one line, a long one without its middle: checkpoints differ at the end."""
    line = one_line(name)
    if len(line) <= most:
        return line
    end = most // 2
    return f"{line[: most - 1 - end]}…{line[len(line) - end :]}"


def clipped(text: str, most: int = 6000) -> str:
    """Return a text, or the beginning and the end of one that is too long to show.

    Answers stand at the end of replies, and questions at the end of prompts with examples.
    """
    left = len(text) - most
    if left <= 0:
        return text
    half = most // 2
    return f"{text[:half]}\n\n[… {left:,} characters left out …]\n\n{text[-half:]}"
