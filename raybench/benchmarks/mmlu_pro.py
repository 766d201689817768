"""MMLU-Pro: knowledge and reasoning in fourteen fields, up to ten options a question.

Source: TIGER-Lab/MMLU-Pro on the Hugging Face hub, split test, 12,032 questions
Revision: 3373e0b32277875b8db2aa555a333b78a08477ea, of November 2024: what the methodology
(February 2025) could see; 15 answers of health were revised in April 2025
Paper: https://arxiv.org/abs/2406.01574
Row: {"question_id": 7, "question": "Which of these is a prime?", "options": ["4", "6", "7"],
"answer": "C", "answer_index": 2, "category": "math"}
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from raybench.benchmarks.parts import rows
from raybench.benchmarks.parts.choices import LETTERS, MultipleChoice
from raybench.benchmarks.parts.contract import Draw, Row, Source
from raybench.errors import Problem


class MMLUPro(MultipleChoice):
    """Most questions have ten options, some as few as three; the prompt names ten letters."""

    name = "mmlu_pro"
    title = "MMLU-Pro"
    source = Source(
        "TIGER-Lab/MMLU-Pro",
        "3373e0b32277875b8db2aa555a333b78a08477ea",
        {"en": "data/test-00000-of-00001.parquet"},
        licence="MIT",
    )
    columns = ("question_id", "question", "options", "answer", "category")
    stems = ("mmlu_pro_test",)
    size = 12_032
    weights: ClassVar = {"intelligence": Fraction(1, 6)}
    asks = "question"
    letters: ClassVar = LETTERS

    def key(self, row: Row) -> str:
        """Return the publisher's number."""
        return str(row["question_id"])

    def problems(self, row: Row) -> Iterator[Problem]:
        """Want an id, 2 to 10 options and an answer among them."""
        yield from rows.blank(row, "question_id", "question", "answer")
        options = row["options"]
        if not isinstance(options, Sequence) or isinstance(options, str):
            yield Problem(
                "data.invalid",
                "'options' is no list",
                setting="options",
                fix="give the options as a list of texts",
            )
        elif not 2 <= len(options) <= len(LETTERS):
            yield Problem(
                "data.invalid",
                f"'options' has {len(options)} entries",
                setting="options",
                fix=f"give 2 to {len(LETTERS)}",
            )
        else:
            yield from rows.no_option(row, "answer", LETTERS[: len(options)])
            if any(map(rows.empty, options)):
                yield Problem(
                    "data.invalid",
                    "'options' has an empty entry",
                    setting="options",
                    fix="fill it in or leave the row out",
                )

    def options(self, row: Row, draw: Draw) -> Sequence[str]:
        """Return the options as published."""
        return tuple(map(str, row["options"]))

    def truth(self, row: Row, *, draw: Draw = Draw()) -> str:
        """Return the published letter."""
        return str(row["answer"])

    def from_common(self, row: Row) -> dict[str, Any]:
        """Return a plain row in the hub's columns."""
        return {
            "question_id": row["id"],
            "question": row["question"],
            "options": row["options"],
            "answer": row["answer"],
            "category": row["subject"],
        }

    def subject(self, row: Row) -> str | None:
        """Return the field."""
        return rows.subject(row, "category")


BENCHMARK = MMLUPro()
