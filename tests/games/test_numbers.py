"""Numbers are read alike, in whatever digits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.games.parts.numbers import NUMBERS, counted, whole


@given(st.integers(0, 10**9), st.integers(0, 50), st.sampled_from([0x30, 0x660, 0xFF10, 0x1D7CE]))
def test_digits_of_any_script_are_a_number(number: int, zeros: int, zero: int) -> None:
    written = "0" * zeros + str(number)
    assert whole("".join(chr(zero + int(digit)) for digit in written)) == number


@pytest.mark.parametrize("digits", ["9" * 12, "1" + "0" * 9, "7" * 100_000])
def test_what_no_game_can_mean_is_too_much(digits: str) -> None:
    assert whole(digits) == 10**9


def test_small_numbers_may_be_words() -> None:
    assert [counted(word) for word in NUMBERS] == [*range(1, 11)]
    assert [counted(word) for word in ("7", "٣", "012")] == [7, 3, 12]
