from typing import Any

import methodology
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import assert_among

from raybench import benchmarks
from raybench.benchmarks import Draw
from raybench.types import Letters

MMLU_PRO = benchmarks.load("mmlu_pro")


def row(count: int = 10, answer: str = "B", **columns: Any) -> dict[str, Any]:
    return {
        "question_id": 1,
        "question": "Which number is even?",
        "options": [str(2 * number + 1) for number in range(count)],
        "answer": answer,
        "category": "math",
    } | columns


def asked(question: dict[str, Any], *, reasoning: bool, letters: Letters = "all") -> str:
    (message,) = MMLU_PRO.prompt(question, reasoning=reasoning, draw=Draw(letters=letters))
    return message.content


METHODOLOGYS = (
    "Answer the following multiple choice question. The last line of your response should be "
    "in the following format: 'Answer: A/B/C/D' (e.g. 'Answer: A'). \n"
    "\n"
    "{Question}\n"
    "\n"
    "A) {A}\n"
    "B) {B}\n"
    "C) {C}\n"
    "D) {D}"
)


def test_the_prompt_is_the_methodologys() -> None:
    four = row(question="{Question}", options=["{A}", "{B}", "{C}", "{D}"])
    prompt = asked(four, reasoning=True, letters="listed")
    assert prompt == METHODOLOGYS
    assert f"\n{prompt}\n" in methodology.text()
    ten = "A/B/C/D/E/F/G/H/I/J"
    assert asked(four, reasoning=True) == METHODOLOGYS.replace("A/B/C/D", ten)
    assert f" {ten} " in methodology.text()


def test_models_that_do_not_reason_are_told_to_think_in_the_first_line() -> None:
    told, plain = (asked(row(), reasoning=reasoning).splitlines() for reasoning in (False, True))
    appended = "Think step by step before answering."
    assert told[0] == plain[0] + appended
    assert told[1:] == plain[1:]
    assert f'we append "{appended}"' in methodology.text()


@pytest.mark.parametrize("options", range(2, 11))
def test_the_prompt_names_ten_letters_or_those_of_the_options(options: int) -> None:
    letters = "ABCDEFGHIJ"[:options]
    lines = asked(row(options), reasoning=True, letters="listed").splitlines()
    assert f"'Answer: {'/'.join(letters)}'" in lines[0]
    all_ten = asked(row(options), reasoning=True).splitlines()
    assert "'Answer: A/B/C/D/E/F/G/H/I/J'" in all_ten[0]
    assert all_ten[1:] == lines[1:]
    assert [line[:3] for line in lines[4:]] == [f"{letter}) " for letter in letters]


@given(question=st.text(min_size=1), options=st.lists(st.text(), min_size=2, max_size=10))
def test_what_people_wrote_stands_in_the_prompt_as_it_is(question: str, options: list[str]) -> None:
    prompt = asked(row(question=question, options=options), reasoning=False)
    assert f"\n\n{question}\n\nA) {options[0]}\nB) {options[1]}" in prompt
    assert prompt.endswith(f") {options[-1]}")


@pytest.mark.parametrize(
    ("response", "correct", "answer"),
    [
        ("Answer: B", True, "B"),
        ("answer: b", True, "B"),
        ("Answer: A at first.\nAnswer: B", True, "B"),
        ("Answer: B at first.\nAnswer: A", False, "A"),
        ("Answer: J", False, "J"),
    ],
)
def test_the_last_letter_is_compared(response: str, correct: bool, answer: str) -> None:
    grade = MMLU_PRO.grade(row(), response)
    assert (grade.correct, grade.answer) == (correct, answer)
    assert grade.reason == ("right" if correct else "wrong")


@pytest.mark.parametrize(
    ("options", "response", "reason"),
    [
        (10, "Answer: N", "'N' is no option: there is A to J"),
        (10, "Answer: Answer: P", "'P' is no option: there is A to J"),
        (4, "Answer: E", "'E' is no option: there is A to D"),
        (4, "It is B.", "no answer of the form 'Answer: A' in its last line"),
    ],
)
def test_a_letter_that_is_no_option_is_unparsed(options: int, response: str, reason: str) -> None:
    grade = MMLU_PRO.grade(row(options), response)
    assert (grade.correct, grade.parsed, grade.reason) == (False, False, reason)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (row(answer="K"), "answer"),
        (row(4, answer="E"), "answer"),
        (row(answer="b"), "answer"),
        (row(answer=""), "answer"),
        (row(11), "options"),
        (row(1), "options"),
        (row(options=None), "options"),
        (row(options="AB"), "options"),
        (row(options=["1", "2", " "]), "options"),
        (row(options=["1", None, "3"]), "options"),
    ],
)
def test_wrong_rows_are_told(wrong: dict[str, Any], told: str) -> None:
    assert_among(MMLU_PRO.problems(wrong), "data.invalid", told)
