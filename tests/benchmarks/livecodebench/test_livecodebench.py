import json
from pathlib import Path
from typing import Any

import methodology
import pytest
import real_rows
from contest import LCB, graded, reply, row
from refusals import refusals

from raybench import benchmarks
from raybench.benchmarks import Grade
from raybench.benchmarks.parts.contract import UngradableError

SAMPLES = Path(benchmarks.__file__).parent / "samples" / "livecodebench.jsonl"


def samples() -> list[dict[str, Any]]:
    return [json.loads(line) for line in SAMPLES.read_bytes().splitlines()]


def asked(question: Any) -> str:
    (message,) = LCB.prompt(question, reasoning=True)
    assert message.role == "user"
    return message.content


def test_the_prompts_are_the_methodologys() -> None:
    question = {**row(), "question_content": "{question.question_content}"}
    started = {**question, "starter_code": "{question.starter_code}"}
    assert f"\n{asked(started)}\n" in methodology.text()
    # The quotation ends before the last parenthesis.
    assert f"\n{asked(question).removesuffix(')')}\n" in methodology.text()
    assert asked(question).endswith(" backticks)")


@pytest.mark.sandbox
def test_the_first_block_of_python_counts() -> None:
    right, wrong = reply("input()\nprint(sum(map(int, input().split())))"), reply("print(0)")
    assert LCB.grade(row(), right + wrong).correct
    assert not LCB.grade(row(), wrong + right).correct


@pytest.mark.parametrize("response", ["", "print(1)", "```\nprint(1)\n```", "```python\nprint(1)"])
def test_a_reply_without_a_block_has_no_answer(response: str) -> None:
    grade = LCB.grade(row(), response)
    details = {"official": False, "official_reason": "no code block"}
    assert grade == Grade(False, "no code block", None, details=details)


def test_an_unknown_harness_is_told() -> None:
    with pytest.raises(ValueError, match="'both'"):
        graded("print(1)", compat="both")


def test_a_question_whose_tests_cannot_be_read_is_graded_for_nobody() -> None:
    broken = {**row(), "private_test_cases": "%"}
    with pytest.raises(UngradableError, match="rb9_a: 'private"):
        graded("print(1)", broken)


@pytest.mark.parametrize(
    ("date", "there"),
    [
        ("2024-06-30T23:59:59", False),
        ("2024-07-01T00:00:00", True),
        ("2024-12-31T00:00:00", True),
        ("2024-12-31", True),
        ("2025-01-01T00:00:00", False),
        ("2023-08-21 00:00:00", False),
    ],
)
def test_contests_of_half_a_year_are_asked(date: str, there: bool) -> None:
    assert LCB.belongs({**row(), "contest_date": date}) is there


def test_a_date_that_is_none_is_told_and_not_left_out() -> None:
    undated = {**row(), "contest_date": "August"}
    assert LCB.belongs(undated)
    assert refusals(LCB.problems(undated)) == [("data.invalid", "contest_date")]


def test_a_row_of_the_hub_has_no_gold() -> None:
    published = {name: value for name, value in row().items() if name != "solution"}
    found = LCB.from_hub(published)
    assert found == row()
    assert not LCB.has_gold(found)
    assert "program" in LCB.truth(found)
    with pytest.raises(ValueError, match="rb9_a"):
        LCB.gold(found)
    assert LCB.has_gold({**found, "solution": "print()"})


def test_samples_are_of_all_kinds_and_none_is_shipped_that_is_not_asked() -> None:
    rows = samples()
    assert len(rows) >= 12
    assert all(LCB.belongs(each) for each in rows)
    assert {each["platform"] for each in rows} == {"atcoder", "codeforces", "leetcode"}
    assert {each["difficulty"] for each in rows} == {"easy", "medium", "hard"}
    for function in (True, False):
        of_kind = [each for each in rows if bool(each["starter_code"]) is function]
        assert {each["private_test_cases"].startswith("[") for each in of_kind} == {True, False}
        assert all(("func_name" in each["metadata"]) is function for each in of_kind)


@pytest.mark.sandbox
def test_samples_tell_right_from_wrong_programs() -> None:
    for each in samples():
        grade = LCB.grade(each, LCB.gold(each))
        assert (grade.correct, grade.details["official"], grade.flags) == (True, True, ())
        assert grade.details["tests"] >= 3
        for wrong in WRONG[each["question_id"]]:
            grade = LCB.grade(each, reply(wrong))
            assert not grade.correct, each["question_id"]
            assert "error" not in grade.reason
            assert grade.details["official"] is False


def method(name: str, body: str) -> str:
    return f"class Solution:\n    def {name}(self, *given):\n        {body}"


WRONG: dict[str, tuple[str, ...]] = {
    "rb001_a": (
        "input()\nprint(input().count('.'))",
        "input()\nprint(input().count('...'))",
    ),
    "rb001_c": (
        """
        n, k = map(int, input().split())
        coins = 0
        for a, b in sorted(tuple(map(int, input().split())) for _ in range(n)):
            if k > 0:
                k, coins = k - b, coins + a
        print(-1 if k > 0 else coins)
        """,
        "print(-1)",
    ),
    "rb002_b": (
        """
        n, x = int(input()), [*map(int, input().split())]
        print((x[-1] - x[0]) / (n - 1))
        """,
    ),
    "rb003_d": (
        """
        h, w = map(int, input().split())
        print(*sorted(len(part) for _ in range(h) for part in input().split('b')))
        """,
    ),
    "2990_A": (
        """
        for _ in range(int(input())):
            a, b, c = map(int, input().split())
            print(abs(a + b - c))
        """,
    ),
    "2990_C": ("print(len(input()) // 2 * 2)", "print(4)"),
    "9001": (method("longestQuiet", "return sum(x <= given[1] for x in given[0])"),),
    "9002": (method("foldSocks", "return given[0]"),),
    "9003": (method("findGaps", "return []"),),
    "9004": (method("balance", "return 0.5"),),
    "9005": (method("canClimb", "return True"), method("canClimb", "return False")),
    "9006": (method("calmWords", "return (len(given[0]) - 1) * len(given[0])"),),
}


@pytest.mark.sandbox
def test_real_rows_are_questions_of_it() -> None:
    rows = [LCB.from_common(each) for each in real_rows.plain("livecodebench_v6_samples")]
    assert len(rows) == 1055
    mine = [each for each in rows if LCB.belongs(each)]
    assert len(mine) == LCB.size == 315
    assert not [told for each in mine for told in LCB.problems(each)]
    assert {LCB.subject(each) for each in mine} == {"easy", "medium", "hard"}
    assert sum(bool(each["starter_code"]) for each in mine) == 117


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "column", ["id", "question", "title", "answer", "sample_tests", "function_name", "contest_date"]
)
def test_a_plain_row_that_lacks_a_column_is_named(column: str) -> None:
    whole = {
        "id": "1", "question": "?", "options": None, "answer": "print(2)", "title": "T",
        "platform": "atcoder", "contest_id": "c", "contest_date": "2024-09-01",
        "difficulty": "easy", "starter_code": "", "function_name": None,
        "revealed_private_tests": [],
        "sample_tests": [{"input": "", "output": "2", "testtype": "stdin"}],
    }  # fmt: skip
    found = LCB.from_common(whole)
    assert not [*LCB.problems(found)]
    assert LCB.grade(found, LCB.gold(found)).correct
    with pytest.raises(KeyError, match=column):
        LCB.from_common({name: value for name, value in whole.items() if name != column})
