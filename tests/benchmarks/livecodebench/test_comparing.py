import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.benchmarks.parts.livecodebench import comparing, inside


@pytest.mark.parametrize(
    ("given_", "expected", "same"),
    [
        ("1\n2\n", "1\n2", True),
        ("\n\n1\n2\n\n", "1\n2", True),
        ("  1  \r\n 2 ", "1\n2", True),
        ("1\n\n2", "1\n2", False),
        ("1 2", "1\n2", False),
        ("1  2", "1 2", True),
        ("1.0 2e0", "1 2.00", True),
        ("0.1", "0.10000001", False),
        ("100000000000000000000000001", "100000000000000000000000002", False),
        ("+1 -0", "1 0", True),
        ("1 a", "1.0 a", False),
        ("Yes", "YES", False),
        ("", "", True),
        ("", "0", False),
        ("NaN", "NaN", True),
        ("NaN", "nan", False),
        ("sNaN", "1", False),
        ("1e999999999999999999999", "1", False),
        ("1e999999", "1", False),
    ],
)
def test_lines_are_the_same_letter_by_letter_or_as_numbers(
    given_: str, expected: str, same: bool
) -> None:
    assert comparing.same_text(given_, expected) is same


def told(value: Any) -> str:
    """Return a value as the sandbox tells it."""
    return json.dumps(inside.encoded(value))


class Always(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class Double(list[int]):
    def __iter__(self) -> Any:
        return iter([1, 2])


class Same:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("value", "expected", "same"),
    [
        ([1, 2], "[1, 2]", True),
        ((1, 2), "[1, 2]", True),
        ([(1, 2)], "[[1, 2]]", False),
        (([1],), "[[1]]", True),
        (True, "1", True),
        (2.0, "2", True),
        (Fraction(1, 2), "0.5", True),
        (None, "null", True),
        (None, "0", False),
        ("1", "1", False),
        ("é\ud800", '"é\\ud800"', True),
        ({"a": 1}, '{"a": 1}', True),
        ({1: 1}, '{"1": 1}', False),
        ({1, 2}, "[1, 2]", False),
        (range(2), "[0, 1]", False),
        (iter([1]), "[1]", False),
        (b"1", '"1"', False),
        (float("nan"), "1", False),
        (float("inf"), "1", False),
        (1j, "1", False),
        (Same(), "1", False),
        ([Same()], "[1]", False),
        (Always(3), "4", False),
        (Always(3), "3", True),
        (Double([3]), "[1, 2]", False),
        (Double([3]), "[3]", True),
        (10**4000, "1", False),
    ],
)
def test_values_are_compared_by_what_they_are(value: Any, expected: str, same: bool) -> None:
    assert comparing.same_value(told(value), expected) is same


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES, VALUES)
def test_it_is_pythons_equality_of_what_json_can_say(one: Any, other: Any) -> None:
    assert comparing.same_value(told(one), json.dumps(one))
    assert comparing.same_value(told(one), json.dumps(other)) == (one == other)


@pytest.mark.parametrize(
    "text",
    [
        *("", "[", "{}", '{"tuple": 1}', '{"dict": [1]}', '{"number": "1/0"}', '{"a": 1, "b": 2}'),
        *('{"dict": [[[1], 2]]}', '{"number": "x"}', "[" * 100_000),
    ],
)
def test_what_nobody_encoded_is_no_result(text: str) -> None:
    with pytest.raises(ValueError):
        comparing.same_value(text, "1")


@pytest.mark.parametrize(
    "held", ["1e300000000", "1e9", "0x10", "nan", "1/0", "9" * 5000, " 1", 5, None, float("inf")]
)
def test_a_number_that_would_take_ages_is_none(held: Any) -> None:
    with pytest.raises(ValueError, match=r"a number|ZeroDivision"):
        comparing.same_value(json.dumps({"number": held}), "1")
