"""MGSM: 250 grade-school problems in words, in eleven languages.

Source: juletxara/mgsm on the Hugging Face hub, split test, 250 problems a language
Revision: b2f13d426afe3be8d69a7e739b36724db8b66bbc
Paper: https://arxiv.org/abs/2210.03057
Row: {"question": "Ana hat 3 Äpfel und isst einen. Wie viele bleiben?", "answer_number": 2,
"language": "de", "id": 1}

Asked and read as openai/simple-evals does it, in the problem's language.
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar

from raybench.benchmarks.parts import rows
from raybench.benchmarks.parts.contract import Benchmark, Draw, Grade, Row, Source
from raybench.benchmarks.parts.mgsm_words import DECIMAL_COMMAS, INSTRUCTIONS, PREFIXES
from raybench.errors import Problem
from raybench.grading import numbers
from raybench.grading.improved import numbers as values
from raybench.grading.improved.statements import NoAnswer
from raybench.types import Message


class MGSM(Benchmark):
    """The same problems in every language, answered by a whole number."""

    name = "mgsm"
    title = "MGSM"
    source = Source(
        "juletxara/mgsm",
        "b2f13d426afe3be8d69a7e739b36724db8b66bbc",
        {language: f"{language}/test-00000-of-00001.parquet" for language in PREFIXES},
        licence="CC-BY-SA-4.0",
    )
    columns = ("id", "question", "answer_number")
    weights: ClassVar = {"multilingual": Fraction(1, 2)}

    def key(self, row: Row) -> str:
        """Return the place in each language's file: translations share it."""
        return str(row["id"])

    def problems(self, row: Row) -> Iterator[Problem]:
        """Want an id, a whole number and one of the languages."""
        yield from rows.blank(row, "id", "question")
        if not re.fullmatch("[0-9]+", self.truth(row)):
            yield Problem(
                "data.invalid",
                f"'answer_number' is '{row['answer_number']}'",
                setting="answer_number",
                given=row["answer_number"],
                fix="give a whole number without a sign",
            )
        if self.language(row) not in PREFIXES:
            yield Problem(
                "data.invalid",
                f"'language' is '{self.language(row)}'",
                setting="language",
                given=self.language(row),
                fix=f"there is {', '.join(PREFIXES)}",
            )

    def prompt(
        self, row: Row, *, reasoning: bool = False, draw: Draw = Draw()
    ) -> tuple[Message, ...]:
        """Return the instruction in the problem's language, and the problem."""
        return (Message("user", f"{INSTRUCTIONS[self.language(row)]}\n\n{row['question']}"),)

    def grade(self, row: Row, response: str, *, draw: Draw = Draw()) -> Grade:
        """Compare the number as text."""
        prefix = PREFIXES[self.language(row)]
        given = numbers.stated(response, prefix)
        if given is None:
            return Grade(False, f"no number without a sign, in digits 0 to 9, after '{prefix}'")
        right = given == self.truth(row)
        return Grade(right, "right" if right else "wrong", given)

    def improved(self, row: Row, response: str, *, draw: Draw = Draw()) -> Grade:
        """Compare the number by its value, in whatever digits and words it stands."""
        try:
            given = values.stated(response, decimal_comma=self.language(row) in DECIMAL_COMMAS)
        except NoAnswer as why:
            return Grade(False, str(why))
        right = given == int(self.truth(row))
        return Grade(right, "right" if right else "wrong", values.written(given))

    def truth(self, row: Row, *, draw: Draw = Draw()) -> str:
        """Return the number without thousands commas."""
        return str(row["answer_number"]).replace(",", "")

    def gold(self, row: Row, *, draw: Draw = Draw()) -> str:
        """Return the number after the language's prefix."""
        return f"{PREFIXES[self.language(row)]}: {self.truth(row)}"

    def from_common(self, row: Row) -> dict[str, Any]:
        """Return a plain row in the hub's columns."""
        return {
            "id": str(row["id"]).replace(f"_{row['language']}_", "_"),
            "question": row["question"],
            "answer_number": row["answer"],
            "language": row["language"],
        }

    def from_hub(self, row: Row) -> dict[str, Any]:
        """Return the row with an id."""
        return {"id": row["number"], **row}


BENCHMARK = MGSM()
