"""What positions offer: some to learn from, and a score for every move in them."""

import random
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from raybench.games import InvalidMove, State

Split = Literal["train", "validation"]


@dataclass(frozen=True, slots=True)
class Positions:
    """Positions of one game, in which a player is to move."""

    name: str
    """Lower case with underscores, as its file."""
    game: str
    draw: Callable[[random.Random], State]
    """Draws one."""
    worth: Callable[[State, str], float]
    """What a move is worth that the game takes: from 0, the worst, to 1, the best."""

    def score(self, state: State, move: str) -> float:
        """Return what a move is worth; a move that the game refuses is worth nothing."""
        try:
            state.apply(move)
        except InvalidMove:
            return 0.0
        return self.worth(state, move)

    def drawn(self, seed: int, split: Split) -> Iterator[State]:
        """Yield positions without end, other ones for each seed, none in two splits."""
        seen = set[str]()
        other: Split = "validation" if split == "train" else "train"
        for number in range(1_000_000):
            state = self.draw(random.Random(f"{self.name}/{seed}/{split}/{number}"))
            view = shown(state)
            if view not in seen and home(view) != other:
                seen.add(view)
                yield state


def shown(state: State) -> str:
    """Return what whoever is to move sees: positions that look alike are one."""
    seen = state.observe(state.to_move or "")
    return f"{seen.view}\n{seen.task}"


def home(view: str) -> Split:
    """Return the split that a position belongs to, whatever drew it."""
    return "train" if random.Random(view).random() < 0.5 else "validation"


def relative(value: float, values: Collection[float]) -> float:
    """Return where a value lies between the least and the most that could be had."""
    least, most = min(values), max(values)
    return 1.0 if most == least else (value - least) / (most - least)
