"""What a strategy is given, and what it gives."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from raybench.types import Completion, Message, Observation


class NoMove(Exception):
    """A reply that holds no move, and why, in words that whoever wrote it can use."""

    def __init__(self, reason: str, reply: str = "") -> None:
        """`reply` is the reply, where there is one."""
        super().__init__(reason)
        self.reason = reason
        self.reply = reply


class Ask(Protocol):
    """Puts a prompt to the model.

    What comes back is an answer, whole or cut, or none. Where nothing could be had, or the time is
    up, it raises, and that ends the try, whatever a strategy makes of it. Several may be asked side
    by side; the try ends when all have.
    """

    def __call__(
        self,
        messages: Sequence[Message],
        *,
        thought: bool = False,
        among: Sequence[str] = (),
        varied: bool = False,
    ) -> Coroutine[Any, Any, Completion]:
        """Ask for a move, or for something else that helps to find one.

        That is a `thought`, whose form is free, or a line that names one thing `among` several. Of
        replies that are to be `varied` each is drawn anew, also where the model is one that replies
        alike whenever it is asked alike.
        """
        ...


Check = Callable[[str], object]
"""Looks whether the game would take a move: raises NoMove with its reason where it would not.

What it returns says nothing of the game but which moves are the same one: their answers are equal.
"""


@dataclass(frozen=True, slots=True)
class Try:
    """An earlier attempt at this turn."""

    reply: str
    reason: str
    """What was wrong with it."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A move that is to be found, and what there is to find it with."""

    seen: Observation
    ask: Ask
    check: Check
    tries: Sequence[Try] = ()
    """Those of this turn, which all failed."""


class Made(NamedTuple):
    """A move, and the reply that holds it."""

    move: str
    reply: str


class Player(Protocol):
    """One strategy, of whatever model: it keeps nothing between turns.

    One whose moves differ from one time to the next, whatever the model's temperature, says so by
    an attribute `varies` that is True.
    """

    async def move(self, decision: Decision) -> Made:
        """Return the move.

        Raises NoMove where the model's reply holds none.
        """
        ...
