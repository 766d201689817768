"""Chess: positions in which material can be won or lost, scored by a search of fixed depth.

A game is played for some moves, half of them at random, half by a player that looks one move ahead.
What follows each legal move is searched: the best reply, and exchanges. A move is worth where it
lies between the worst and the best one. Positions where most moves are about as good as the best
are left out, as nothing shows there.

Example: a queen stands attacked and undefended; the move that saves it is worth 1, one that leaves
it there 0 or little.
"""

import random
from statistics import median
from typing import cast

import chess

from raybench import games
from raybench.games import State
from raybench.games.chess import Chess
from raybench.games.parts.chess_game.search import values
from raybench.games.parts.chess_game.settings import ROLES
from raybench.positions.parts.contract import Positions, relative

_PLIES = (4, 40)
_SHOWS = 1.0
"""Pawns by which the best move is better than the median one."""


def _draw(rng: random.Random) -> State:
    while True:
        state = cast(Chess, games.load("chess").new(rng.getrandbits(32)))
        for _ in range(rng.randint(*_PLIES)):
            if state.over:
                break
            move = state.good(rng) if rng.random() < 0.5 else state.sample(rng)
            state = state.apply(move)
        if not state.over:
            return state


def _fits(state: State) -> bool:
    found = values(cast(Chess, state).board).values()
    return max(found) - median(found) >= _SHOWS


def _worth(state: State, move: str) -> float:
    before, after = cast(Chess, state), cast(Chess, state.apply(move))
    found = values(before.board)
    if after.last is None or after.last is before.last:
        return 0.0  # nothing was moved: it was given up
    return relative(found[after.last.uci()], found.values())


def _best(state: State) -> str:
    board = cast(Chess, state).board.copy(stack=False)  # writing a move down plays it on the board
    found = values(board)
    return board.san(chess.Move.from_uci(max(found, key=found.__getitem__)))


POSITIONS = Positions(
    "chess_material",
    "chess",
    _draw,
    _worth,
    roles=ROLES,
    actions=("move",),
    best=_best,
    fits=_fits,
)
