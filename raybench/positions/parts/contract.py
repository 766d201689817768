"""What positions offer: some to learn from, and a score for every move in them."""

import random
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import count, islice
from typing import Literal, get_args

from raybench.errors import ConfigurationError, Problem
from raybench.games import InvalidMove, State

Split = Literal["train", "validation", "held_out"]
"""What positions are for: to learn from, to choose between what was learned, and to report on."""
SPLITS: tuple[Split, ...] = get_args(Split)

_IN_VAIN = 2_000
"""Draws in a row that bring nothing new, after which there is nothing new."""
_LISTED = 400
"""Moves that are all scored to find the best one."""


def shown(state: State) -> str:
    """Return what whoever is to move sees: positions that look alike are one."""
    seen = state.observe(state.to_move or "")
    return f"{seen.view}\n{seen.task}"


@dataclass(frozen=True, slots=True)
class Positions:
    """Positions of one game, in which a player is to move.

    Its functions are called from several threads at once.
    """

    name: str
    """Lower case with underscores, as its file."""
    game: str
    draw: Callable[[random.Random], State]
    """Draws one: the same again from the same generator."""
    worth: Callable[[State, str], float]
    """What a move is worth that the game takes: from 0, the worst, to 1, the best."""
    roles: tuple[str, ...] = ()
    """Those that move in them; () is all of the game's."""
    actions: tuple[str, ...] = ()
    """What is asked there, as observations name it; () is all that the roles are ever asked."""
    best: Callable[[State], str] | None = None
    """A move that is worth most, as an example to learn from."""
    fits: Callable[[State], bool] = lambda state: True
    """Whether one that was drawn is any good; asked of those alone that are in the right split."""
    family: Callable[[State], str] = shown
    """What positions have in common that are to be in one split. Those that look alike have it."""

    def score(self, state: State, move: str) -> float:
        """Return what a move is worth; a move that the game refuses is worth nothing."""
        try:
            state.apply(move)
        except InvalidMove:
            return 0.0
        worth = self.worth(state, move)
        if not 0 <= worth <= 1:
            raise ConfigurationError(
                Problem(
                    "extension.invalid",
                    f"the positions '{self.name}' say that the move '{move}' is worth {worth}",
                    given=worth,
                    fix="it is 0 to 1",
                )
            )
        return worth

    def answer(self, state: State) -> str | None:
        """Return a move that is worth most; None where none is known and too many would do."""
        if self.best is not None:
            return self.best(state)
        moves = state.legal()
        if not moves or len(moves) > _LISTED:
            return None
        return max(moves, key=lambda move: self.score(state, move))

    def some(self, seed: int, split: Split, number: int) -> list[State]:
        """Return so many positions of a split, or all where there are fewer."""
        return [*islice(self.drawn(seed, split), number)]

    def drawn(self, seed: int, split: Split) -> Iterator[State]:
        """Yield positions until there is nothing new: other ones for each seed, none in two splits.

        Which split one is in, its family alone decides: no seed moves it to another.
        """
        seen = set[str]()
        in_vain = 0
        for number in count():
            state = self.draw(random.Random(f"{self.name}/{seed}/{split}/{number}"))
            in_vain += 1
            if home(self.family(state)) == split and (view := shown(state)) not in seen:
                seen.add(view)
                if self.fits(state):
                    in_vain = 0
                    yield state
            if in_vain == _IN_VAIN:
                return


def home(family: str) -> Split:
    """Return the split that a family of positions belongs to, whatever drew them: one in three."""
    return SPLITS[int(random.Random(family).random() * len(SPLITS))]


def relative(value: float, values: Collection[float]) -> float:
    """Return where a value lies between the least and the most that could be had."""
    least, most = min(values), max(values)
    return 1.0 if most == least else (value - least) / (most - least)
