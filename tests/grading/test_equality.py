from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.grading import equality

_SEEDS = Path(__file__).parents[2].parent / "shared" / "seeds"


def test_the_prompt_is_the_methodologys_character_by_character() -> None:
    seeds = list(_SEEDS.glob("001_*.txt"))
    if not seeds:
        pytest.skip("the methodology's text is not beside this checkout")
    text = seeds[0].read_text(encoding="utf-8")
    begin = text.index("Look at the following two expressions")
    end = text.index("\n", text.index("Expression 2: %(expression2)s"))
    assert equality.prompt("%(expression1)s", "%(expression2)s") == text[begin:end]


def test_the_truth_is_expression_1_and_the_answer_expression_2() -> None:
    asked = equality.prompt(truth=r"\frac{1}{2}", given="50%")
    assert asked.endswith("    Expression 1: \\frac{1}{2}\n    Expression 2: 50%")


@given(st.text(), st.text())
def test_expressions_are_put_in_as_they_are(truth: str, given: str) -> None:
    asked = equality.prompt(truth, given)
    assert asked.endswith(f"    Expression 1: {truth}\n    Expression 2: {given}")
    assert asked.startswith(equality._PROMPT.partition("%(")[0])


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("Yes", True),
        ("  YES.\n", True),
        ("no", False),
        ("No.", False),
        ("", None),
        ("Yes, they are equivalent.", None),
        ("yes no", None),
        ("maybe", None),
        ("yes..", None),
    ],
)
def test_only_a_bare_yes_or_no_is_a_verdict(reply: str, verdict: bool | None) -> None:
    assert equality.verdict(reply) is verdict
