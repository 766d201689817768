"""What is kept of a program's output."""

from hypothesis import given
from hypothesis import strategies as st

from raybench.sandbox.output import _CUT, Kept


@given(pieces=st.lists(st.binary(max_size=40), max_size=20), bound=st.integers(2, 64))
def test_beginning_and_end_are_kept_and_the_rest_is_counted(
    pieces: list[bytes], bound: int
) -> None:
    kept, all_of_it = Kept(bound), b"".join(pieces)
    for piece in pieces:
        kept.add(piece)
    said = kept.bytes()
    assert kept.total == len(all_of_it)
    if len(all_of_it) <= bound:
        assert said == all_of_it
        assert not kept.truncated
    else:
        head, tail = bound - bound // 2, bound // 2
        mark = _CUT.format(len(all_of_it) - bound).encode()
        assert said == all_of_it[:head] + mark + all_of_it[len(all_of_it) - tail :]
        assert kept.truncated


@given(pieces=st.lists(st.integers(0, 5000), min_size=1, max_size=50))
def test_little_is_held_however_much_there_is(pieces: list[int]) -> None:
    kept = Kept(100)
    for size in pieces:
        kept.add(b"x" * size)
    held = sum(map(len, kept._head)) + sum(map(len, kept._tail))
    assert held <= 100 + max(pieces)
