"""Games, one file each. A new one is a new file; nothing else lists them."""

from typing import Any

from raybench import modules
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
    return modules.names(__name__)


def load(name: str) -> Game[Any]:
    """Return a game by name; "Liar's Dice", 'liarsdice' and 'liars_dice' are one."""
    game: Game[Any] = modules.named(__name__, name, "game").GAME
    return game
