"""What a strategy is given, and what it gives."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from raybench.types import Completion, Message, Observation

Ask = Callable[[Sequence[Message]], Awaitable[Completion]]
"""Puts a prompt to the model. What comes back is an answer, whole or cut, or none; where nothing
could be had it raises, and the match is void: no strategy has to look for that."""


class NoMove(Exception):
    """A reply that holds no move, and why, in words that whoever wrote it can use."""


class Unmarked(NoMove):
    """A reply of one line that nothing marks as a move: it is one where the game takes it."""

    def __init__(self, line: str, reason: str) -> None:
        """`line` is what may be a move."""
        super().__init__(reason)
        self.line = line


@dataclass(frozen=True, slots=True)
class Try:
    """An earlier attempt at this turn."""

    reply: str
    reason: str
    """What was wrong with it."""


class Player(Protocol):
    """One strategy, of whatever model: it keeps nothing between turns."""

    async def move(self, seen: Observation, ask: Ask, tries: Sequence[Try]) -> str:
        """Return the move; the tries are those of this turn, and all failed.

        Raises NoMove where the model's reply holds none, or Unmarked where the game has to tell.
        """
        ...
