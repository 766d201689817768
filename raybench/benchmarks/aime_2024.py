"""AIME 2024: the thirty problems of a contest whose answers are whole numbers from 1 to 999.

Source: AI-MO/aimo-validation-aime on the Hugging Face hub: 90 problems of 2022 to 2024, of which
those of 2024 are asked
Revision: 13f9e12f613e720c2a2b2f345dd04b998a29494d
Paper: none; the American Invitational Mathematics Examination of the MAA
Row: {"id": 60, "problem": "Find the least $n > 9$ divisible by 5.", "answer": "010",
"url": "https://artofproblemsolving.com/wiki/index.php/2024_AIME_I_Problems/Problem_1"}
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar

from raybench.benchmarks.parts.contract import Draw, Row, Source
from raybench.benchmarks.parts.maths import Maths
from raybench.errors import Problem

_YEAR = re.compile(r"(\d{4})_AIME_")


class AIME2024(Maths):
    """Answers are published with leading zeros and compared without."""

    name = "aime_2024"
    title = "AIME 2024"
    source = Source(
        "AI-MO/aimo-validation-aime",
        "13f9e12f613e720c2a2b2f345dd04b998a29494d",
        {"en": "data/train-00000-of-00001.parquet"},
        licence="Apache-2.0 (the collection; problems © MAA)",
    )
    columns = ("id", "problem", "answer", "url")
    stems = ("aime2024",)
    size = 30
    repeats = 10
    weights: ClassVar = {"intelligence": Fraction(1, 8), "math": Fraction(1, 2)}

    def key(self, row: Row) -> str:
        """Return the publisher's id."""
        return str(row["id"])

    def belongs(self, row: Row) -> bool:
        """Leave out what the address calls a problem of another year."""
        year = _YEAR.search(str(row["url"]))
        return year is None or year[1] == "2024"

    def problems(self, row: Row) -> Iterator[Problem]:
        """Want a whole number of up to three digits, which is not 0."""
        yield from super().problems(row)
        if not re.fullmatch(r"(?!0+$)[0-9]{1,3}", str(row["answer"])):
            yield Problem(
                "data.invalid",
                f"'answer' is '{row['answer']}': AIME's are whole numbers from 1 to 999",
                setting="answer",
                given=row["answer"],
            )

    def truth(self, row: Row, *, draw: Draw = Draw()) -> str:
        """Return the answer without leading zeros."""
        return str(int(row["answer"]))

    def from_common(self, row: Row) -> dict[str, Any]:
        """Return a plain row in the hub's columns; its id is the end of the address."""
        return {
            "id": row["id"],
            "problem": row["question"],
            "answer": row["answer"],
            "url": row["id"],
        }


BENCHMARK = AIME2024()
