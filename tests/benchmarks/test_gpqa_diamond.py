from collections import Counter
from typing import Any

import methodology
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import assert_among, refusal

from raybench import benchmarks
from raybench.benchmarks import Draw

GPQA = benchmarks.load("gpqa_diamond")


def row(number: Any = 0, **columns: Any) -> dict[str, Any]:
    return {
        "Record ID": f"rec{number}",
        "Question": "Which?",
        "Correct Answer": "right",
        "Incorrect Answer 1": "one",
        "Incorrect Answer 2": "two",
        "Incorrect Answer 3": "three",
        "High-level domain": "Physics",
    } | columns


def order(draw: Draw, question: dict[str, Any] | None = None) -> tuple[str, ...]:
    """Return the options as they are listed."""
    (message,) = GPQA.prompt(question or row(), draw=draw)
    return tuple(line[3:] for line in message.content.splitlines()[-4:])


METHODOLOGYS = (
    "Answer the following multiple choice question. The last line of your response should be in "
    "the following format: 'Answer: A/B/C/D' (e.g. 'Answer: A'). "
)


def test_the_prompt_is_the_methodologys() -> None:
    (message,) = GPQA.prompt(row(Question="{Question}"), reasoning=True)
    first, question, options = message.content.split("\n\n")
    assert first == METHODOLOGYS
    assert question == "{Question}"
    assert [line[:3] for line in options.splitlines()] == ["A) ", "B) ", "C) ", "D) "]
    assert f"\n{first}\n\n{question}\n\n" in methodology.text()


def test_an_asking_is_the_same_whenever_it_is_asked() -> None:
    # Recorded: a run that resumes after an update has to ask what it asked before.
    assert order(Draw()) == ("right", "one", "two", "three")
    assert order(Draw(repeat=1)) == ("one", "three", "right", "two")
    assert order(Draw(seed=1)) == ("three", "right", "one", "two")


def test_orders_differ_by_question_repeat_and_seed() -> None:
    for askings in (
        {order(Draw(repeat=repeat)) for repeat in range(50)},
        {order(Draw(seed=seed)) for seed in range(50)},
        {order(Draw(), row(number)) for number in range(50)},
    ):
        assert len(askings) > 12


def test_every_order_is_as_likely() -> None:
    askings = 4_800
    counts = Counter(order(Draw(repeat=repeat)) for repeat in range(askings))
    assert len(counts) == 24
    # Chi-square with 23 degrees of freedom: 49.7 is exceeded once in a thousand.
    expected = askings / 24
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < 49.7


@given(st.integers(0, 9), st.integers())
def test_the_gold_is_the_letter_of_the_right_answer_in_every_asking(repeat: int, seed: int) -> None:
    draw = Draw(repeat, seed)
    letter = GPQA.truth(row(), draw=draw)
    assert order(draw)["ABCD".index(letter)] == "right"
    for other in "ABCD":
        assert GPQA.grade(row(), f"Answer: {other}", draw=draw).correct == (other == letter)


def test_line_ends_do_not_mark_an_answer() -> None:
    assert set(order(Draw(), row(**{"Correct Answer": "right\n"}))) == set(order(Draw()))


@pytest.mark.parametrize("column", ["Correct Answer", "Incorrect Answer 3", "Record ID"])
def test_empty_cells_are_told(column: str) -> None:
    assert_among(GPQA.problems(row(**{column: ""})), "data.invalid", column)


def test_two_right_answers_are_told() -> None:
    (problem,) = GPQA.problems(row(**{"Incorrect Answer 2": "right "}))
    assert refusal(problem) == ("data.invalid", None)


def test_plain_rows_have_four_options_of_which_one_is_right() -> None:
    plain = {"id": 1, "question": "?", "options": list("wxyz"), "answer": "C", "subject": "Biology"}
    found = GPQA.from_common(plain)
    assert found["Correct Answer"] == "y"
    assert [found[f"Incorrect Answer {number}"] for number in (1, 2, 3)] == ["w", "x", "z"]
    for options in ("xyz", "vwxyz"):
        with pytest.raises(ValueError, match=f"{len(options)} options"):
            GPQA.from_common(plain | {"options": list(options)})
    for nothing in ("", None):
        with pytest.raises(ValueError, match="empty"):
            GPQA.from_common(plain | {"answer": nothing})
    for wrong in ("E", 2, "AB"):
        with pytest.raises(ValueError, match=f"'{wrong}'"):
            GPQA.from_common(plain | {"answer": wrong})
