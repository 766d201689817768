r"""SciCode: research problems in steps, each a function to be written, graded by running it.

Source: SciCode1/SciCode on the Hugging Face hub, splits validation and test: 80 problems of 341
steps, of which 338 are asked (the code of 13.6, 62.1 and 76.3 is given)
Revision: 4510f6a6aa27c43fad7b43da2c59602a86e88480
Paper: https://arxiv.org/abs/2407.13168
Row: {"problem_id": "900", "problem_name": "halving", "problem_description_main": "Halve.",
"required_dependencies": "import numpy as np", "sub_steps": [{"step_number": "900.1",
"step_description_prompt": "Write a function that halves an array.", "step_background": "",
"ground_truth_code": "def half(x):\n    return x / 2", "function_header": "def half(x):",
"test_cases": ["assert np.allclose(half(np.ones(2)), target)"], "return_line": "    return y"}],
"step": "900.1", "given": {}, "targets": [{"value": {"t": "float", "v": "0.5"}}]}

A question is a step; a row of the hub's is a problem. `given` and `targets` come from files beside:
the hub's dataset has none (parts/scicode/questions.py says where they are published).
"""

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from raybench.benchmarks.parts.contract import Benchmark, Draw, Grade, Row, Source
from raybench.benchmarks.parts.scicode import grading, questions, steps, targets
from raybench.errors import Problem
from raybench.grading import extract
from raybench.types import Message


class SciCode(Benchmark):
    """Each step builds on the model's own code for those before it.

    That code is taken as SciCode's authors take it, whatever it was worth: the methodology is
    silent on it.
    """

    name = "scicode"
    title = "SciCode"
    source = Source(
        "SciCode1/SciCode",
        "4510f6a6aa27c43fad7b43da2c59602a86e88480",
        {"en": ("problems_test.jsonl", "problems_dev.jsonl")},
        licence="Apache-2.0",
    )
    columns = ("step", *questions.COLUMNS, "given", "targets")
    stems = ("scicode_dev", "scicode_test", "problems_dev", "problems_test", "problems_all")
    beside: ClassVar = questions.BESIDE
    repeats = 3
    weights: ClassVar = {"intelligence": Fraction(1, 8), "coding": Fraction(1, 2)}
    sandboxed = True
    profiles = ("scientific",)
    grading = 2  # version 1 took code as the authors do
    chained = True
    whole = "main_problems"

    def questions(self, row: Row, beside: Mapping[str, Path]) -> Iterator[Row]:
        """Yield the steps of a problem."""
        return questions.of(row, beside)

    def key(self, row: Row) -> str:
        """Return the step's number: '13.2'."""
        return str(row["step"])

    def cluster(self, row: Row) -> str:
        """Return the problem: its steps stand on one another."""
        return str(row["problem_id"])

    def content(self, row: Row) -> str:
        """Return the problem and its steps up to the one that is asked."""
        told = [[it["step_description_prompt"], it["function_header"]] for it in steps.so_far(row)]
        return json.dumps([row["problem_description_main"], told])

    def follows(self, row: Row) -> tuple[str, ...]:
        """Return the steps before, without those whose code is given."""
        return tuple(step for step in steps.before(row) if step not in (row.get("given") or {}))

    def after(self, row: Row, responses: Mapping[str, str]) -> Row:
        """Return the step with the model's code of those before, whatever its tests said of it."""
        return {**row, "previous": {it: steps.code(said) or "" for it, said in responses.items()}}

    def standing_in(self, key: str) -> str:
        """Return a block that says whose code would be there."""
        return f"```python\n# the model's own code for step {key}\n```"

    def caveat(self, row: Row) -> str | None:
        """Tell of a step whose targets are not all there."""
        return questions.NO_TARGET if questions.missing(row) else None

    def problems(self, row: Row) -> Iterator[Problem]:
        """Want a number and a problem, steps that say what is to be written, and sound targets."""
        yield from steps.problems(row)
        yield from targets.problems(row.get("targets") or ())

    def prompt(
        self, row: Row, *, reasoning: bool = False, draw: Draw = Draw()
    ) -> tuple[Message, ...]:
        """Return the step after those before it, with the model's code for them."""
        return (Message("user", steps.prompt(row)),)

    def grade(self, row: Row, response: str, *, draw: Draw = Draw()) -> Grade:
        """Run the code that the methodology's regex finds: all test cases of the step must hold."""
        return self._graded(row, extract.code(response))

    def improved(self, row: Row, response: str, *, draw: Draw = Draw()) -> Grade:
        """Run the code as SciCode's authors take it, of other blocks and of replies without any."""
        return self._graded(row, steps.written(response))

    def rereads(self, row: Row, response: str) -> bool:
        """Tell whether the authors' script takes other code than the methodology's regex."""
        return steps.bare(extract.code(response)) != steps.code(response)

    def _graded(self, row: Row, written: str | None) -> Grade:
        known = questions.targets_of(row)  # without them nobody can tell, whatever was replied
        if (code := steps.bare(written)) is None:
            return Grade(False, "no code: no closed block of Python, or an empty one")
        return grading.graded(row, code, known, written=written)

    def has_gold(self, row: Row) -> bool:
        """Tell whether the solution is published: that of the test split is not."""
        return bool(self.truth(row))

    def truth(self, row: Row, *, draw: Draw = Draw()) -> str:
        """Return the published solution; '' of the test split's steps, which have none."""
        return str(steps.so_far(row)[-1].get("ground_truth_code") or "")

    def gold(self, row: Row, *, draw: Draw = Draw()) -> str:
        """Return the solution as a block."""
        return f"```python\n{self.truth(row, draw=draw)}\n```"

    def from_hub(self, row: Row) -> dict[str, Any]:
        """Return the row with what files beside it would tell."""
        return {"given": {}, "targets": [], **row}

    def from_common(self, row: Row) -> dict[str, Any]:
        """Return a plain row, which has steps too, in the hub's columns."""
        named = {"problem_id": row["id"], "problem_description_main": row["question"]}
        return self.from_hub({"problem_name": row["answer"] and row["id"], **row, **named})


BENCHMARK = SciCode()
