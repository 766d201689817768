"""Prompt, verdicts in words, and honest programs of every kind."""

import json
from pathlib import Path
from typing import Any

import methodology
import pytest
import real_rows
from refusals import refusals
from solving import HUMANEVAL, PROMPT, RIGHT, by_lines, graded, row

from raybench import benchmarks, sandbox
from raybench.benchmarks.humaneval import INSTRUCTION, LIMITS
from raybench.benchmarks.parts.contract import UngradableError
from raybench.sandbox import Limits

SAMPLES = Path(benchmarks.__path__[0]) / "samples" / "humaneval.jsonl"


# ------------------------------------------------------------------------------ prompt and verdict


def test_the_prompt_is_the_methodologys() -> None:
    (message,) = HUMANEVAL.prompt(row())
    assert message.role == "user"
    assert message.content == f"{INSTRUCTION}\n\n{PROMPT}"
    assert f"\n{INSTRUCTION}\n" in methodology.text()


def test_it_joins_no_index_and_is_asked_once() -> None:
    assert (HUMANEVAL.weights, HUMANEVAL.repeats, HUMANEVAL.sandboxed) == ({}, 1, True)


@pytest.mark.sandbox
def test_a_right_program_is_told_so_with_what_it_used() -> None:
    grade = graded(RIGHT)
    assert (grade.correct, grade.reason, grade.answer) == (True, "right", RIGHT.rstrip())
    assert grade.flags == ()
    assert grade.details["status"] == "ok"
    assert grade.details["assertions"] == 7
    assert "assertion" not in grade.details
    assert grade.details.keys() > {"cpu_s", "wall_s", "memory_mb", "backend", "python"}
    json.dumps(grade.details)


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            "def solve(numbers, factor=2):\n    return [2 * number for number in numbers]",
            "assertion 3 of 7 fails: assert candidate([3], factor=10) == [30] (it returned [6])",
        ),
        (
            "def solve(numbers, factor=2):\n    return [None, [2, 4][: len(numbers)]][factor < 10]",
            "assertion 3 of 7 fails: assert candidate([3], factor=10) == [30] (it returned None)",
        ),
        (
            "def solve(numbers, factor=2):\n    return [numbers[0] * factor, 4]",
            "it raises IndexError: list index out of range at assertion 2 of 7: "
            "assert candidate([], 5) == []",
        ),
        (
            "class Odd(Exception): pass\ndef solve(numbers, factor=2):\n    raise Odd('so')",
            "it raises Exception: Odd: so at assertion 1 of 7: assert candidate([1, 2]) == [2, 4]",
        ),
        ("def solve(numbers)\n    return 1", "the program does not compile: expected ':' (line 1)"),
        ("def solve(a):\n    return 1\n\x00", "the program does not compile: "),
        ("def other(a):\n    return 1", "no function solve"),
        ("solve = 5", "no function solve"),
        (
            "def solve(numbers):\n    return 1\n\nnothing.at_all",
            "the program fails before its tests: NameError: name 'nothing' is not defined (line 4)",
        ),
        (
            "import numpy_or_so\ndef solve(numbers):\n    return 1",
            "the program fails before its tests: ModuleNotFoundError: "
            "No module named 'numpy_or_so' (line 1)",
        ),
    ],
)
def test_what_is_wrong_is_told_in_words(source: str, reason: str) -> None:
    grade = graded(source)
    assert not grade.correct
    assert grade.parsed
    assert grade.reason.startswith(reason)


@pytest.mark.sandbox
def test_the_number_of_the_assertion_that_failed_is_kept() -> None:
    details = graded("def solve(numbers, factor=2):\n    return []").details
    assert (details["assertion"], details["assertions"]) == (1, 7)


@pytest.mark.sandbox
def test_a_program_without_an_end_runs_into_the_time_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("raybench.benchmarks.humaneval.LIMITS", Limits(cpu_s=1, wall_s=1.5))
    grade = graded("def solve(numbers, factor=2):\n    while True: pass")
    assert not grade.correct
    assert grade.reason.startswith("time limit")
    assert grade.details["status"] == "timeout"


def test_the_limits_are_those_that_were_measured() -> None:
    assert (LIMITS.cpu_s, LIMITS.wall_s, LIMITS.memory_mb) == (5, 10, 2048)


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"prompt": "x = 1\n"}, "prompt"),
        ({"prompt": "def solve(:"}, "prompt"),
        ({"entry_point": "encode"}, "prompt"),
        ({"test": "assert True"}, "test"),
        ({"test": "def check("}, "test"),
        ({"test": ""}, "test"),
        ({"test": 5}, "test"),
        ({"prompt": 5}, "prompt"),
    ],
)
def test_a_row_that_cannot_be_graded_is_told_before(columns: dict[str, Any], told: str) -> None:
    assert refusals(HUMANEVAL.problems(row(**columns))) == [("data.invalid", told)]


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"test": "1 / 0\ndef check(candidate): pass"}, "ZeroDivisionError"),
        ({"test": "def check(candidate): pass"}, "never call the function"),
        ({"test": "def check(candidate): assert candidate(len) == 1"}, "cannot be sent"),
        ({"prompt": f"import nothing_of_the_kind\n{PROMPT}"}, "the question's own code fails"),
    ],
)
def test_a_fault_of_the_question_is_no_models_miss(columns: dict[str, str], told: str) -> None:
    with pytest.raises(UngradableError, match=told):
        graded(RIGHT, **columns)


