r"""HumanEval: 164 functions to write in Python, each with its tests.

Source: openai/openai_humaneval on the Hugging Face hub, split test, 164 problems
Revision: 7dce6050a7d6d172f3cc5c32aa97f52fa1a2e544
Paper: https://arxiv.org/abs/2107.03374
Row: {"task_id": "HumanEval/164", "prompt": "def twice(x):\n    \"\"\"Double x.\"\"\"\n",
"canonical_solution": "    return 2 * x\n",
"test": "def check(candidate):\n    assert candidate(2) == 4\n", "entry_point": "twice"}

It joins none of the methodology's indices. The program runs in the sandbox, its tests in another
process there: nothing of them reaches it.
"""

import ast
from collections.abc import Iterator
from typing import Any, ClassVar

from raybench.benchmarks.parts import functions, rows
from raybench.benchmarks.parts.contract import Benchmark, Draw, Grade, Row, Source
from raybench.errors import Problem
from raybench.grading import extract, suspicion
from raybench.grading.programs import Program, program
from raybench.grading.syntax import parsed
from raybench.sandbox import Limits
from raybench.types import Message

INSTRUCTION = (
    "Read the following function signature and docstring, and fully implement the function "
    "described. Your response should only contain the code for this function."
)
LIMITS = Limits(cpu_s=5, wall_s=10, memory_mb=2048)


class HumanEval(Benchmark):
    """A signature with a docstring is shown; a script of assertions decides."""

    name = "humaneval"
    title = "HumanEval"
    source = Source(
        "openai/openai_humaneval",
        "7dce6050a7d6d172f3cc5c32aa97f52fa1a2e544",
        {"en": "openai_humaneval/test-00000-of-00001.parquet"},
        licence="MIT",
    )
    columns = ("task_id", "prompt", "canonical_solution", "test", "entry_point")
    stems = ("human_eval", "openai_humaneval")
    weights: ClassVar = {}
    sandboxed = True
    profiles = ("plain", "scientific")
    grading = 2  # version 1 looked through all blocks

    def key(self, row: Row) -> str:
        """Return the publisher's id."""
        return str(row["task_id"])

    def problems(self, row: Row) -> Iterator[Problem]:
        """Want a prompt that ends in the function, and tests that define `check`."""
        yield from (blank := list(rows.blank(row, *self.columns)))
        if blank:
            return
        shown, tests = parsed(str(row["prompt"])), parsed(str(row["test"]))
        name = row["entry_point"]
        if shown is None or not _defines(shown.body[-1:], name):
            yield Problem(
                "data.invalid",
                f"'prompt' is no Python that ends with the function {name}",
                setting="prompt",
            )
        if tests is None or not _defines(tests.body, "check"):
            yield Problem(
                "data.invalid", "'test' is no Python that defines check(candidate)", setting="test"
            )

    def prompt(
        self, row: Row, *, reasoning: bool = False, draw: Draw = Draw()
    ) -> tuple[Message, ...]:
        """Return the instruction, and the function's definition and docstring."""
        return (Message("user", f"{INSTRUCTION}\n\n{row['prompt']}"),)

    def grade(self, row: Row, response: str, *, draw: Draw = Draw()) -> Grade:
        """Run the program in the response, and its tests against it.

        It is in the block that the methodology's regex finds. Where that finds none, the whole
        response is read: the prompt asks for code alone.
        """
        return self._graded(row, self._read(row, _found(response)))

    def improved(self, row: Row, response: str, *, draw: Draw = Draw()) -> Grade:
        """Run the first of all blocks that implements the function, with what it needs."""
        return self._graded(row, self._read(row, response))

    def rereads(self, row: Row, response: str) -> bool:
        """Tell whether the other blocks of a response make another program."""
        return self._read(row, response) != self._read(row, _found(response))

    @staticmethod
    def _read(row: Row, response: str) -> Program | None:
        return program(response, row["prompt"], row["entry_point"])

    def _graded(self, row: Row, given: Program | None) -> Grade:
        prompt, name = row["prompt"], row["entry_point"]
        if given is None:
            return Grade(False, "no code")
        found = functions.verdict(
            given.after(prompt), prompt=prompt, name=name, tests=row["test"], limits=LIMITS
        )
        flags = suspicion.flags(given.after(prompt))
        return Grade(found.passed, found.reason, given.source, flags, found.details)

    def truth(self, row: Row, *, draw: Draw = Draw()) -> str:
        """Return the whole function as its author wrote it."""
        return f"{row['prompt']}{row['canonical_solution']}"

    def gold(self, row: Row, *, draw: Draw = Draw()) -> str:
        """Return the function in a block."""
        return f"```python\n{self.truth(row, draw=draw)}\n```"

    def from_common(self, row: Row) -> dict[str, Any]:
        """Return a plain row in the hub's columns."""
        return {
            "task_id": row["id"],
            "prompt": row["question"],
            "canonical_solution": row["answer"],
            "test": row["test"],
            "entry_point": row["entry_point"],
        }


def _found(response: str) -> str:
    """Return the block that the methodology's regex finds, in its fences; else the response."""
    block = extract.code(response)
    return response if block is None else f"```python\n{block}\n```"


def _defines(body: list[ast.stmt], name: str) -> bool:
    return any(isinstance(it, ast.FunctionDef) and it.name == name for it in body)


BENCHMARK = HumanEval()
