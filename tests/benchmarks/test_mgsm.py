from typing import Any

import pytest
from refusals import assert_among, refusal

from raybench import benchmarks
from raybench.benchmarks.parts.mgsm_words import INSTRUCTIONS, PREFIXES

MGSM = benchmarks.load("mgsm")


def row(language: str = "en", **columns: Any) -> dict[str, Any]:
    return {"id": 1, "question": "1 + 1?", "answer_number": 1234, "language": language} | columns


SIMPLE_EVALS = (
    "Solve this math problem. Give the reasoning steps before giving the final answer on the "
    'last line by itself in the format of "Answer:". Do not add anything other than the '
    'integer answer after "Answer:".\n\n1 + 1?'
)


def test_the_prompt_is_simple_evals() -> None:
    (message,) = MGSM.prompt(row())
    assert message.content == SIMPLE_EVALS


def test_every_instruction_is_as_long_as_simple_evals() -> None:
    # Counted there; Bengali's holds the one-sign form of a letter that editors take apart.
    assert {language: len(text) for language, text in INSTRUCTIONS.items()} == {
        "en": 202,
        "bn": 201,
        "de": 226,
        "es": 235,
        "fr": 233,
        "ja": 96,
        "ru": 217,
        "sw": 214,
        "te": 228,
        "th": 169,
        "zh": 79,
    }
    assert "\u09df" in INSTRUCTIONS["bn"]


@pytest.mark.parametrize("language", MGSM.languages)
def test_every_language_is_asked_in_itself_for_what_is_looked_for(language: str) -> None:
    (message,) = MGSM.prompt(row(language))
    assert message.content == f"{INSTRUCTIONS[language]}\n\n1 + 1?"
    assert PREFIXES[language] in INSTRUCTIONS[language]
    assert MGSM.grade(row(language), f"{PREFIXES[language]}: 1,234.00").correct


@pytest.mark.parametrize(
    ("response", "correct", "answer"),
    [
        ("Answer: 1234", True, "1234"),
        ("Answer: 1,234 dollars.", True, "1234"),
        ("Answer: 5, no.\nAnswer: 1234", True, "1234"),
        ("Answer: 1234.5", False, "1234.5"),
        ("Answer: 01234", False, "01234"),
        ("Answer: -1234", False, None),
        ("Answer: १२३४", False, None),
        ("Antwort: 1234", False, None),
        ("1234", False, None),
    ],
)
def test_numbers_are_compared_as_text(response: str, correct: bool, answer: str | None) -> None:
    grade = MGSM.grade(row(), response)
    assert (grade.correct, grade.answer) == (correct, answer)


@pytest.mark.parametrize(
    ("language", "response", "correct", "answer"),
    [
        ("en", "Answer: 1234", True, "1234"),
        ("en", "Answer: 1 234.0 dollars", True, "1234"),
        ("en", "Answer: 01234", True, "1234"),
        ("en", "Answer: -1234", False, "-1234"),
        ("en", "Answer: 1234 or 5", False, None),
        ("en", "Answer: 1.234", False, "1.234"),
        ("de", "Antwort: 1.234", True, "1234"),
        ("bn", "উত্তর: ১২৩৪", True, "1234"),
        ("de", "Answer: 1234", True, "1234"),
        ("th", "คำตอบ: **1,234**", True, "1234"),
    ],
)
def test_the_improved_grader_compares_values(
    language: str, response: str, correct: bool, answer: str | None
) -> None:
    grade = MGSM.improved(row(language), response)
    assert (grade.correct, grade.answer) == (correct, answer)


def test_published_commas_do_not_count() -> None:
    assert MGSM.truth(row(answer_number="1,234")) == "1234"


@pytest.mark.parametrize("answer", ["", "two", "1.5", -1, None, "१८"])
def test_an_answer_that_is_no_whole_number_is_told(answer: Any) -> None:
    assert_among(MGSM.problems(row(answer_number=answer)), "data.invalid", "answer_number")


def test_another_language_is_told() -> None:
    (problem,) = MGSM.problems(row("it"))
    assert (*refusal(problem), problem.given) == ("data.invalid", "language", "it")


def test_rows_of_the_hub_are_known_by_their_place_and_share_it_with_translations() -> None:
    plain = {"question": "?", "answer_number": 1}
    keys = [
        MGSM.key(MGSM.from_hub(plain | {"language": language, "number": number}))
        for language, number in (("de", 1), ("de", 2), ("sw", 1))
    ]
    assert keys[0] == keys[2] != keys[1]
