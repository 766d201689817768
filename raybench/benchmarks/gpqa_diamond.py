"""GPQA Diamond: graduate-level biology, physics and chemistry that a search does not answer.

Source: Idavidrein/gpqa on the Hugging Face hub, gpqa_diamond.csv, 198 questions; gated, and the
authors ask not to publish questions anywhere
Revision: 633f5ee89ab8ad4522a9f850766b73f62147ffdd
Paper: https://arxiv.org/abs/2311.12022
Row: {"Record ID": "rec1", "Question": "Which gas do plants take up?", "Correct Answer": "CO2",
"Incorrect Answer 1": "O2", "Incorrect Answer 2": "N2", "Incorrect Answer 3": "He",
"High-level domain": "Biology"}
"""

import hashlib
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any, ClassVar

from raybench.benchmarks.parts import rows
from raybench.benchmarks.parts.choices import LETTERS, MultipleChoice, lettered
from raybench.benchmarks.parts.contract import Draw, Row, Source
from raybench.errors import Problem

_ANSWERS = ("Correct Answer", *(f"Incorrect Answer {number}" for number in (1, 2, 3)))
_ORDERS = tuple(permutations(range(len(_ANSWERS))))


class GPQADiamond(MultipleChoice):
    """The right answer is published first, so the options are drawn anew for every asking."""

    name = "gpqa_diamond"
    title = "GPQA Diamond"
    source = Source(
        "Idavidrein/gpqa",
        "633f5ee89ab8ad4522a9f850766b73f62147ffdd",
        {"en": "gpqa_diamond.csv"},
        licence="CC-BY-4.0",
        gated=True,
    )
    columns = ("Record ID", "Question", *_ANSWERS, "High-level domain")
    size = 198
    repeats = 5
    weights: ClassVar = {"intelligence": Fraction(1, 6)}
    asks = "Question"

    def key(self, row: Row) -> str:
        """Return the publisher's id."""
        return str(row["Record ID"])

    def problems(self, row: Row) -> Iterator[Problem]:
        """Want four answers, the right one unlike the others."""
        yield from rows.blank(row, "Record ID", "Question", *_ANSWERS)
        right, *others = (str(row[column]).strip() for column in _ANSWERS)
        if right in others:
            yield Problem(
                "data.invalid",
                "an incorrect answer is the correct one",
                fix="mend it or leave the row out",
            )

    def options(self, row: Row, draw: Draw) -> Sequence[str]:
        """Return the answers in this asking's order.

        Line ends around some of them would tell the answers apart by their looks.
        """
        return tuple(str(row[_ANSWERS[place]]).strip() for place in self._order(row, draw))

    def truth(self, row: Row, *, draw: Draw = Draw()) -> str:
        """Return the letter the right answer has in this asking."""
        return LETTERS[self._order(row, draw).index(0)]

    def from_common(self, row: Row) -> dict[str, Any]:
        """Return a plain row in the hub's columns."""
        options = lettered(row["options"], len(_ANSWERS))
        told = (*rows.blank(row, "answer"), *rows.no_option(row, "answer", "".join(options)))
        if told:
            raise ValueError(str(told[0]))
        right = options.pop(row["answer"])
        return {
            "Record ID": row["id"],
            "Question": row["question"],
            "Correct Answer": right,
            **{f"Incorrect Answer {n}": option for n, option in enumerate(options.values(), 1)},
            "High-level domain": row["subject"],
        }

    def subject(self, row: Row) -> str | None:
        """Return the domain."""
        return rows.subject(row, "High-level domain")

    def _order(self, row: Row, draw: Draw) -> tuple[int, ...]:
        """Return one of the 24 orders, each as likely: a hash stays what it is in any Python."""
        asking = f"{draw.seed} {draw.repeat} {self.key(row)}"
        number = int.from_bytes(hashlib.sha256(asking.encode()).digest())
        return _ORDERS[number % len(_ORDERS)]


BENCHMARK = GPQADiamond()
