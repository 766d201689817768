"""How far two uncertain rankings agree: by example, by property and by simulation."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from statements import code

from raybench.stats import latent
from raybench.stats.agreement import beside, between, possible, sure
from raybench.stats.joint import Joint
from raybench.stats.ranks import kendall, order, spearman


def noisy(values: NDArray[Any], size: float = 1.0, alike: float = 0.0) -> Joint:
    n = len(values)
    covariance = size**2 * ((1 - alike) * np.eye(n) + alike)
    return Joint("m", tuple("abcdefghijklmno"[:n]), np.round(values, 9), covariance)


FAR = np.array([1.0, 20.0, 40.0, 60.0, 80.0])


def test_far_apart_models_leave_no_doubt() -> None:
    same = between(noisy(FAR), noisy(FAR))
    assert same.kendall.value == 1 and same.kendall.ci95 == (1.0, 1.0)
    assert (same.alike, same.opposed, same.pairs) == (10, (), 10)
    other = between(noisy(FAR), noisy(-FAR))
    assert other.kendall.ci95 == (-1.0, -1.0) and len(other.opposed) == 10
    assert ("e", "a") in other.opposed  # e is above a on the one side


def test_close_models_leave_all_of_it_open() -> None:
    found = between(noisy(np.array([0.1, 0.2, 0.3, 0.4])), noisy(np.array([0.1, 0.2, 0.3, 0.4])))
    assert found.kendall.value == 1
    assert found.kendall.ci95 == (-1.0, 1.0)
    assert found.alike == 0


def test_few_models_are_told_which_values_there_are() -> None:
    assert possible(2) == [-1, 1]
    assert possible(3) == pytest.approx([-1, -1 / 3, 1 / 3, 1])
    three = between(noisy(FAR[:3]), noisy(FAR[:3]))
    assert "-1.00, -0.33, 0.33, 1.00" in three.kendall.method
    assert three.kendall.ci95 is not None and three.others.ci95 is None
    two = between(noisy(FAR[:2], 99), noisy(FAR[:2], 99))
    assert two.kendall.value == 1 and two.kendall.ci95 == (-1.0, 1.0)


def test_what_cannot_be_compared_is_refused_with_the_reason() -> None:
    one = noisy(FAR)
    alone = between(one, noisy(FAR[:1])).kendall
    assert (alone.n, code(alone.method)) == (1, "refused.not_in_both")
    other = Joint("m", ("x", "y"), np.array([1.0, 2.0]), np.eye(2))
    nobody = between(one, other).kendall
    assert (nobody.n, code(nobody.method)) == (0, "refused.not_in_both")
    equal = between(one, noisy(np.zeros(5), 0.0))
    assert equal.kendall.value is None and code(equal.kendall.method) == "refused.models_equal"


def test_errors_that_go_together_make_an_order_surer() -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0])
    apart, together = sure(noisy(values, 1.0)), sure(noisy(values, 1.0, 0.99))
    assert together[1, 0] > 0.999 > apart[1, 0]


def test_scores_from_elsewhere_are_taken_as_they_are() -> None:
    found = beside(noisy(FAR), {"a": 5.0, "b": 4.0, "c": 3.0, "z": 9.0})
    assert found.models == ("a", "b", "c") and found.kendall.value == -1


@given(st.integers(2, 8), st.integers(0, 2**32 - 1), st.floats(0.01, 10))
@examples(25)
def test_values_are_scipys_and_lie_in_their_intervals(models: int, seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, 5, (2, models)).astype(float)
    found = between(noisy(one, size), noisy(other, size), count=50)
    if found.kendall.value is None:
        return
    assert found.kendall.value == pytest.approx(stats.kendalltau(one, other).statistic)
    assert found.spearman.value == pytest.approx(stats.spearmanr(one, other).statistic)
    for it in (found.kendall, found.spearman):
        assert it.value is not None and it.ci95 is not None
        assert -1 - 1e-9 <= it.ci95[0] <= it.value + 1e-9
        assert it.value - 1e-9 <= it.ci95[1] <= 1 + 1e-9
    turned = between(noisy(other, size), noisy(one, size), count=50)
    assert turned.kendall.value == pytest.approx(found.kendall.value)


def test_an_interval_of_tau_reaches_where_the_pairs_that_hold_allow() -> None:
    sides = noisy(np.array([0.0, 4.5, 9.0, 13.5])), noisy(np.array([0.0, 9.0, 4.5, 13.5]))
    table = dict(zip("abcd", (0, 9, 4.5, 13.5), strict=True))
    for found in (between(*sides), beside(sides[0], table)):
        assert (found.alike, len(found.opposed), found.pairs) == (5, 1, 6)
        assert found.kendall.ci95 == (found.kendall.value,) * 2
    # ρ depends on how far apart models stand that no pair tells apart, too.
    apart = between(noisy(np.array([0.1, 0, 20, 40])), noisy(np.array([10, 0, 20, 10.1])))
    low, high = apart.spearman.ci95 or (1, -1)
    assert apart.spearman.value == pytest.approx(0.8)
    assert low <= 0.8 <= high


def test_more_data_make_intervals_narrower() -> None:
    values = np.arange(8.0)
    rng = np.random.default_rng(5)
    widths = []
    for size in (3.0, 1.0, 0.2):
        found = between(noisy(values, size), noisy(values + 0.1 * rng.standard_normal(8), size))
        assert found.kendall.ci95 is not None
        widths.append(found.kendall.ci95[1] - found.kendall.ci95[0])
    assert widths == sorted(widths, reverse=True) and widths[0] > widths[-1]


@pytest.mark.parametrize("spread", [0.3, 1.0, 3.0])
@pytest.mark.parametrize(("rho", "ties"), [(0.0, False), (1.0, False), (-1.0, True), (0.8, True)])
def test_intervals_hold_the_true_correlation(spread: float, rho: float, ties: bool) -> None:
    rng = np.random.default_rng((int(10 * spread), int(10 + 10 * rho)))
    held, cases = [0, 0], 0
    for case in range(24):
        n = (4, 12)[case % 2]
        z = rng.standard_normal((2, n))
        one, other = spread * z[0], spread * (rho * z[0] + math.sqrt(1 - rho**2) * z[1])
        if ties:
            one, other = (np.round(it / spread) * spread for it in (one, other))
        orders = [order(np.round(it, 9)) for it in (one, other)]
        true = [float(by(*orders)) for by in (kendall, spearman)]
        if math.isnan(true[0]):
            continue
        cases += 1
        # A third of them beside a table without errors: its equals are no accident of rounding.
        seen = [noisy(one + rng.standard_normal(n)), noisy(other + rng.standard_normal(n))]
        if case % 3 == 0 and not ties:
            seen[1] = noisy(other, 0.0)
        found = between(*seen, seed=case, count=200)
        for at, it in enumerate((found.kendall, found.spearman)):
            assert it.ci95 is not None
            held[at] += it.ci95[0] - 1e-9 <= true[at] <= it.ci95[1] + 1e-9
    assert (
        min(held) >= cases - 4
    )  # of 24 intervals that hold 95 %, more than 4 fail once in 200 times


def test_pairs_are_those_of_the_models_that_both_have() -> None:
    found = between(
        noisy(FAR), Joint("m", ("e", "c", "a"), np.array([3.0, 2.0, 1.0]), 1e-9 * np.eye(3))
    )
    assert found.models == ("a", "c", "e") and found.pairs == len([*combinations(range(3), 2)])
    assert found.kendall.value == 1


def test_what_is_equal_without_an_error_is_equal_in_all_true_scores() -> None:
    table = Joint("t", tuple("abcde"), np.array([3.1, 3.1, 1.7, 0.3, 0.3]), np.zeros((5, 5)))
    _, true = latent.drawn(noisy(FAR), table, 50)
    assert (order(true) == order(table.values)).all()
