"""What perf/load.py is asked for is what it runs, at least."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perf.load import Way


def units(questions: int, asked: int) -> int:
    """Return how many units the arguments for so many make."""
    limit, repeats = (int(it.partition("=")[2]) for it in Way("index", [], questions).sized(asked))
    assert limit <= questions
    return limit * repeats


@pytest.mark.parametrize(
    ("asked", "made"), [(10_000, 10_000), (100_000, 100_000), (1_000_000, 1_000_064)]
)
def test_the_sizes_of_mmlu_pro(asked: int, made: int) -> None:
    assert units(12_032, asked) == made


@given(st.integers(1, 20_000), st.integers(1, 2_000_000))
def test_a_size_is_never_less_than_it_says(questions: int, asked: int) -> None:
    made = units(questions, asked)
    assert made >= asked
    assert made - asked < 2 * max(1, asked / questions)  # less than one more question, repeated
