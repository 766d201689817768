"""Numbers that are none: what no setting takes, wherever it stands."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from raybench.errors import Problem, out_of_range


def problems(settings: Any, path: str = "", *, or_null: bool = False) -> Iterator[Problem]:
    """Yield every setting, at any depth, that is not a number or has no end.

    No comparison holds for the one, so that it would pass for within any bounds; and no wait may
    last for ever, but where null says so (`or_null`).
    """
    if isinstance(settings, float):
        if not math.isfinite(settings):
            yield out_of_range(path, settings, f"give a finite number{', or null' * or_null}")
        return
    for name, value, optional in _parts(settings):
        yield from problems(value, f"{path}.{name}" if path else str(name), or_null=optional)


def _parts(settings: Any) -> Iterator[tuple[Any, Any, bool]]:
    if is_dataclass(settings):
        for field in fields(settings):
            yield field.name, getattr(settings, field.name), "None" in str(field.type)
    elif isinstance(settings, Mapping):
        yield from ((name, value, False) for name, value in settings.items())
    elif isinstance(settings, list | tuple):
        yield from ((place, value, False) for place, value in enumerate(settings))
