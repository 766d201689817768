"""How a person, or a program, is told: live, in lines, hardly at all, or in JSON."""

from collections.abc import Sequence
from typing import TextIO

from raybench.config import CONSOLE_MODES
from raybench.tracking.console.streams import can_move, is_logged

FLAGS = {"--quiet": "quiet", "-q": "quiet", "--json": "json", "--plain": "plain", "--live": "live"}
"""Short ways to say console.mode=…"""
SETTING = "console.mode"

_mode = "auto"


def use(mode: str) -> None:
    """Have everything told in this way from now on; one that there is not is refused elsewhere."""
    global _mode
    _mode = mode if mode in CONSOLE_MODES else "auto"


def of_arguments(arguments: Sequence[str]) -> str:
    """Return the mode that a command line asks for, before it is known to be right."""
    asked = [it.lstrip("+").partition("=")[2] for it in with_flags(arguments) if _sets(it)]
    return asked[-1] if asked and asked[-1] in CONSOLE_MODES else "auto"


def with_flags(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with flags as the settings that they stand for."""
    return [f"{SETTING}={FLAGS[it]}" if it in FLAGS else it for it in arguments]


def _sets(argument: str) -> bool:
    return argument.lstrip("+").partition("=")[0] == SETTING


def is_json() -> bool:
    """Tell whether a program reads it all."""
    return _mode == "json"


def is_quiet() -> bool:
    """Tell whether only what a person has to know is told."""
    return _mode == "quiet"


def resolved(stream: TextIO) -> str:
    """Return how progress is shown on this stream: live, plain, quiet or json."""
    if _mode in ("quiet", "json", "plain"):
        return _mode
    # Asked for, it is shown in a log's pseudo-terminal too; into a file it never goes.
    live = can_move(stream) and (_mode == "live" or not is_logged())
    return "live" if live else "plain"
