from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.grading.likeness import Alike, digest, shingles, words

sets = st.frozensets(st.integers(0, 12), max_size=8)
shares = st.sampled_from([0.3, 0.5, 0.6, 2 / 3, 0.8, 1.0])


def test_words_have_no_case_and_no_marks_that_change_nothing() -> None:
    assert words("The “ﬁrst”, $x_1$ is: {2}!") == ["the", "first", "x_1", "is", "2", "!"]
    assert words(" .?\n") == []


def test_shingles_reach_over_both_ends() -> None:
    assert shingles(["a", "b"]) == ["  a", " a b", "a b ", "b  "]
    assert shingles(["a", "b"], width=2) == [" a", "a b", "b "]
    assert shingles([]) == []


def test_a_digest_stands_for_any_text() -> None:
    assert digest("a") == digest("a") != digest("b")
    assert len(digest("\ud800")) == 16


@given(st.text(max_size=40), st.integers(1, 4))
def test_every_word_is_in_as_many_shingles(text: str, width: int) -> None:
    said = words(text)
    found = shingles(said, width)
    assert sum(len(it.split()) for it in found) == width * len(said)


@given(st.lists(sets, max_size=10), sets, shares, st.data())
def test_what_is_found_is_what_comparing_all_finds(
    kept: list[frozenset[int]], own: frozenset[int], least: float, data: st.DataObject
) -> None:
    alike: Alike[int] = Alike(least)
    for number, parts in enumerate(kept):
        alike.add(number, parts)
    gone = data.draw(st.sets(st.sampled_from(range(len(kept))))) if kept else set()
    for number in gone:
        alike.drop(number)
    expected = {
        (len(own & it) / len(own | it), number)
        for number, it in enumerate(kept)
        if number not in gone and own & it and len(own & it) / len(own | it) >= least
    }
    found = list(alike.like(own))
    assert set(found) == expected
    assert len(found) == len(expected)


@given(st.lists(sets, min_size=1, max_size=10), shares)
def test_a_number_that_was_dropped_is_free_again(kept: list[frozenset[int]], least: float) -> None:
    alike: Alike[int] = Alike(least)
    for parts in kept:
        alike.add(0, parts)
        assert list(alike.like(parts)) == ([(1.0, 0)] if parts else [])
        alike.drop(0)
        assert not list(islice(alike.like(parts), 1))


@pytest.mark.parametrize("least", [0, -1, 1.1])
def test_a_share_is_above_0_to_1(least: float) -> None:
    with pytest.raises(ValueError, match="above 0 to 1"):
        Alike(least)
