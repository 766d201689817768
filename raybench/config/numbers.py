"""Numbers that are none: what no setting takes, wherever it stands."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def problems(settings: Any, path: str = "") -> Iterator[str]:
    """Yield every setting, at any depth, that is not a number or has no end.

    No comparison holds for the one, so that it would pass for within any bounds; and no wait may
    last for ever.
    """
    if isinstance(settings, float):
        if not math.isfinite(settings):
            yield f"{path} is {settings}: give a finite number"
        return
    for name, value in _parts(settings):
        yield from problems(value, f"{path}.{name}" if path else str(name))


def _parts(settings: Any) -> Iterator[tuple[Any, Any]]:
    if is_dataclass(settings):
        yield from ((it.name, getattr(settings, it.name)) for it in fields(settings))
    elif isinstance(settings, Mapping):
        yield from settings.items()
    elif isinstance(settings, list | tuple):
        yield from enumerate(settings)
