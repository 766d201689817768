"""What the equality checker is asked about, and what its verdict makes of a reply."""

from typing import Any

import pytest
from statements import code

from raybench.pipeline.checker import Verdicts, checked
from raybench.types import Completion, ModelSpec

VERDICTS = Verdicts(ModelSpec("j", "vllm", "w"), 0, None)


def unit(response: str, answer: str | None = None, **columns: Any) -> dict[str, Any]:
    graded = {
        "benchmark": "math_500",
        "response": response,
        "finish": "stop",
        "answer": answer,
        "truth": "42",
        "correct": False,
        "judge_error": None,
    }
    return graded | columns


@pytest.mark.parametrize(
    ("response", "answer", "given"),
    [
        ("\\boxed{41}", "41", "41"),
        ("We compute.\n\nThe answer is 42.", None, "The answer is 42."),
        ("So:\n$$\n42\n$$", None, "42"),
    ],
)
def test_all_answers_that_the_script_does_not_mark_right_are_checked(
    response: str, answer: str | None, given: str
) -> None:
    assert list(VERDICTS.requests([unit(response, answer)])) == [("42", given)]


@pytest.mark.parametrize(
    "columns",
    [
        {"correct": True},
        {"finish": "length"},  # cut off before it gave an answer
        {"finish": "empty", "response": ""},
        {"finish": "stop", "response": " \n"},
        {"judge_error": "grading failed"},
        {"benchmark": "mmlu_pro"},
    ],
)
def test_nothing_else_is_checked(columns: dict[str, Any]) -> None:
    assert VERDICTS.requests([unit("It is 42.") | columns]) == {}


@pytest.mark.parametrize(
    ("said", "correct", "reason"),
    [
        ("Yes", True, "checker.right"),
        ("No.", False, "checker.wrong"),
        ("Yes, they are equivalent", False, "checker.unclear"),
    ],
)
def test_only_a_clear_yes_is_one(said: str, correct: bool, reason: str) -> None:
    told = checked(unit("\\boxed{41}", "41"), Completion(said, "stop"))
    assert (told["correct"], told["by"]) == (correct, "checker")
    assert code(told["reason"]) == reason
    assert "judge_error" not in told  # which would withhold the score


def test_a_reply_without_a_box_is_parsed_where_the_checker_calls_it_right() -> None:
    told = checked(unit("It is 42."), Completion("Yes", "stop"))
    assert (told["correct"], told["answer"], told["by"]) == (True, "It is 42.", "checker")
    assert code(told["reason"]) == "checker.right"
    told = checked(unit("It is 41."), Completion("No", "stop"))
    assert (told["correct"], told["by"]) == (False, "checker")
    assert "answer" not in told
