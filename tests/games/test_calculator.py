"""A pocket calculator reads sums, and works out nothing that could hold it up."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.games.parts.mathquiz.calculator import worked_out


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is 42 times 7, minus 30?", 264),
        ("What is 12 squared plus 3?", 147),
        ("Compute (3+4)*(5-2)^2.", 63),
        ("What is 1,234 + 5?", 1239),
        ("What is 3 x 4?", 12),
        ("What is 10 divided by 4?", Fraction(5, 2)),
        ("What is 0.5 × 8 − 1?", 3),
        ("Take 25 times 15 plus 100.", 475),
    ],
)
def test_sums_are_worked_out(question: str, answer: int | Fraction) -> None:
    assert worked_out(question) == answer


@pytest.mark.parametrize(
    "question",
    [
        "Which is the largest prime below 120?",
        "Solve for x: 2x + 3 = 7",
        "What is 17?",
        "What is 1 / 0?",
        "9^9^9^9",
        "2**99999999",
        "1" * 5000 + "+1",
        "(" * 3000 + "1+1" + ")" * 3000,
        "__import__('os').system('true')",
        "",
    ],
)
def test_what_is_no_small_sum_is_left_alone(question: str) -> None:
    assert worked_out(question) is None


@given(st.text(alphabet="0123456789+-*/^().,x ²timesplu", max_size=120))
def test_whatever_is_asked_it_comes_to_an_end(question: str) -> None:
    found = worked_out(question)
    assert found is None or isinstance(found, Fraction)


@given(st.integers(-999, 999), st.integers(0, 999), st.integers(1, 99))
def test_it_is_right(a: int, b: int, c: int) -> None:
    assert worked_out(f"What is ({a} + {b}) times {c}?") == (a + b) * c
