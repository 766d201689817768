r"""LiveCodeBench: problems of programming contests, asked of models that had not seen them.

Source: livecodebench/code_generation_lite on the Hugging Face hub, release_v5: 880 problems in five
files, of which the 315 of contests from July to December 2024 are asked
Revision: 0fe84c3912ea0c4d4a78037083943e8f0c4dd505, which has a sixth file too, of release_v6. Seen
in a dozen public projects that pin it with these files; the hub itself could not be asked
Paper: https://arxiv.org/abs/2403.07974
Row: {"question_title": "Double", "question_content": "Print twice the number.",
"platform": "atcoder", "question_id": "abc000_a", "contest_id": "abc000",
"contest_date": "2024-08-03T00:00:00", "starter_code": "", "difficulty": "easy",
"public_test_cases": "[{\"input\": \"2\\n\", \"output\": \"4\\n\", \"testtype\": \"stdin\"}]",
"private_test_cases": "[]", "metadata": "{}", "solution": "print(2 * int(input()))"}
`solution` is ours: the hub has none, so that its rows cannot be checked by their gold.
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar

from raybench.benchmarks.parts import rows
from raybench.benchmarks.parts.contract import Benchmark, Draw, Grade, Row, Source
from raybench.benchmarks.parts.livecodebench import cases, grades, plain, prompts
from raybench.benchmarks.parts.livecodebench.grades import Compat
from raybench.errors import Problem
from raybench.grading import extract
from raybench.types import Message

_FIRST, _LAST = "2024-07-01", "2024-12-31"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class LiveCodeBench(Benchmark):
    """Programs that read and write, or functions of a class; all tests must pass."""

    name = "livecodebench"
    title = "LiveCodeBench"
    source = Source(
        "livecodebench/code_generation_lite",
        "0fe84c3912ea0c4d4a78037083943e8f0c4dd505",
        {"en": ("test.jsonl", "test2.jsonl", "test3.jsonl", "test4.jsonl", "test5.jsonl")},
        licence="CC, of no stated kind (problems © their contest sites)",
    )
    columns = (
        "question_title", "question_content", "platform", "question_id", "contest_id",
        "contest_date", "starter_code", "difficulty", "public_test_cases", "private_test_cases",
        "metadata", "solution",
    )  # fmt: skip
    stems = ("livecodebench_v6_samples",)
    size = 315
    repeats = 3
    weights: ClassVar = {"intelligence": Fraction(1, 8), "coding": Fraction(1, 2)}
    sandboxed = True
    profiles = ("plain", "scientific")
    verdicts = ("official",)

    def key(self, row: Row) -> str:
        """Return the contest's number of the problem."""
        return str(row["question_id"])

    def belongs(self, row: Row) -> bool:
        """Leave out problems of contests before or after; a date that is none is told of later."""
        day = _DATE.match(str(row["contest_date"]))
        return day is None or _FIRST <= day[0] <= _LAST

    def problems(self, row: Row) -> Iterator[Problem]:
        """Want an id, a text, a date and tests that can be read."""
        yield from rows.blank(row, "question_id", "question_content", "contest_date")
        day = row["contest_date"]
        if not rows.empty(day) and not _DATE.match(str(day)):
            yield Problem(
                "data.invalid",
                f"'contest_date' is '{day}'",
                setting="contest_date",
                given=day,
                fix="give YYYY-MM-DD",
            )
        yield from cases.problems(row)

    def prompt(
        self, row: Row, *, reasoning: bool = False, draw: Draw = Draw()
    ) -> tuple[Message, ...]:
        """Return the problem and in which form its program is wanted, without a system prompt."""
        return (Message("user", prompts.of(row)),)

    def grade(
        self, row: Row, response: str, *, draw: Draw = Draw(), compat: Compat = "strict"
    ) -> Grade:
        """Run the first block of Python on all tests: it passes all or is wrong."""
        return grades.of(row, extract.code(response), compat)

    def caveat(self, row: Row) -> str | None:
        """Tell of a problem that has only the tests which its text shows."""
        return None if cases.of(row).hidden else cases.NONE_HIDDEN

    def has_gold(self, row: Row) -> bool:
        """Tell whether a right program is known: the hub has none."""
        return not rows.empty(row.get("solution"))

    def truth(self, row: Row, *, draw: Draw = Draw()) -> str:
        """Return a right program, or what it does where none is known."""
        return str(row["solution"]) if self.has_gold(row) else "a program that passes all tests"

    def gold(self, row: Row, *, draw: Draw = Draw()) -> str:
        """Return a right program in a block; raise ValueError where none is known."""
        if not self.has_gold(row):
            raise ValueError(f"no right program is known for question {row['question_id']}")
        return f"```python\n{row['solution']}\n```"

    def from_hub(self, row: Row) -> dict[str, Any]:
        """Return a row of the hub, which has no solution."""
        return {"solution": None, **row}

    def from_common(self, row: Row) -> dict[str, Any]:
        """Return a plain row, with samples of its tests, in the hub's columns."""
        return plain.in_columns(row)

    def subject(self, row: Row) -> str | None:
        """Return how hard the problem is."""
        return rows.subject(row, "difficulty")


BENCHMARK = LiveCodeBench()
