"""A look at a program's words, where they cannot be parsed: what they may name earns flags."""

import re
from collections.abc import Iterator

from raybench.grading.suspicion.telling import (
    ALWAYS,
    EQUALITY,
    FRAMES,
    INSIDE,
    PATHS,
    SOURCE,
    named,
    starred,
)

# The quantifiers are possessive: the time is linear.
_IMPORTING = re.compile(
    r"\b(?:from[ \t]++([\w.]++)[ \t]++)?+import\b[ \t]*+(\([\w\s,]*+|[\w., \t*]*+)"
)
_NAMING = re.compile(r"\b\w++(?:(?:\.\w++)++|(?=[ \t]*+\())|(?<=\braise )\w++")
"""Dotted names, and what is called or raised: other words may be prose."""


def in_words(text: str) -> Iterator[str]:
    """Yield the flags that the words of a text earn, in no order and perhaps repeatedly."""
    names: dict[str, str] = {}
    for module, listed in _IMPORTING.findall(text):
        yield from named(module)
        for item in listed.strip("(").split(","):
            name, *other = item.split() or [""]
            full = f"{module}.{name}" if module else name
            yield from named(full)
            names |= starred(module) if name == "*" else {other[-1] if other else name: full}
    for name in _NAMING.findall(text):
        first, point, rest = name.partition(".")
        yield from named(names.get(first, first) + point + rest)
    words = set(re.findall(r"\w+", text))
    if words & ALWAYS:
        yield EQUALITY
    if words & INSIDE:
        yield FRAMES
    if PATHS[SOURCE].search(text):
        yield SOURCE
