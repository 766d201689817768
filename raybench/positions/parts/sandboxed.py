"""Moves whose worth only a run shows: the programs that a game needs are brought, as in a match."""

import os
import threading
from contextlib import ExitStack

from raybench.errors import ConfigurationError, Problem
from raybench.games import Program, State
from raybench.games.parts import programs

_PLACES = os.cpu_count() or 1
_room = threading.Semaphore(_PLACES)
"""Of this process, whatever asks: programs that wait for a core would run out of time."""
_alone = threading.Lock()


def played(state: State, move: str) -> State:
    """Return the state after a move, when all programs have run that the game needs then.

    Raises InvalidMove where the game refuses the move, and what the sandbox raises where it fails:
    that says nothing about the move. Raises ConfigurationError where the game needs something else.
    """
    state = state.apply(move)
    while (need := state.needed) is not None:
        if not isinstance(need, Program):
            raise ConfigurationError(
                Problem(
                    "setting.conflict",
                    f"after {move[:60]!r} the game needs opinions of a jury, which only an arena "
                    "asks for",
                    fix="take positions whose moves can be scored without them",
                )
            )
        state = state.apply(_ran(need))
    return state


def _ran(program: Program) -> str:
    """Return the outcome of a program as the manager's move."""
    sealed = programs.sealed(program)
    with _room:
        outcome = programs.run(sealed)
    if outcome.crowded:  # others kept it from the processor: alone it shows
        with _alone, ExitStack() as places:
            for _ in range(_PLACES):
                places.enter_context(_room)
            outcome = programs.run(sealed)
    return programs.brought(sealed, outcome)
