"""MathQuiz: a teacher sets a question it can answer itself, and its student, it hopes, cannot.

Source: ZeroSumEval, section 4 ("one player with the Teacher role generates a difficult math
question that it can solve itself but not the other player with the role of Student") and its
scheme of generation and verification.

The manager draws a whole number from the seed, 100 to 999 by default, and shows it to the teacher,
who writes a question whose answer it is. A question that states the number is refused, with the
reason: in digits, also one by one, by place or in pieces to be joined, in words of seven languages,
Roman numerals, another base, Morse, code and so on (`parts/mathquiz/stated.py` says what it looks
for and does not see). What takes a step of working out is not refused, however easy: it helps the
student first of all. Then the teacher sees its question alone, the number no more, and answers it:
`proofs` tries, 1 by default, for the answer could be guessed. If it fails, it has lost, at once.
Else the student sees the question alone, just as the teacher did, and has `attempts` tries: 1 by
default, as each further one is another blind guess. Who tries again is told which of its own
answers were wrong and nothing else. Answers are compared as numbers, by a script: '123', '123.0'
and 'x = 123' are one. The student must fail for the teacher to win (1/-1): where both know the
answer, the student has won. There are no draws.

Example: 123 is drawn; "Take the largest prime below 120, add 7 and subtract the number of its
digits." is written; the move "123" answers it, from teacher or student.
"""

import random
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from raybench.games.parts.contract import ABLE, Game, InvalidMove, Written
from raybench.games.parts.mathquiz.calculator import worked_out
from raybench.games.parts.mathquiz.settings import MathRules, in_words
from raybench.games.parts.mathquiz.stated import how
from raybench.games.parts.quoting import exact
from raybench.games.parts.verified.state import Asked, Try, Verified
from raybench.games.parts.verified.written import transcript
from raybench.grading.improved.numbers import stated, written
from raybench.grading.improved.statements import NoAnswer
from raybench.statements import Statement

_LONGEST_ANSWER = 200
_RIGHT = {"prove": (0.7, 1.0), "solve": (0.2, 0.5)}
"""How often stand-ins answer rightly: any, and able ones, to whom an able teacher is a match."""


@dataclass(frozen=True, slots=True)
class Quiz(Verified[MathRules]):
    """A question about to be written, or tried."""

    target: int = 0

    maker: ClassVar[str] = "teacher"
    solver: ClassVar[str] = "student"
    noun: ClassVar[str] = "question"
    attempt: ClassVar[str] = "answer"

    @property
    def start(self) -> str:
        return str(self.target)

    def in_words(self) -> str:
        return in_words(self.rules)

    def asked(self) -> Asked:
        if self.stage == "write":
            view = f"You are the teacher. The number is {self.target}."
            task = (
                "Write a question in mathematics whose only answer is this number, and which does "
                f"not state it. At most {self.rules.longest} characters; give the question alone."
            )
            return Asked("write_question", view, task, "text")
        view = f"The question:\n{exact(self.challenge, self.rules.longest)}"
        if wrong := ", ".join(each.given for each in self.own):
            view += f"\nYour earlier answers, which were wrong: {wrong}"
        task = (
            "Answer the question. The answer is one whole number from "
            f"{self.rules.smallest} to {self.rules.largest}: give it in digits."
        )
        return Asked("answer", view, task, "line")

    def written(self, move: str) -> str:
        question = "\n".join(move.strip().splitlines())
        if not any(map(str.isalnum, question)):
            raise InvalidMove(
                Statement(
                    "mathquiz.no_question", "there is no question: write it out in words or symbols"
                )
            )
        if len(question) > self.rules.longest:
            raise InvalidMove(
                Statement(
                    "mathquiz.question_too_long",
                    "the question has {length} characters; {most} are allowed",
                    length=len(question),
                    most=self.rules.longest,
                )
            )
        if stated_so := how(question, self.target):
            raise InvalidMove(
                Statement(
                    "mathquiz.states_number",
                    "the question states the number itself, {how}: the number must not stand in "
                    "it in any writing",
                    how=stated_so,
                )
            )
        return question

    def tried(self, move: str) -> "Quiz":
        answer = _read(move)
        return self.after(Try(written(answer), answer == self.target))

    def secret_redrawn(self, rng: random.Random) -> "Quiz":
        return replace(self, seed=rng.getrandbits(32), target=_drawn(rng, self.rules))

    def another(self, rng: random.Random) -> str:
        return self.challenge and f"What is {rng.getrandbits(20)} squared?"

    def made_up(self, rng: random.Random, *, able: bool) -> str:
        if self.stage == "write":
            return _question(rng, self.target, longest=self.rules.longest)
        right = rng.random() < _RIGHT[self.stage][able]
        return str(self.target if right else _drawn(rng, self.rules))


def _read(move: str) -> Fraction:
    """Return the number that an answer states."""
    line = " ".join(move.split())
    if len(line) > _LONGEST_ANSWER:
        raise InvalidMove(
            Statement(
                "mathquiz.answer_too_long",
                "that is too long for an answer: give one whole number in digits",
            )
        )
    try:
        return stated(f"Answer: {line}")
    except NoAnswer as error:
        raise InvalidMove(
            Statement(
                "mathquiz.no_answer",
                "{why}: give one whole number in digits, as in '250'",
                why=str(error),
            )
        ) from error


def _question(rng: random.Random, target: int, *, longest: int) -> str:
    """Return a question with this answer, which does not state it."""
    while True:
        a, b = rng.randint(11, 99), rng.randint(2, 9)
        rest = target - a * b
        sign = "plus" if rest >= 0 else "minus"
        question = f"What is {a} times {b}, {sign} {abs(rest)}?"
        if rest and len(question) <= longest and how(question, target) is None:
            return question


def _calculated(state: Quiz, rng: random.Random) -> str:
    """Return the move of a pocket calculator: it asks for sums and works them out, or guesses."""
    if state.stage == "write":
        return _question(rng, state.target, longest=state.rules.longest)
    found = worked_out(state.challenge)
    return str(_drawn(rng, state.rules)) if found is None else written(found)


def _drawn(rng: random.Random, rules: MathRules) -> int:
    return rng.randint(rules.smallest, rules.largest)


def _begin(seed: int, rules: MathRules) -> Quiz:
    return Quiz(rules, seed, target=_drawn(random.Random(f"mathquiz/{seed}"), rules))


def _written(match: Written) -> str:
    first = match.first
    secret = f"The number: {first.target}" if isinstance(first, Quiz) else ""
    return transcript("MathQuiz", match, secret)


GAME = Game(
    "mathquiz",
    "MathQuiz",
    MathRules,
    _begin,
    lambda rules: (Quiz.maker, Quiz.solver),
    extension="md",
    written=_written,
    scripts={ABLE: _calculated},
)
