from typing import Any

import pytest
from refusals import assert_among

from raybench import benchmarks

AIME = benchmarks.load("aime_2024")
WIKI = "https://artofproblemsolving.com/wiki/index.php/{year}_AIME_II_Problems/Problem_9"


def row(**columns: Any) -> dict[str, Any]:
    return {"id": 60, "problem": "?", "answer": "025", "url": WIKI.format(year=2024)} | columns


def test_only_problems_of_2024_are_asked() -> None:
    asked = [year for year in (2022, 2023, 2024) if AIME.belongs(row(url=WIKI.format(year=year)))]
    assert asked == [2024]


def test_a_file_of_ones_own_need_not_say_the_year() -> None:
    assert AIME.belongs(row(url="7"))


@pytest.mark.parametrize("response", ["25", "025"])
def test_leading_zeros_do_not_count(response: str) -> None:
    assert AIME.truth(row()) == "25"
    grade = AIME.grade(row(), f"\\boxed{{{response}}}")
    assert (grade.correct, grade.answer) == (True, response)


def test_another_number_is_wrong() -> None:
    assert AIME.grade(row(), r"\boxed{26}").reason == "wrong"


@pytest.mark.parametrize("answer", ["1", "7", "073", "999", 25])
def test_whole_numbers_up_to_999_are_answers(answer: str | int) -> None:
    assert not list(AIME.problems(row(answer=answer)))


@pytest.mark.parametrize("answer", ["", "0", "000", "-1", "1000", "1.0", "x", "٢٥", None])
def test_other_answers_are_told(answer: str | None) -> None:
    assert_among(AIME.problems(row(answer=answer)), "data.invalid", "answer")
