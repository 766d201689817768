"""MathQuiz: a question to be answered, whose answer the manager knows.

Questions are sums of one to four steps, as a careful teacher would write them. The right answer is
worth 1, any other number 0. It is the teacher who answers, as if it proved a question of its own:
the student would see the same.

Example: "What is 42 times 7, minus 30?" is answered by 264.
"""

import random
from typing import cast

from raybench import games
from raybench.games import State
from raybench.games.mathquiz import Quiz
from raybench.games.parts.mathquiz.stated import how
from raybench.positions.parts.contract import Positions

_STEPS = (1, 4)
_TRIES = 50


def _draw(rng: random.Random) -> State:
    while True:
        state = cast(Quiz, games.load("mathquiz").new(rng.getrandbits(32)))
        for _ in range(_TRIES):
            question = _question(state.target, rng)
            if how(question, state.target) is None:  # a step may come out at the number itself
                return state.apply(question)


def _question(target: int, rng: random.Random) -> str:
    """Return a sum that comes to a number, written from its end."""
    left, steps = target, list[str]()
    for _ in range(rng.randint(*_STEPS)):
        number = rng.randint(2, 99)
        if left % (factor := rng.randint(2, 9)) == 0 and rng.random() < 0.5:
            left, step = left // factor, f"multiply by {factor}"
        elif left > number and rng.random() < 0.5:
            left, step = left - number, f"add {number}"
        else:
            left, step = left + number, f"subtract {number}"
        steps.insert(0, step)
    return f"Start with {left}. Then {', then '.join(steps)}. What is the result?"


def _worth(state: State, move: str) -> float:
    return float(cast(Quiz, state.apply(move)).proven)


def _best(state: State) -> str:
    return str(cast(Quiz, state).target)


POSITIONS = Positions(
    "mathquiz_solve",
    "mathquiz",
    _draw,
    _worth,
    roles=(Quiz.maker,),
    actions=("answer",),
    best=_best,
)