def test_a_fault_of_the_sandbox_is_nobodys_grade(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("no sandbox")

    monkeypatch.setattr(sandbox, "run", broken)
    with pytest.raises(RuntimeError, match="no sandbox"):
        graded(RIGHT)


# -------------------------------------------------------------------------------- honest programs


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "source",
    [
        "    return [factor * number for number in numbers]",  # a body
        "def solve(numbers: List[int], factor: int = 2) -> List[int]:\n"
        "    return [factor * number for number in numbers]",  # without its import
        "from __future__ import annotations\n" + RIGHT,
        RIGHT + "\nif __name__ == '__main__':\n    print(solve(eval(input())))",
        RIGHT + "\nassert solve([1]) == [2]\nprint(solve([1, 2]))",
        RIGHT.replace("return", "print('noise ' * 10_000); return"),
        RIGHT.replace("return", "import sys; sys.stderr.write('x' * 100_000); return"),
        RIGHT.replace("return", "import sys; assert sys.stdin.read() == ''; return"),
        "solve = lambda numbers, factor=2: [factor * number for number in numbers]",
        """
        class Doubler:
            def __init__(self, factor): self.factor = factor
            def __call__(self, number): return self.factor * number
        def solve(numbers, factor=2):
            return list(map(Doubler(factor), numbers))
        """,
        """
        from dataclasses import dataclass
        @dataclass
        class Pair:
            a: int
            b: int
        def solve(numbers, factor=2):
            return [p.a * p.b for p in [Pair(n, factor) for n in numbers]]
        """,
        """
        def solve(numbers, factor=2):
            if not numbers: return []
            return [factor * numbers[0]] + solve(numbers[1:], factor)
        """,
        """
        def solve(numbers, factor=2):
            for place, number in enumerate(numbers):
                numbers[place] = factor * number
            return numbers
        """,
        """
        import threading
        def solve(numbers, factor=2):
            found = []
            worker = threading.Thread(target=lambda: found.extend(factor * n for n in numbers))
            worker.start(); worker.join()
            return found
        """,
        """
        calls = 0
        def solve(numbers, factor=2):
            global calls
            calls += 1
            return [factor * number for number in numbers]
        """,
        """
        import functools
        @functools.lru_cache(None)
        def times(a, b): return a * b
        def solve(numbers, factor=2):
            return [times(factor, n) for n in numbers]
        """,
        """
        import numpy as np
        def solve(numbers, factor=2):
            return [np.int64(factor) * n for n in numbers]
        """,
    ],
)
def test_honest_programs_pass(source: str) -> None:
    grade = graded(source)
    assert (grade.reason, grade.correct, grade.flags) == ("right", True, ())


@pytest.mark.sandbox
def test_helpers_of_the_prompt_are_there_for_program_and_tests() -> None:
    right = "def solve(text):\n    return encode(encode(text))"
    assert by_lines(right, "assert candidate('a') == encode(encode('a')) == 'c'").correct
    # A helper of the program's own counts for the program only.
    sly = f"def encode(text): return text\n{right}"
    assert not by_lines(sly, "assert candidate('a') == encode(encode('a'))").correct


@pytest.mark.sandbox
def test_deep_recursion_is_as_deep_as_elsewhere() -> None:
    deep = "def solve(n):\n    return 0 if n == 0 else 1 + solve(n - 1)"
    assert by_lines(deep, "assert candidate(980) == 980").correct
    assert "RecursionError" in by_lines(deep, "assert candidate(5000) == 5000").reason
    more = f"import sys\nsys.setrecursionlimit(20_000)\n{deep}"
    assert by_lines(more, "assert candidate(10_000) == 10_000").correct


@pytest.mark.sandbox
def test_a_generator_is_an_answer() -> None:
    lazy = "def solve(n):\n    for i in range(n):\n        yield i"
    assert by_lines(lazy, "assert list(candidate(3)) == [0, 1, 2]").correct
    assert not by_lines(lazy, "assert candidate(3) == [0, 1, 2]").correct
    endless = "import itertools\ndef solve(n):\n    return itertools.count(n)"
    assert by_lines(endless, "assert next(candidate(7)) == 7").correct


