"""Settings that were added after runs had been saved without them.

A run is found again by the fingerprint of its configuration, and run again from its config.yaml.
Both stay true to runs of earlier versions: a setting that they lack has the value that says what
they did.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple


class _Added(NamedTuple):
    """One setting that earlier runs lack."""

    section: str
    name: str
    before: Any
    """The value that says what earlier runs did."""
    experiments: tuple[str, ...]
    """Those that the setting is about."""
    prompts: bool = False
    """It says something only of models that have a system prompt."""


_ADDED = (_Added("index", "own_system_prompts", True, ("index", "suite"), prompts=True),)


def former() -> dict[str, dict[str, Any]]:
    """Return the added settings with the values that say what earlier runs did.

    What a run saved is to be laid over them.
    """
    found: dict[str, dict[str, Any]] = {}
    for it in _ADDED:
        found.setdefault(it.section, {})[it.name] = it.before
    return found


def without_effect(config: Mapping[str, Any]) -> list[str]:
    """Return the added settings by which a run does what an earlier one did.

    They are no part of the fingerprint, so that unfinished runs of earlier versions are found.
    """
    prompted = any(
        isinstance(model, Mapping) and model.get("system_prompt")
        for model in _section(config, "roster").get("models", ())
    )
    return [
        f"{it.section}.{it.name}"
        for it in _ADDED
        if config.get("experiment") not in it.experiments
        or _section(config, it.section).get(it.name) == it.before
        or (it.prompts and not prompted)
    ]


def _section(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = config.get(name)
    return found if isinstance(found, Mapping) else {}
