"""Players of tests: they say what they were told to say."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from raybench.games import State
from raybench.players.parts.contract import Try
from raybench.tournament.match import Heard
from raybench.types import Observation

Says = Callable[[State, Sequence[Try]], Heard]


@dataclass
class Told:
    """Sits at a role."""

    model: str
    says: Says
    seen: list[Observation] = field(default_factory=list)
    tries: list[tuple[Try, ...]] = field(default_factory=list)
    left: list[float | None] = field(default_factory=list)

    async def reply(
        self, state: State, seen: Observation, tries: Sequence[Try], left_s: float | None
    ) -> Heard:
        self.left.append(left_s)
        self.seen.append(seen)
        self.tries.append(tuple(tries))
        return self.says(state, tries)


def says(*moves: str, seconds: float = 0.0) -> Says:
    """Say these, one after the other."""
    left = [*moves]

    def say(state: State, tries: Sequence[Try]) -> Heard:
        move = left.pop(0)
        return Heard(f"Move: {move}", move, seconds=seconds, tokens=2)

    return say
