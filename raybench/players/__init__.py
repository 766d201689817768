"""Strategies: how a model comes to its move. They know no game's rules.

One file each; a new one is a new file, and nothing else lists them. One of somebody's own is named
by its import path, 'module:name'.
"""

import hashlib
import inspect
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from raybench import modules
from raybench.errors import ConfigurationError, Problem
from raybench.imported import imported
from raybench.options import Options, contents, made
from raybench.players.parts.contract import Player

__all__ = ["Player", "called", "carried", "load", "named", "names"]


def names() -> list[str]:
    """Return the names of the strategies that are shipped."""
    return modules.names(__name__)


def named(name: str) -> str:
    """Return a strategy's own name, however it is spelled."""
    return _last(_module(name).__name__)


def load(name: str, options: Mapping[str, Any] = {}) -> Player:
    """Return a strategy by name; 'best of n' and best_of_n are one.

    Raises ConfigurationError where there is none, or where it has no such options.
    """
    if ":" in name:
        return _own(name, options)
    found = _module(name)
    strategy: Player = made(_last(found.__name__), "option", found.STRATEGY, options)
    return strategy


def called(player: Player) -> str:
    """Return what a strategy is called, with the options that are not its own: 'best_of_n n=9'."""
    name = type(player).__module__
    own = name.startswith(f"{__name__}.")
    words = [_last(name) if own else f"{name}:{type(player).__qualname__}"]
    if isinstance(player, Options):
        files = contents(type(player))
        for each in fields(player):
            value = getattr(player, each.name)
            if each.init and each.name not in files.values() and value != each.default:
                if (inside := files.get(each.name)) is not None:
                    value = ",".join(map(_content, value, getattr(player, inside)))
                words.append(f"{each.name}={value}")
    return " ".join(words)


def carried(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with what is in the files that they name, for those who lack these."""
    player = load(name, options)
    if not isinstance(player, Options):
        return dict(options)
    inside = {it for file, it in contents(type(player)).items() if file in options}
    return {**options, **{it: getattr(player, it) for it in inside}}


def _module(name: str) -> Any:
    return modules.named(__name__, name, "strategy", own=True)


def _content(file: str, text: str) -> str:
    """Return what tells a file from others, wherever it lies: its name, and a digest."""
    return f"{Path(file).name}@{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _last(module: str) -> str:
    return module.rpartition(".")[2]


def _own(path: str, options: Mapping[str, Any]) -> Player:
    """Return a strategy of somebody's own."""
    found = imported(path, "strategy", options)
    if (dspy := sys.modules.get("dspy")) is not None and isinstance(found, dspy.Module):
        if options:
            raise ConfigurationError(
                Problem(
                    "extension.invalid",
                    f"the program '{path}' takes no options here",
                    given=path,
                    fix="write a class that fills them in",
                )
            )
        return load("program", {"module": path})
    player: Player = found
    if not inspect.iscoroutinefunction(getattr(player, "move", None)):
        raise ConfigurationError(
            Problem(
                "extension.invalid",
                f"the strategy '{path}' has no method 'async def move(self, decision)', and is no "
                "dspy.Module",
                given=path,
                fix="raybench/players/parts/contract.py says what it is given and returns",
            )
        )
    return player
