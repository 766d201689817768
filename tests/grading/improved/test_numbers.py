"""Numbers by their value, however they are written; and no number where there are several."""

import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.grading import numbers as parity
from raybench.grading.improved import numbers
from raybench.grading.improved.statements import NoAnswer


def stated(text: str, *, decimal_comma: bool = False) -> str | None:
    try:
        return numbers.written(numbers.stated(text, decimal_comma=decimal_comma))
    except NoAnswer:
        return None


@pytest.mark.parametrize(
    ("response", "value"),
    [
        ("Answer: 18", "18"),
        ("answer: 18.", "18"),
        ("**Answer:** **18**", "18"),
        ("Answer: $18", "18"),
        ("Answer: 18 dollars", "18"),
        ("Answer: \\boxed{18}", "18"),
        ("so \\boxed{18}", "18"),
        ("Answer: \\$18", "18"),
        ("Answer: 18.00", "18"),
        ("Answer: 018", "18"),
        ("Answer: 18.50", "18.5"),
        ("Answer: -18", "-18"),
        ("Answer: −$18", "-18"),
        ("Answer: minus 18", "-18"),
        ("Answer - 18", "18"),  # a dash, not a sign
        ("Answer: १८", "18"),
        ("উত্তর: ১৮", "18"),
        ("Answer: １８", "18"),
        ("Answer: 1,234", "1234"),
        ("Answer: 1 234", "1234"),
        ("Answer: 1\u202f234", "1234"),
        ("Answer: 1{,}234", "1234"),
        ("Answer: 1\\,234", "1234"),
        ("Answer: 12,34,567", "1234567"),
        ("Answer: 1.234.567", "1234567"),
        ("Answer: 1.234,50", "1234.5"),
        ("Answer: 1,234.50", "1234.5"),
        ("Answer: 1,5", "1.5"),
        ("Answer: 0,125", "0.125"),
        ("Answer: 12 + 5 = 17", "17"),
        ("Answer: x = 17 apples", "17"),
        ("Answer: 18 (16 + 2)", "18"),
        ("Answer: 18. She sold 5 more.", "18"),
        ("Answer: 18 apples and 18 pears", "18"),
        ("Answer: 18 m^2", "18"),
        ("Answer: 18%", "18"),
        ("Answer: 36/2", "18"),
        ("Answer: \\frac{36}{2}", "18"),
        ("Answer: 1/3", "1/3"),
        ("Answer: 1.5 million", "1500000"),
        ("答案：1.5万", "15000"),
        ("答案是共18元", "18"),
        ("答え: 18個", "18"),
        ("Answer: Rs. 18", "18"),
        ("Answer: 5\nNo.\nAnswer: 18", "18"),
        ("Answer: 18\n\nI hope this answer is clear.", "18"),
        ("18", "18"),
        ("16 + 2 is\n\n**18**", "18"),
    ],
)
def test_the_number_is_read_however_it_is_written(response: str, value: str) -> None:
    assert stated(response) == value


@pytest.mark.parametrize(
    "response",
    [
        "",
        "Answer:",
        "Answer: eighteen",
        "Answer: 12 or 18",
        "Answer: 12-18",
        "Answer: 18 of 20",
        "Answer: 5:30",
        "Answer: 10^3",
        "Answer: 1.2.3",
        "Answer: 1/0",
        "Answer: CO2",
        "Answer: " + "9" * 5000,
        "She has 18 eggs.",
        "1. She has 18 eggs.\n2",  # cut at the next item
        "1. She has 18 eggs.\n\n2.",
    ],
)
def test_what_is_no_single_number_is_no_answer(response: str) -> None:
    assert stated(response) is None


def test_a_point_before_three_digits_is_read_as_the_language_writes_it() -> None:
    assert stated("Antwort: 1.234", decimal_comma=True) == "1234"
    assert stated("Answer: 1.234") == "1.234"
    assert stated("Antwort: 0.125", decimal_comma=True) == "0.125"
    assert stated("Antwort: 1.5", decimal_comma=True) == "1.5"


@given(st.integers(0, 10**12), st.sampled_from(["", ".", ".0", " years", "।", "元", " kg"]))
def test_what_the_convention_reads_in_the_asked_form_is_read_alike(value: int, tail: str) -> None:
    for number in (str(value), f"{value:,}"):
        response = f"Answer: {number}{tail}"
        assert stated(response) == str(value) == parity.stated(response, "Answer")


@given(st.fractions(-(10**6), 10**6, max_denominator=10**4))
def test_what_is_written_is_read_again(value: Fraction) -> None:
    assert numbers.stated(f"Answer: {numbers.written(value)}") == value


@given(st.text(), st.booleans())
def test_no_text_breaks_it(text: str, decimal_comma: bool) -> None:
    stated(f"Answer: {text}", decimal_comma=decimal_comma)


def test_a_hostile_megabyte_is_read_quickly() -> None:
    begun = time.process_time()
    for hostile in (
        "Answer: " * 10**5,
        "Answer" + "-" * 10**6,
        "Answer: " + "1." * 500_000,
        "Answer: " + "1" * 10**6,
        "Answer: 1e99\n" * 10**5,
    ):
        stated(hostile)
    assert time.process_time() - begun < 30  # some 1 s: no slow machine is to decide
