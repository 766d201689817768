from typing import Any

import methodology
import pytest
import real_rows
from hypothesis import given
from hypothesis import strategies as st
from refusals import refusal

from raybench import benchmarks
from raybench.grading import extract

MATH_500 = benchmarks.load("math_500")


def row(**columns: Any) -> dict[str, Any]:
    return {"unique_id": "1", "problem": "1 + 1?", "answer": "2", "subject": "Algebra"} | columns


METHODOLOGYS = (
    "Solve the following math problem step by step. Put your answer inside \\boxed{}.\n"
    "\n"
    "{Question}\n"
    "\n"
    "Remember to put your answer inside \\boxed{}."
)


def test_the_prompt_is_the_methodologys() -> None:
    (message,) = MATH_500.prompt(row(problem="{Question}"))
    assert message.content == METHODOLOGYS
    # It is printed there as in a program's template: backslashes and braces are doubled.
    printed = message.content.replace("\\boxed{}", "\\\\boxed{{}}")
    assert f"\n{printed}\n" in methodology.text()


def test_all_models_are_asked_alike() -> None:
    assert MATH_500.prompt(row(), reasoning=True) == MATH_500.prompt(row())


@given(st.text())
def test_what_people_wrote_stands_in_the_prompt_as_it_is(problem: str) -> None:
    (message,) = MATH_500.prompt(row(problem=problem))
    assert f".\n\n{problem}\n\nRemember" in message.content


@pytest.mark.parametrize(
    ("response", "correct", "answer"),
    [
        (r"\boxed{2}", True, "2"),
        (r"So it is $\boxed{ 2 }$.", True, "2"),
        (r"\boxed{3}, or rather \boxed{2}", True, "2"),
        (r"\boxed{2}, or rather \boxed{3}", False, "3"),
        (r"\boxed{\boxed{2}}", True, "2"),
    ],
)
def test_the_last_box_is_compared(response: str, correct: bool, answer: str) -> None:
    grade = MATH_500.grade(row(), response)
    assert (grade.correct, grade.answer) == (correct, answer)
    assert grade.reason == ("right" if correct else "wrong")


@pytest.mark.parametrize("response", ["2", r"\boxed{}", r"\boxed{ }", r"\boxed{2", r"\boxed 2"])
def test_no_box_with_an_answer_is_unparsed(response: str) -> None:
    grade = MATH_500.grade(row(), response)
    assert (grade.correct, grade.parsed) == (False, False)
    assert "boxed" in grade.reason


@pytest.mark.parametrize(
    ("response", "truth", "reason"),
    [
        (r"\boxed{3, 2}", "2, 3", "right"),
        (r"\boxed{\frac{2}{4}}", "0.5", "right"),
        (r"\boxed{5 \text{ days}}", r"5 \text{ years}", "wrong"),
        (r"\boxed{ba}", "ab", "undecided"),
    ],
)
def test_the_improved_grader_reads_what_an_answer_says(
    response: str, truth: str, reason: str
) -> None:
    grade = MATH_500.improved(row(answer=truth), response)
    assert (grade.correct, grade.reason, grade.parsed) == (reason == "right", reason, True)


def test_the_improved_grader_wants_the_box_too() -> None:
    assert not MATH_500.improved(row(), "2").parsed


def test_a_checker_looks_at_what_the_script_does_not_call_right() -> None:
    assert MATH_500.checked


def test_an_empty_answer_is_told() -> None:
    (problem,) = MATH_500.problems(row(answer=" "))
    assert refusal(problem) == ("data.invalid", "answer")


def test_the_last_box_of_every_published_solution_holds_the_published_answer() -> None:
    solved = real_rows.plain("math500")
    assert [extract.boxed(row["solution"]) for row in solved] == [row["answer"] for row in solved]
