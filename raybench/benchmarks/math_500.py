r"""MATH-500: five hundred competition problems with answers in LaTeX.

Source: HuggingFaceH4/MATH-500 on the Hugging Face hub, the test set of PRM800K, 500 problems
Revision: 6e4ed1a2a79af7d8630a6b768ec859cb5af4d3be
Paper: https://arxiv.org/abs/2103.03874 (MATH), https://arxiv.org/abs/2305.20050 (the selection)
Row: {"problem": "What is $1+1$?", "solution": "It is $\\boxed{2}$.", "answer": "2",
"subject": "Prealgebra", "level": 1, "unique_id": "test/prealgebra/0.json"}
"""

from fractions import Fraction
from typing import Any, ClassVar

from raybench.benchmarks.parts import rows
from raybench.benchmarks.parts.contract import Row, Source
from raybench.benchmarks.parts.maths import Maths


class Math500(Maths):
    """Problems of seven subjects and five levels."""

    name = "math_500"
    title = "MATH-500"
    source = Source(
        "HuggingFaceH4/MATH-500",
        "6e4ed1a2a79af7d8630a6b768ec859cb5af4d3be",
        {"en": "test.jsonl"},
        licence="MIT (MATH and PRM800K; the hub names none)",
    )
    columns = ("unique_id", "problem", "answer", "subject")
    stems = ("math500",)
    size = 500
    repeats = 3
    weights: ClassVar = {"intelligence": Fraction(1, 8), "math": Fraction(1, 2)}

    def key(self, row: Row) -> str:
        """Return the publisher's id."""
        return str(row["unique_id"])

    def from_common(self, row: Row) -> dict[str, Any]:
        """Return a plain row in the hub's columns."""
        return {
            "unique_id": row["id"],
            "problem": row["question"],
            "answer": row["answer"],
            "subject": row["subject"],
        }

    def subject(self, row: Row) -> str | None:
        """Return the field of mathematics."""
        return rows.subject(row, "subject")


BENCHMARK = Math500()
