"""simple-evals' conventions for MGSM."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.grading import numbers


@pytest.mark.parametrize(
    ("response", "number"),
    [
        ("Answer: 18", "18"),
        ("Answer:18.", "18"),
        ("Answer: 18.0", "18"),
        ("Answer: 18.50", "18.5"),
        ("Answer: 100", "100"),
        ("Answer: 100.00", "100"),
        ("Answer: 0", "0"),
        ("Answer: 0.0", "0"),
        ("Answer: 1,234,567", "1234567"),
        ("Answer: $18", "18"),
        ("Answer: **18**", "18"),
        ("**Answer:**\n\n18 dollars", "18"),
        ("Answer: 18 of 20", "18"),
        ("Answer: 12-18", "12"),
        ("Answer: 5\nNo.\nAnswer: 18", "18"),
        ("The Answer is 18", "18"),
        ("Answer - 18", "18"),  # a dash, not a sign
    ],
)
def test_the_first_number_after_the_last_prefix_is_read(response: str, number: str) -> None:
    assert numbers.stated(response, "Answer") == number


@pytest.mark.parametrize(
    "response",
    [
        "",
        "18",
        "answer: 18",
        "Answer: eighteen",
        "Answer: 18. That is my Answer",
        "Answer: -18",  # the convention would read 18
        "Answer: −18",
        "Answer: -$18",
        "Answer: १८",  # the convention would read them, and they would equal nothing
        "Answer: 1８",
    ],
)
def test_what_is_no_plain_number_is_not_read(response: str) -> None:
    assert numbers.stated(response, "Answer") is None


@given(st.integers(0, 10**12), st.sampled_from(["", ".", ".0", ".00", " ", " years", "।", "元"]))
def test_a_whole_number_is_read_however_it_is_written(value: int, tail: str) -> None:
    assert numbers.stated(f"Answer: {value}{tail}", "Answer") == str(value)
    assert numbers.stated(f"Answer: {value:,}{tail}", "Answer") == str(value)


@given(st.text())
def test_what_is_read_is_a_number_in_plain_digits(text: str) -> None:
    found = numbers.stated(f"Answer{text}", "Answer")
    assert found is None or (float(found) >= 0 and found.isascii())


def test_a_hostile_megabyte_is_read_quickly() -> None:
    begun = time.process_time()
    for hostile in ("Answer" * 170_000, "Answer" + "-" * 1_000_000, "Answer" + "1." * 500_000):
        numbers.stated(hostile, "Answer")
    numbers.stated("Answer: " + "1" * 1_000_000, "Answer")
    assert time.process_time() - begun < 30  # some 1 s: no slow machine is to decide
