"""Games, one file each. A new one is a new file; nothing else lists them."""

import importlib
import pkgutil
from functools import cache
from typing import Any, cast

from raybench.errors import ConfigurationError, did_you_mean, plain
from raybench.games.parts.contract import (
    ABLE,
    MANAGER,
    RANDOM,
    Game,
    InvalidMove,
    Jury,
    Need,
    Program,
    Script,
    State,
    Unjudged,
    Written,
)
from raybench.games.parts.phrasing import phrased, phrasings

__all__ = [
    "ABLE",
    "MANAGER",
    "RANDOM",
    "Game",
    "InvalidMove",
    "Jury",
    "Need",
    "Program",
    "Script",
    "State",
    "Unjudged",
    "Written",
    "load",
    "names",
    "phrased",
    "phrasings",
]


def names() -> list[str]:
    """Return the names of all games."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg)


@cache
def load(name: str) -> Game[Any]:
    """Return a game by name; "Liar's Dice", 'liarsdice' and 'liars_dice' are one."""
    known = {plain(module): module for module in names()}
    if (module := known.get(plain(name))) is None:
        raise ConfigurationError(f"unknown game '{name}'." + did_you_mean(name, known.values()))
    return cast(Game[Any], importlib.import_module(f"{__name__}.{module}").GAME)
