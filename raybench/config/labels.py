"""Nodes of a cluster chosen by their labels, in Ray's words: `x`, `!x`, `in(x, y)`, `!in(x, y)`.

Ray chooses nodes for what it places itself; what we place node by node is chosen here, alike.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from raybench.errors import Problem

_WORD = r"[a-zA-Z0-9](?:[a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?"
_KEY = re.compile(rf"(?:{_WORD}(?:\.{_WORD})*/)?{_WORD}")
_VALUE = re.compile(rf"(?:(!?)(?:in\(({_WORD}(?:, ?{_WORD})*)\)|({_WORD})))?")
_FORM = "give a label's value, !value, in(a, b) or !in(a, b)"
SETTINGS = ("fleet.nodes", "fleet.work_nodes", "sandbox.nodes")
"""What chooses nodes."""


def problems(setting: str, selector: Mapping[str, object]) -> Iterator[Problem]:
    """Yield what is wrong with a setting that chooses nodes.

    OmegaConf holds the values of a mapping to their type where they are given one by one; of a
    mapping that is given whole it lets lists and mappings pass.
    """
    for key, value in selector.items():
        if not _KEY.fullmatch(key):
            yield Problem(
                "setting.format",
                f"{setting}: '{key}' is no label's name",
                setting=setting,
                given=key,
                fix="letters, digits, - _ . and one /",
            )
        if isinstance(value, Sequence) and not isinstance(value, str):
            yield Problem(
                "setting.type",
                f"{setting}.{key} is a list",
                setting=f"{setting}.{key}",
                fix=several(value),
            )
        elif not isinstance(value, str):
            yield Problem(
                "setting.type", f"{setting}.{key} is no text", setting=f"{setting}.{key}", fix=_FORM
            )
        elif value in ("True", "False"):
            yield Problem(
                "setting.type",
                f"{setting}.{key} is {value.lower()}, no text",
                setting=f"{setting}.{key}",
                given=value,
                fix=f"quote it, as '\"{value.lower()}\"', or as '\"yes\"' (YAML reads yes, no, on "
                "and off alike)",
            )
        elif not _VALUE.fullmatch(value):
            yield Problem(
                "setting.format",
                f"{setting}.{key} is '{value}', which chooses no nodes",
                setting=f"{setting}.{key}",
                given=value,
                fix=_FORM,
            )


def several(values: Sequence[object] = ()) -> str:
    """Say how a label that may have any of several values is written."""
    words = [f"{value}".lower() if isinstance(value, bool) else f"{value}" for value in values]
    if not words or not all(re.fullmatch(_WORD, word) for word in words):
        words = ["a", "b"]
    return f'for any of several values write "in({",".join(words)})", with the quotes'


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
