r"""Problems whose answer stands in \boxed{}: prompt and first stage of grading of seed 001."""

from collections.abc import Iterator
from typing import ClassVar

from raybench.benchmarks.parts import rows
from raybench.benchmarks.parts.contract import Benchmark, Draw, Grade, Row
from raybench.errors import Problem
from raybench.grading import extract
from raybench.grading import math as script
from raybench.grading.improved import maths
from raybench.types import Message


class Maths(Benchmark):
    """A problem with one answer, in the columns `problem` and `answer`."""

    checked = True
    grading: ClassVar = 2  # version 1 sent no reply without a box to the checker

    def problems(self, row: Row) -> Iterator[Problem]:
        """Want an id, a problem and an answer: the first columns of all of them."""
        return rows.blank(row, *self.columns[:3])

    def prompt(
        self, row: Row, *, reasoning: bool = False, draw: Draw = Draw()
    ) -> tuple[Message, ...]:
        r"""Return the problem between the instruction and its reminder.

        The methodology prints `\\boxed{{}}`: a template's escaping of `\boxed{}`.
        """
        return (
            Message(
                "user",
                "Solve the following math problem step by step. "
                f"Put your answer inside \\boxed{{}}.\n\n{row['problem']}\n\n"
                "Remember to put your answer inside \\boxed{}.",
            ),
        )

    def grade(self, row: Row, response: str, *, draw: Draw = Draw()) -> Grade:
        """Compare what the last box holds, as far as the script can tell."""
        given = (extract.boxed(response) or "").strip()
        if not given:
            return Grade(False, "no \\boxed{...} with an answer in it")
        right = script.equivalent(given, self.truth(row, draw=draw))
        return Grade(right, "right" if right else "wrong", given)

    def improved(self, row: Row, response: str, *, draw: Draw = Draw()) -> Grade:
        """Compare what the last box holds by what it says, not by how it is written."""
        given = (extract.boxed(response) or "").strip()
        if not given:
            return Grade(False, "no \\boxed{...} with an answer in it")
        decision = maths.decide(given, self.truth(row, draw=draw))
        return Grade(decision == "right", decision, given)

    def truth(self, row: Row, *, draw: Draw = Draw()) -> str:
        """Return the published answer."""
        return str(row["answer"])

    def gold(self, row: Row, *, draw: Draw = Draw()) -> str:
        """Return the right answer in a box."""
        return f"\\boxed{{{self.truth(row, draw=draw)}}}"
