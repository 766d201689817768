"""What MLflow takes: keys it does not refuse, finite numbers, texts of bounded length."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, SupportsFloat

from raybench.tracking.text import printable

_MOST_KEY, _MOST_TEXT = 250, 5000
_FORBIDDEN = re.compile(r"[^\w\-. :/]", re.ASCII)


def of_estimate(key: str, estimate: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield a number of results.json and, beside it, its uncertainty.

    Of one that was refused there is nothing; of one that is only bounded, its bound.
    """
    value, (low, high) = estimate.get("value"), estimate.get("ci95") or (None, None)
    if value is None and low is None and high is None:
        return
    yield key, value
    yield f"{key}/ci_low", low
    yield f"{key}/ci_high", high
    yield f"{key}/n", estimate.get("n")
    yield f"{key}/stderr", estimate.get("stderr")


def of_tree(prefix: str, tree: object) -> Iterator[tuple[str, object]]:
    """Yield the leaves of nested mappings under keys joined by slashes."""
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            yield from of_tree(f"{prefix}/{key}", value)
    else:
        yield prefix, tree


def of_programs(ran: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the tags that say where programs ran, nodes that differ side by side."""
    places = list(ran)
    found = {name: dict.fromkeys(str(it[name]) for it in places) for name in ("backend", "python")}
    return {f"sandbox.{name}": text(", ".join(of)) for name, of in found.items() if of}


def number(value: object) -> float | None:
    """Return a finite number, numpy's included, or None for what MLflow could not show."""
    if isinstance(value, bool) or not isinstance(value, SupportsFloat):
        return None
    found = float(value)
    return found if math.isfinite(found) else None


def key(text: str) -> str:
    """Return a name that MLflow takes: it refuses some characters, '..' and leading slashes."""
    parts = [part for part in _FORBIDDEN.sub("_", text).split("/") if part not in ("", ".", "..")]
    return "/".join(parts)[:_MOST_KEY].rstrip("/") or "_"


def text(value: str) -> str:
    """Return a tag's or parameter's value: printable, and no longer than MLflow takes."""
    return printable(value)[:_MOST_TEXT]
