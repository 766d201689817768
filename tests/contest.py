"""Small problems that tests of LiveCodeBench solve."""

import base64
import json
import pickle
import zlib
from collections.abc import Sequence
from textwrap import dedent
from typing import Any

from raybench import benchmarks
from raybench.benchmarks import Grade
from raybench.benchmarks.livecodebench import LiveCodeBench

LCB = benchmarks.load("livecodebench")
assert isinstance(LCB, LiveCodeBench)
Pairs = Sequence[tuple[str, str]]

SUMS: Pairs = (("3\n1 2 3\n", "6\n"), ("2\n40 2\n", "42\n"))
"""How many numbers, and the numbers: what is their sum?"""
HEADS: Pairs = (("[1,2,3]\n2", "[1,2]"), ("[5]\n0", "[]"), ("[4,4,4]\n3", "[4,4,4]"))
"""A list and how much of it."""


def row(public: Pairs = SUMS, private: Pairs = (), *, function: str | None = None) -> Any:
    """Return a row with these tests."""
    return {
        "question_title": "A. Task",
        "question_content": "Do it.",
        "platform": "leetcode" if function else "atcoder",
        "question_id": "rb9_a",
        "contest_id": "rb9",
        "contest_date": "2024-08-01T00:00:00",
        "starter_code": f"class Solution:\n    def {function}(self):\n        " if function else "",
        "difficulty": "easy",
        "public_test_cases": plain(public, function),
        "private_test_cases": plain(private, function),
        "metadata": json.dumps({"func_name": function} if function else {}),
        "solution": None,
    }


def plain(pairs: Pairs, function: str | None = None) -> str:
    kind = "functional" if function else "stdin"
    return json.dumps([{"input": a, "output": b, "testtype": kind} for a, b in pairs])


def packed(value: Any) -> str:
    """Return a value as the hub packs the text of private tests."""
    return squeezed(pickle.dumps(value))


def squeezed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


def reply(program: str) -> str:
    return f"Here it is:\n```python\n{dedent(program).strip()}\n```\n"


def graded(program: str, question: Any = None, **how: Any) -> Grade:
    """Grade a program: by default one that sums."""
    assert isinstance(LCB, LiveCodeBench)
    return LCB.grade(question or row(), reply(program), **how)


def heads(program: str, **how: Any) -> Grade:
    """Grade a program with a function `head`."""
    return graded(program, row(HEADS, function="head"), **how)
