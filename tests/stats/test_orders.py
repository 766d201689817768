"""How far orders agree from one wording to another."""

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from raybench.stats.orders import Orders, changed, orders
from raybench.stats.steadiness import Parts
from raybench.types import Estimate


def drawn(
    seed: int, wording: float, *, models: int = 6, wordings: int = 4, groups: int = 20
) -> Parts:
    """Return parts of ratings 40 points apart, with noise, moved by wording."""
    moved = np.random.default_rng(99).normal(0, wording, (wordings, models))
    rng = np.random.default_rng(seed)
    noise = rng.normal(0, 25 * np.sqrt(groups), (groups, wordings, models))
    shared = rng.normal(0, 25 * np.sqrt(groups), (groups, 1, models))
    return np.asarray(40.0 * np.arange(models) + moved + noise + shared)


def each(found: Orders) -> list[Estimate]:
    return [found.between, found.same, found.other, found.lost]


@examples(20)
@given(st.integers(0, 1000))
def test_between_wordings_it_is_kendalls_tau(seed: int) -> None:
    of = drawn(seed, 40.0)
    ratings = of.mean(axis=0)
    taus = [
        stats.kendalltau(ratings[one], ratings[other]).statistic
        for one in range(4)
        for other in range(one)
    ]
    assert orders(of).between.value == pytest.approx(np.mean(taus))


def test_orders_that_are_all_the_same_agree_and_have_no_interval() -> None:
    of = np.broadcast_to(np.arange(5.0), (10, 3, 5))
    found = orders(of)
    assert [it.value for it in each(found)] == [1, 1, 1, 0]
    assert all(it.ci95 is None for it in each(found))
    turned = np.stack([of[:, 0], -of[:, 1]], axis=1)
    other = orders(turned)
    assert [it.value for it in each(other)] == [-1, 1, -1, 2]


def test_two_models_are_refused() -> None:
    assert all(it.value is None for it in each(orders(drawn(1, 0.0, models=2))))


def test_intervals_stay_where_correlations_are() -> None:
    for found, most in zip(each(orders(drawn(3, 200.0, models=3))), (1, 1, 1, 2), strict=True):
        if found.ci95 is not None:
            assert -most <= found.ci95[0] <= found.ci95[1] <= most


@pytest.mark.parametrize("wording", [0.0, 60.0])
def test_what_wording_takes_is_0_where_it_does_not_matter_and_intervals_hold_the_mean(
    wording: float,
) -> None:
    found = [orders(drawn(seed, wording), seed) for seed in range(25)]
    lost = float(np.mean([it.lost.value for it in found]))
    if wording:
        assert lost > 0.1
    else:
        assert abs(lost) < 0.02
    for name in Orders.__slots__:
        these = [getattr(it, name) for it in found]
        mean = float(np.mean([it.value for it in these]))
        held = [it.ci95 is not None and it.ci95[0] <= mean <= it.ci95[1] for it in these]
        assert np.mean(held) >= 0.88, name


def test_a_change_is_the_difference_of_both_on_the_same_groups() -> None:
    before, after = drawn(1, 80.0), drawn(1, 0.0)
    one, other, found = orders(before), orders(after), changed(before, after)
    for name in Orders.__slots__:
        value = getattr(other, name).value - getattr(one, name).value
        assert getattr(found, name).value == pytest.approx(value)
    assert found.lost.ci95 is not None and found.lost.ci95[1] < 0
    assert all(it.ci95 is None for it in each(changed(before, before)))
