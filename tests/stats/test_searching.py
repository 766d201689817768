"""The smallest number that is enough."""

from hypothesis import given
from hypothesis import strategies as st

from raybench.stats.searching import least


@given(wanted=st.integers(1, 10_000), start=st.integers(1, 50), most=st.integers(50, 20_000))
def test_it_is_found_wherever_it_lies(wanted: int, start: int, most: int) -> None:
    found = least(lambda number: number >= wanted, start, most)
    assert found == (max(wanted, start) if wanted <= most else None)
