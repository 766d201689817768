"""Positions of games whose moves can be scored without another model. One file each.

A new file is found by its name; one's own are named by their import path, 'module:name'.
"""

import importlib
import pkgutil
from functools import cache
from typing import Any

from raybench.errors import ConfigurationError, did_you_mean, plain
from raybench.imported import imported
from raybench.positions.parts.contract import SPLITS, Positions, Split
from raybench.positions.parts.digest import digest

__all__ = ["SPLITS", "Positions", "Split", "digest", "load", "names"]


def names() -> list[str]:
    """Return the names of those that are shipped."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg)


def load(name: str) -> Positions:
    """Return positions by name. Raises ConfigurationError where there are none."""
    if ":" in name:
        return _own(name)
    found: Positions = _module(name).POSITIONS
    return found


def _own(path: str) -> Positions:
    """Return positions of somebody's own."""
    found = imported(path, "set of positions")
    if not isinstance(found, Positions):
        raise ConfigurationError(
            f"'{path}' is no set of positions: raybench/positions/parts/contract.py says what is"
        )
    return found


@cache
def _module(name: str) -> Any:
    known = {plain(module): module for module in names()}
    if (module := known.get(plain(name))) is None:
        there = did_you_mean(name, known.values())
        raise ConfigurationError(f"unknown positions '{name}'.{there} Your own: MODULE:NAME.")
    return importlib.import_module(f"{__name__}.{module}")
