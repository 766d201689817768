"""Nodes of a cluster chosen by their labels, in Ray's words: `x`, `!x`, `in(x, y)`, `!in(x, y)`.

Ray chooses nodes for what it places itself; what we place node by node is chosen here, alike.
"""

import re
from collections.abc import Iterator, Mapping

_WORD = r"[a-zA-Z0-9](?:[a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?"
_KEY = re.compile(rf"(?:{_WORD}(?:\.{_WORD})*/)?{_WORD}")
_VALUE = re.compile(rf"(?:(!?)(?:in\(({_WORD}(?:, ?{_WORD})*)\)|({_WORD})))?")


def problems(setting: str, selector: Mapping[str, str]) -> Iterator[str]:
    """Yield what is wrong with a setting that chooses nodes."""
    for key, value in selector.items():
        if not _KEY.fullmatch(key):
            yield f"{setting}: '{key}' is no label's name: letters, digits, - _ . and one /"
        if value in ("True", "False"):
            yield f"{setting}.{key} is {value.lower()}, no text: quote it, as '\"{value.lower()}\"'"
        elif not _VALUE.fullmatch(value):
            yield (
                f"{setting}.{key} is '{value}', which chooses no nodes: give a label's value, "
                "!value, in(a, b) or !in(a, b)"
            )


def chosen(labels: Mapping[str, str], selector: Mapping[str, str]) -> bool:
    """Tell whether a node with these labels is meant; one without a label has no value of it."""
    return all(_fits(labels.get(key), value) for key, value in selector.items())


def for_ray(selector: Mapping[str, str]) -> dict[str, str]:
    """Return a selector as Ray reads it, to which a space after a comma is a part of the label."""
    return {key: value.replace(" ", "") for key, value in selector.items()}


def told(selector: Mapping[str, str]) -> str:
    """Return a selector as people write it."""
    return ", ".join(f"{key}={value}" for key, value in selector.items())


def _fits(label: str | None, value: str) -> bool:
    found = _VALUE.fullmatch(value)
    if found is None:
        return False
    no, several, one = found.groups()
    meant = several.replace(" ", "").split(",") if several else [one or ""]
    return (label in meant) != bool(no)
