"""MathQuiz: a question to be written for a number, checked by a pocket calculator.

A question that comes to the number, by the one sum that it holds, is worth 1; one that the rules
take, and no calculator can check or which comes to another number, is worth a quarter: it may be a
good one, and nobody knows. What the rules refuse, for it states the number, is worth nothing.

Example: for 264, "What is 42 times 7, minus 30?" is worth 1, "What is 42 times 7?" a quarter.
"""

import random
from typing import cast

from raybench import games
from raybench.games import State
from raybench.games.mathquiz import Quiz
from raybench.games.parts.mathquiz.calculator import worked_out
from raybench.positions.parts.contract import Positions

_UNCHECKED = 0.25


def _draw(rng: random.Random) -> State:
    state: State = games.load("mathquiz").new(rng.getrandbits(32))
    return state


def _worth(state: State, move: str) -> float:
    quiz = cast(Quiz, state)
    return 1.0 if worked_out(move) == quiz.target else _UNCHECKED


def _best(state: State) -> str:
    return state.good(random.Random(cast(Quiz, state).target))


POSITIONS = Positions(
    "mathquiz_pose",
    "mathquiz",
    _draw,
    _worth,
    roles=(Quiz.maker,),
    actions=("write_question",),
    best=_best,
)
