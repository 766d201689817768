from typing import Any

import pytest
from refusals import assert_among

from raybench import benchmarks

MMLU = benchmarks.load("multilingual_mmlu")


def row(**columns: Any) -> dict[str, Any]:
    return {
        "id": 7,
        "Question": "¿Cuánto es 2 + 2?",
        "A": "3",
        "B": "4",
        "C": "5",
        "D": "6",
        "Answer": "B",
        "Subject": "elementary_mathematics",
        "language": "es",
    } | columns


SIMPLE_EVALS = (
    "Answer the following multiple choice question. The last line of your response should be "
    "of the following format: 'Answer: $LETTER' (without quotes) where LETTER is one of ABCD. "
    "Think step by step before answering.\n"
    "\n"
    "¿Cuánto es 2 + 2?\n"
    "\n"
    "A) 3\n"
    "B) 4\n"
    "C) 5\n"
    "D) 6"
)


@pytest.mark.parametrize("reasoning", [False, True])
def test_the_prompt_is_simple_evals_in_every_language(reasoning: bool) -> None:
    (message,) = MMLU.prompt(row(), reasoning=reasoning)
    assert message.content == SIMPLE_EVALS


@pytest.mark.parametrize(
    ("response", "correct", "answer"),
    [
        ("Answer: B", True, "B"),
        ("Respuesta: B", True, "B"),
        ("**Answer:** $\\boxed{B}$", True, "B"),
        ("উত্তর: ব", True, "B"),
        ("答案：C", False, "C"),
        ("Answer: b", False, None),
        ("Answer: E", False, None),
        ("B", False, None),
    ],
)
def test_the_letter_is_compared(response: str, correct: bool, answer: str | None) -> None:
    grade = MMLU.grade(row(), response)
    assert (grade.correct, grade.answer) == (correct, answer)


@pytest.mark.parametrize(
    ("response", "correct", "answer"),
    [
        ("Answer: (B)", True, "B"),
        ("Answer: b", True, "B"),
        ("Antwort: C\nAnswer: B", True, "B"),  # parity takes the first of the first language
        ("Respuesta: **B**", True, "B"),
        ("La respuesta correcta es 4", True, "B"),
        ("উত্তর: খ", True, "B"),
        ("Answer: A/B/C/D", False, None),
        ("Answer: because", False, None),
        ("Answer: E", False, None),
    ],
)
def test_the_improved_grader_reads_what_the_reply_settles_on(
    response: str, correct: bool, answer: str | None
) -> None:
    grade = MMLU.improved(row(), response)
    assert (grade.correct, grade.answer) == (correct, answer)


def test_english_rows_of_the_hub_are_brought_into_the_columns_of_the_others() -> None:
    english = {"question": "?", "subject": "anatomy", "choices": ["w", "x", "y", "z"], "answer": 2}
    assert MMLU.from_hub(english | {"language": "en", "number": 7}) == row(
        id="7",
        Question="?",
        A="w",
        B="x",
        C="y",
        D="z",
        Answer="C",
        Subject="anatomy",
        language="en",
    )


@pytest.mark.parametrize("answer", [4, -1, None, "C", 1.5])
def test_an_english_answer_that_counts_no_option_is_refused(answer: object) -> None:
    english = {"question": "?", "subject": "anatomy", "choices": ["w", "x", "y", "z"]}
    with pytest.raises(ValueError, match="0 to 3"):
        MMLU.from_hub(english | {"answer": answer, "language": "en", "number": 7})


def test_rows_of_the_hub_are_known_by_their_place_and_share_it_with_translations() -> None:
    rows = [
        MMLU.from_hub({name: value for name, value in row().items() if name != "id"} | added)
        for added in (
            {"number": 1, "language": "es"},
            {"number": 2, "language": "es"},
            {"number": 1, "language": "de"},
        )
    ]
    keys = [MMLU.key(each) for each in rows]
    assert keys[0] == keys[2] != keys[1]


def test_fifteen_languages_of_which_english_lies_elsewhere() -> None:
    assert len(MMLU.languages) == 15
    assert MMLU.source.of("en").repo == "cais/mmlu"
    assert MMLU.source.of("sw").files["sw"] == "test/mmlu_SW-KE.csv"


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"D": ""}, "D"),
        ({"Answer": "E"}, "Answer"),
        ({"Answer": 1}, "Answer"),
    ],
)
def test_wrong_rows_are_told(columns: dict[str, Any], told: str) -> None:
    assert_among(MMLU.problems(row(**columns)), "data.invalid", told)


@pytest.mark.parametrize("options", ["wxy", "vwxyz"])
def test_plain_rows_have_four_options(options: str) -> None:
    plain = {"id": 1, "question": "?", "answer": "A", "subject": "anatomy", "language": "en"}
    for other in ("wxyz", None, {"A": "w"}):
        with pytest.raises(ValueError, match="'options'"):
            MMLU.from_common(plain | {"options": other})
    with pytest.raises(ValueError, match=f"{len(options)} options"):
        MMLU.from_common(plain | {"options": list(options)})
