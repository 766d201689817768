"""JSON and YAML as others wrote it: whatever is wrong there is a ValueError, and nothing worse."""

import json
from typing import Any

_MOST = 1_000_000
"""Values that a file of YAML may hold, each counted as often as it is referred to."""


def from_json(text: str | bytes) -> Any:
    """Return what a text of JSON holds. Raises ValueError where it is none, or nested too deep."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


def from_yaml(text: str | bytes) -> Any:
    """Return what a text of YAML holds. Raises ValueError where it is none, or grows without end.

    A few lines of references to references stand for more values than any memory holds.
    """
    import yaml

    try:
        found = yaml.safe_load(text)
        if _size(found, {}) > _MOST:
            raise ValueError(f"it holds more than {_MOST:,} values")
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    # The library lets through what its own constructors raise: no such date, no such number.
    except (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise ValueError(" ".join(str(error).split()) or type(error).__name__) from error
    return found


def _size(value: Any, known: dict[int, int]) -> int:
    """Count the values in a value; what refers to itself has more than any limit."""
    if not isinstance(value, dict | list | set | tuple):
        return 1
    if id(value) not in known:
        known[id(value)] = _MOST + 1
        inner = [*value, *value.values()] if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_size(it, known) for it in inner)
    return known[id(value)]
