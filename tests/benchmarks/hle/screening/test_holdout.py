import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.benchmarks.parts.hle.screening import holdout

keys = st.lists(st.text(), unique=True, max_size=30)
seeds = st.integers()
shares = st.floats(0, 1)


@given(keys, keys, seeds, shares)
def test_a_question_stays_where_it_is_whichever_others_come_or_go(
    some: list[str], more: list[str], seed: int, share: float
) -> None:
    few, many = ([{"id": key} for key in it] for it in (some, [*more, *some]))
    public, private = holdout.split(few, seed=seed, share=share)
    more_public, more_private = holdout.split(many, seed=seed, share=share)
    assert [row for row in few if row in public] == list(public)
    assert len(public) + len(private) == len(few)
    assert all(row in more_public for row in public)
    assert all(row in more_private for row in private)


@given(st.text(), seeds, shares, shares)
def test_what_a_smaller_share_holds_out_a_larger_one_does(
    key: str, seed: int, one: float, other: float
) -> None:
    few, many = sorted((one, other))
    held = holdout.is_private(key, seed=seed, share=few)
    assert not held or holdout.is_private(key, seed=seed, share=many)


@given(st.text(), seeds)
def test_none_is_held_out_by_a_share_of_nothing_and_each_by_one_of_all(key: str, seed: int) -> None:
    assert not holdout.is_private(key, seed=seed, share=0)
    assert holdout.is_private(key, seed=seed, share=1)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_share_is_what_was_asked_for(share: float, seed: int) -> None:
    count = 20_000
    held = sum(holdout.is_private(f"q-{place}", seed=seed, share=share) for place in range(count))
    assert abs(held / count - share) < 4 * math.sqrt(share * (1 - share) / count)


def test_seeds_hold_out_others() -> None:
    rows = [{"id": f"q-{place}"} for place in range(1000)]
    drawn = [holdout.split(rows, seed=seed, share=0.5)[1] for seed in (0, 1)]
    both = sum(row in drawn[1] for row in drawn[0])
    assert 180 < both < 320  # a quarter of them, as independent draws have it


def test_the_draw_is_the_same_on_every_machine() -> None:
    # What was held out once must be held out for good: these may never change.
    held = [place for place in range(20) if holdout.is_private(f"q-{place}", seed=0, share=0.2)]
    assert held == [1, 10, 15]


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan])
def test_a_share_is_none(share: float) -> None:
    with pytest.raises(ValueError, match="share"):
        holdout.is_private("q", seed=0, share=share)
