"""Journals in pieces."""

from io import BytesIO

from hypothesis import given
from hypothesis import strategies as st

from raybench.pipeline.storage import segments
from raybench.pipeline.storage.segments import Piece, Segment, Term

PIECE = st.lists(st.integers(0, 9), min_size=1, max_size=4).map(
    lambda ids: b"".join(b"%d\n" % each for each in ids)
)
PIECES = st.lists(PIECE, max_size=6)
SOME_PIECES = st.lists(PIECE, min_size=1, max_size=6)


def stored(pieces: list[bytes]) -> list[Piece]:
    return [Piece(len(it), segments.digest(it), str(at)) for at, it in enumerate(pieces)]


@given(
    st.integers(1, 10**7),
    st.integers(0, 10**9),
    st.binary(max_size=40),
    st.sampled_from(["units", "a-b_c", "replies.more"]),
)
def test_a_segment_is_known_by_its_name(
    generation: int, number: int, data: bytes, journal: str
) -> None:
    term = Term(generation, "00ff")
    segment = Segment(journal, term, number, len(data), segments.digest(data))
    assert segments.read([segment.path]) == [segment]


def test_nothing_else_is_one() -> None:
    good = Segment("units", Term(1, "ab"), 0, 3, "0" * 16).path
    others = ["journal/units.jsonl", "lease.json", f"parts/x/{good}", good + ".tmp", "journal/x/y"]
    assert segments.read(others) == []


@given(PIECES, PIECES)
def test_a_journal_that_has_more_than_the_store_is_ahead(
    pieces: list[bytes], more: list[bytes]
) -> None:
    standing = segments.compared(BytesIO(b"".join([*pieces, *more])), stored(pieces))
    assert (standing.pieces, standing.at) == (len(pieces), len(b"".join(pieces)))
    assert standing.more == len(b"".join(more))
    assert not standing.apart(stored(pieces))


@given(SOME_PIECES, st.data())
def test_a_journal_that_has_less_is_behind_by_whole_pieces(
    pieces: list[bytes], data: st.DataObject
) -> None:
    whole = b"".join(pieces)
    cut = data.draw(st.integers(0, len(whole) - 1))
    standing = segments.compared(BytesIO(whole[:cut]), stored(pieces))
    assert b"".join(pieces[: standing.pieces]) == whole[: standing.at]
    assert standing.at <= cut < standing.at + len(pieces[standing.pieces])
    assert not standing.apart(stored(pieces))


@given(SOME_PIECES, st.data())
def test_a_piece_that_is_another_is_apart(pieces: list[bytes], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(pieces) - 1))
    changed = [*pieces]
    changed[at] = b"x" + changed[at][1:]
    standing = segments.compared(BytesIO(b"".join(changed)), stored(pieces))
    assert standing.pieces == at
    assert standing.apart(stored(pieces))