@pytest.mark.sandbox
def test_an_exception_that_the_tests_want_is_seen_by_its_type() -> None:
    lines = ("try:", "    candidate(1)", "except KeyError:", "    return", "assert False")
    assert by_lines("def solve(n):\n    raise KeyError(n)", *lines).correct
    assert by_lines("class E(KeyError): pass\ndef solve(n):\n    raise E(n)", *lines).correct
    assert not by_lines("def solve(n):\n    raise ValueError(n)", *lines).correct
    assert not by_lines("def solve(n):\n    return n", *lines).correct


@pytest.mark.sandbox
def test_what_is_done_to_arguments_is_seen() -> None:
    lines = (
        "inner = [3]",
        "given = {'a': inner, 'b': {1}}",
        "assert candidate(given) is None",
        "assert given == {'a': [3, 4], 'c': [0]}",
        "assert given['a'] is inner",
    )
    source = "def solve(d):\n    d['a'].append(4); del d['b']; d['c'] = [0]"
    assert by_lines(source, *lines).correct
    assert not by_lines("def solve(d):\n    d = {'a': [3, 4], 'c': [0]}", *lines).correct
    same = "def solve(l):\n    l.sort()\n    return l"
    assert by_lines(same, "l = [2, 1]", "assert candidate(l) is l").correct


@pytest.mark.sandbox
def test_tests_that_draw_at_random_draw_the_same_every_time() -> None:
    lines = ("import random", "drawn = random.random()", "assert candidate(drawn) == 0")
    reasons = {by_lines("def solve(x):\n    return x", *lines).reason for _ in range(2)}
    assert len(reasons) == 1


@pytest.mark.sandbox
def test_the_gold_of_the_samples_passes_and_nothing_does_not() -> None:
    for line in SAMPLES.read_bytes().splitlines():
        sample = json.loads(line)
        for response in (HUMANEVAL.gold(sample), sample["canonical_solution"]):
            grade = HUMANEVAL.grade(sample, response)
            assert (grade.correct, grade.flags) == (True, ()), (sample["task_id"], grade.reason)
        assert not HUMANEVAL.grade(sample, "return None").correct


WRONG = {
    "water_level": "    return [max(0, fallen - leak) for fallen in rain]",
    "seats_by_row": "    return {t[0]: [int(u[1:]) for u in tickets] for t in tickets}",
    "ring_width": "    return math.sqrt(wanted / math.pi)",
    "untangle": "    half = len(braid) // 2\n    return braid[:half] + ' ' + braid[half:]",
    "is_staircase": "    return all(b - a == 1 for a, b in zip(heights, heights[1:]))",
    "longest_calm": "    return (0, len(noise)) if all(n < limit for n in noise) else None",
    "settle": "    accounts = {**accounts}\n    for a, b, n in payments: accounts[a] -= n",
    "parse_span": "    return sum(int(n) * 60 for n in text.rstrip('s').split('m') if n)",
    "paths": "    return math.comb(width + height - 2, width - 1)",
    "weave": "    return [item for thread in threads for item in thread]",
    "tally_marks": "    return '|' * number",
    "round_trip": "    return sum(a[b] for b, a in enumerate(distances, start=-1))",
}


@pytest.mark.sandbox
def test_plausible_mistakes_in_the_samples_are_found() -> None:
    rows = [json.loads(line) for line in SAMPLES.read_bytes().splitlines()]
    assert {row["entry_point"] for row in rows} == WRONG.keys()
    for sample in rows:
        grade = HUMANEVAL.grade(sample, WRONG[sample["entry_point"]])
        assert (grade.correct, grade.parsed) == (False, True), sample["task_id"]


@pytest.mark.sandbox
def test_the_first_block_counts_and_the_improved_grader_looks_at_the_others() -> None:
    stub = "def solve(numbers, factor=2):\n    pass"
    two = f"```python\n{stub}\n```\nThat is:\n```python\n{RIGHT}\n```"
    assert HUMANEVAL.rereads(row(), two)
    assert (HUMANEVAL.grade(row(), two).answer or "").strip() == stub
    assert not HUMANEVAL.grade(row(), two).correct and HUMANEVAL.improved(row(), two).correct
    alike = (f"```python\n{RIGHT}\n```", RIGHT, f"```py\n{RIGHT}\n```", "    return []")
    for response in alike:
        assert not HUMANEVAL.rereads(row(), response)
    assert HUMANEVAL.grade(row(), f"```py\n{RIGHT}\n```").correct, "it asks for code, not a block"


@pytest.mark.sandbox
def test_return_none_passes_no_published_problem() -> None:
    for plain in real_rows.plain("humaneval"):
        assert not HUMANEVAL.grade(HUMANEVAL.from_common(plain), "    return None").correct
