"""Decisions of tests: a game that takes some words for moves, and a model that has its replies."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from raybench.players.parts.contract import Decision, NoMove, Try
from raybench.types import Completion, Finish, Form, Message, Observation

SEEN = Observation("white", "The rules.", "The board.", "move", "Move a piece.")


@dataclass
class Asked:
    """One call."""

    messages: Sequence[Message]
    thought: bool
    among: Sequence[str]
    varied: bool

    @property
    def last(self) -> str:
        return self.messages[-1].content


@dataclass
class Model:
    """Gives these replies, one after the other, and keeps what it was asked."""

    replies: list[str]
    calls: list[Asked] = field(default_factory=list)
    finish: Finish = "stop"

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        thought: bool = False,
        among: Sequence[str] = (),
        varied: bool = False,
    ) -> Completion:
        self.calls.append(Asked(messages, thought, among, varied))
        return Completion(self.replies.pop(0), self.finish)


def check(move: str) -> object:
    """Take every move but those that begin with 'no'; small and capital letters are one."""
    if move.startswith("no"):
        raise NoMove(f"'{move}' is against the rules")
    return move.lower()


def decision(model: Model, *tries: Try, form: Form = "line") -> Decision:
    seen = Observation("white", "The rules.", "The board.", "move", "Move a piece.", form)
    return Decision(seen, model.ask, check, tries)
