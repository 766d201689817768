"""A question in HumanEval's columns, and programs graded by it."""

import textwrap
from typing import Any

from raybench import benchmarks
from raybench.benchmarks import Grade

HUMANEVAL = benchmarks.load("humaneval")

PROMPT = '''from typing import List


def encode(text: str) -> str:
    """ Shift by one. """
    return "".join(chr(ord(letter) + 1) for letter in text)


def solve(numbers: List[int], factor: int = 2) -> List[int]:
    """ Return the numbers, each times the factor. """
'''
TESTS = """
METADATA = {}


def check(candidate):
    assert candidate([1, 2]) == [2, 4]
    assert candidate([], 5) == []
    assert candidate([3], factor=10) == [30], "by name"
    for n in range(20):
        assert candidate(list(range(n)), n) == [i * n for i in range(n)]
    assert sorted(candidate([9, 7], 1)) == [7, 9]
    assert all(isinstance(it, int) for it in candidate([1, 2, 3], 3))
    assert abs(candidate([4], 1)[0] - 4) < 1e-6
"""
RIGHT = "def solve(numbers, factor=2):\n    return [factor * number for number in numbers]\n"


def row(**columns: Any) -> dict[str, Any]:
    return {
        "task_id": "HumanEval/164",
        "prompt": PROMPT,
        "canonical_solution": "    return [factor * number for number in numbers]\n",
        "test": TESTS,
        "entry_point": "solve",
    } | columns


def graded(source: str, **columns: Any) -> Grade:
    return HUMANEVAL.grade(row(**columns), f"```python\n{textwrap.dedent(source)}\n```")


def by_lines(source: str, *lines: str, **columns: Any) -> Grade:
    """Grade a program by tests of a few lines."""
    test = "def check(candidate):\n" + "".join(f"    {line}\n" for line in lines)
    return graded(source, test=test, **columns)
