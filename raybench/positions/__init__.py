"""Positions of games whose moves can be scored without another model. One file each.

A new file is found by its name; one's own are named by their import path, 'module:name'.
"""

from raybench import modules
from raybench.errors import ConfigurationError, Problem
from raybench.imported import imported
from raybench.positions.parts.contract import SPLITS, Positions, Split
from raybench.positions.parts.digest import digest

__all__ = ["SPLITS", "Positions", "Split", "digest", "load", "names"]


def names() -> list[str]:
    """Return the names of those that are shipped."""
    return modules.names(__name__)


def load(name: str) -> Positions:
    """Return positions by name. Raises ConfigurationError where there are none."""
    if ":" in name:
        return _own(name)
    found: Positions = modules.named(__name__, name, "positions", own=True).POSITIONS
    return found


def _own(path: str) -> Positions:
    """Return positions of somebody's own."""
    found = imported(path, "set of positions")
    if not isinstance(found, Positions):
        raise ConfigurationError(
            Problem(
                "extension.invalid",
                f"'{path}' is no set of positions",
                given=path,
                fix="raybench/positions/parts/contract.py says what is",
            )
        )
    return found
