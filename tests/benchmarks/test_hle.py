from typing import Any

import pytest
from refusals import refusal
from statements import code

from raybench import benchmarks
from raybench.benchmarks import Draw
from raybench.benchmarks.hle import HLE
from raybench.types import Finish, Message

BENCHMARK = HLE()
IMAGE = "data:image/png;base64,iVBORw0KGgo="
OPTIONS = "\n\nAnswer Choices:\nA. one\nB. two\nC. three\nD. four\nE. five"


def row(**columns: Any) -> dict[str, Any]:
    return {
        "id": "0a",
        "question": "How many?",
        "image": "",
        "answer": "42",
        "answer_type": "exactMatch",
        "raw_subject": "Arithmetic",
        "category": "Math",
    } | columns


CHOICE = row(question=f"Which?{OPTIONS}", answer="C", answer_type="multipleChoice")


def test_the_question_stands_alone_under_the_form_of_the_response() -> None:
    system, asked = BENCHMARK.prompt(row())
    assert (system.role, asked) == ("system", Message("user", "How many?"))
    assert "\nExact Answer: {your " in system.content
    assert "\nAnswer: {your chosen answer}\n" in BENCHMARK.prompt(CHOICE)[0].content
    single = {BENCHMARK.prompt(it, draw=Draw(wording="single"))[0] for it in (row(), CHOICE)}
    assert len(single) == 1


def test_an_image_goes_with_the_question() -> None:
    asked = BENCHMARK.prompt(row(image=IMAGE))[-1]
    assert asked == Message("user", "How many?", images=(IMAGE,))
    assert BENCHMARK.images(row(image=None)) == ()


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"answer_type": "open"}, "answer_type"),
        ({"image": "https://x/y.png"}, "image"),
        ({"image": "data:image/png;base64,!!!"}, "image"),
        ({"image": "data:image/png;base64,aGVsbG8="}, "image"),
        ({"answer": " "}, "answer"),
    ],
)
def test_what_is_wrong_with_a_row_is_said(columns: dict[str, Any], told: str) -> None:
    (found,) = BENCHMARK.problems(row(**columns))
    assert refusal(found) == ("data.invalid", told)


def test_guessing_is_one_in_the_options_of_multiple_choice_alone() -> None:
    assert BENCHMARK.chance(CHOICE) == 1 / 5
    assert BENCHMARK.chance(row(question=f"Which?{OPTIONS}")) is None
    assert BENCHMARK.chance({**CHOICE, "question": "Which?"}) is None


@pytest.mark.parametrize("wording", ["", "by_type", "single"])
@pytest.mark.parametrize("asked", [row(), CHOICE])
def test_the_gold_is_in_the_form_that_is_asked_for(asked: dict[str, Any], wording: str) -> None:
    draw = Draw(wording=wording)
    form = BENCHMARK.prompt(asked, draw=draw)[0].content
    labels = [line.partition(":")[0] for line in BENCHMARK.gold(asked, draw=draw).splitlines()]
    assert [line.partition(":")[0] for line in form.splitlines() if ": {" in line] == labels


def test_the_script_finds_answer_and_confidence() -> None:
    grade = BENCHMARK.grade(CHOICE, "Explanation: …\nAnswer: C\nConfidence: 60%")
    assert (grade.correct, grade.answer) == (True, "C")
    assert grade.details == {
        "answer_type": "multipleChoice",
        "stated": 60,
        "chance": 1 / 5,
        "image": False,
        "letter": True,
    }
    assert BENCHMARK.grade(CHOICE, "Answer: (B) two").details["letter"] is False
    assert BENCHMARK.grade(CHOICE, "Answer: Because").details["letter"] is None
    assert BENCHMARK.grade(row(), "Exact Answer: A").details["letter"] is None
    assert not BENCHMARK.grade(row(), "Exact Answer: forty-two").correct


@pytest.mark.parametrize(
    ("response", "finish", "answered"),
    [
        ("I think it is 42.", "stop", True),
        ("I think it is 42.", "length", False),
        ("Exact Answer: 42\nConfi", "length", True),
        ("Explanation: as we saw, the Answer: is", "length", False),
        (" \n", "stop", False),
        ("", "empty", False),
        ("Answer: C", "thinking", False),
        ("Answer: C", "refusal", False),
        ("", "error", False),
    ],
)
def test_what_was_cut_before_its_answer_has_none(
    response: str, finish: Finish, answered: bool
) -> None:
    assert BENCHMARK.answered(response, finish) is answered


def test_the_judge_sees_question_response_and_answer_and_no_image() -> None:
    response = "Exact Answer: {question}"
    (asked,) = BENCHMARK.judge(row(image=IMAGE), response)
    assert (asked.role, asked.images) == ("user", ())
    assert f"[question]: How many?\n\n[response]: {response}\n\n" in asked.content
    assert "\n\n[correct_answer]: 42\n\n" in asked.content


def test_a_plain_row_with_options_is_multiple_choice() -> None:
    plain = {"id": "1", "question": "Which?", "answer": "B", "subject": "Math"}
    found = BENCHMARK.from_common({**plain, "options": ["x", "y", "z"]})
    assert (found["answer_type"], BENCHMARK.chance(found)) == ("multipleChoice", 1 / 3)
    assert BENCHMARK.from_common(plain)["answer_type"] == "exactMatch"


def test_an_answer_that_is_no_option_is_told_of() -> None:
    assert BENCHMARK.caveat(CHOICE) is None
    assert BENCHMARK.caveat(row()) is None
    told = BENCHMARK.caveat({**CHOICE, "answer": "Z"})
    assert code(told) == "caveat.no_letter"


def test_multiple_choice_without_options_and_odd_images_are_told_of() -> None:
    bare = {**CHOICE, "question": "Which?"}
    assert code(BENCHMARK.caveat(bare)) == "caveat.no_options"
    shown = "data:image/svg+xml;base64,PHN2Zy8+"
    assert "'svg+xml'" in (BENCHMARK.caveat({**bare, "image": shown}) or "")


def test_it_is_one_of_the_benchmarks() -> None:
    assert benchmarks.load("HLE").judged
