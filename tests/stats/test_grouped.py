import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statements import code, values

from raybench.stats import clusters, grouped
from raybench.stats.intervals import wilson
from raybench.types import Estimate

OVER = "ratings by task"
Rows = list[tuple[int, int, int]]

rows = st.lists(
    st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(0, 3)), min_size=1, max_size=30
)


def array(*values: float) -> Any:
    return np.array(values, dtype=float)


def columns(of: Rows) -> tuple[Any, Any, Any]:
    x, y, groups = zip(*of, strict=True)
    return array(*x), array(*y), np.array(groups)


# -------------------------------------------------------------------------------- known answers


def test_the_mean_of_worked_groups() -> None:
    # The worked example of clusters: mean 3/4, standard error 1/4 from two groups.
    found = grouped.mean(array(1, 1, 0, 1), np.array([1, 1, 0, 0]), over=OVER)
    assert (found.value, found.n) == (0.75, 4)
    assert found.stderr == pytest.approx(0.25)
    assert found.ci95 == pytest.approx((0.75 - 12.7062 * 0.25, 0.75 + 12.7062 * 0.25), abs=1e-4)


def test_a_mean_without_an_interval_says_why() -> None:
    alone = grouped.mean(array(1, 2), np.array([3, 3]), over=OVER)
    assert (alone.value, alone.ci95) == (1.5, None)
    assert code(alone.method) == "no_interval.one_group"
    equal = grouped.mean(array(2, 2), np.array([0, 1]), over=OVER)
    assert (equal.value, equal.ci95) == (2.0, None)
    assert code(equal.method) == "no_interval.all_equal"
    none = grouped.mean(array(), np.array([], dtype=int), over=OVER)
    assert (none.value, none.n, values(none.method)) == (None, 0, {"over": OVER})


def test_a_share_of_groups_that_each_agree_is_as_sure_as_there_are_groups() -> None:
    hits, groups = np.repeat([1.0, 1.0, 0.0, 1.0], 5), np.repeat(np.arange(4), 5)
    together = grouped.share(hits, groups, over="hits", by="task")
    assert (together.value, together.n) == (0.75, 20)
    once = grouped.share(hits[::5], groups[::5], over="hits", by="task")
    assert together.ci95 == pytest.approx(once.ci95)
    apart = grouped.share(hits, np.arange(20), over="hits", by="task")
    assert together.ci95 is not None
    assert apart.ci95 is not None
    assert together.ci95[0] < apart.ci95[0] < 0.75 < apart.ci95[1] < together.ci95[1]


def test_a_share_of_hits_alone_counts_groups_and_of_nothing_is_refused() -> None:
    every = grouped.share(np.ones(20), np.repeat(np.arange(4), 5), over="hits", by="task")
    assert every.ci95 == pytest.approx(wilson(1.0, 4))
    none = grouped.share(array(), np.array([], dtype=int), over="hits", by="task")
    assert none == Estimate(None, None, None, 0, "not computed: no hits")


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=40
    )
)
def test_a_share_of_sums_is_that_of_the_hits_one_by_one(found: list[tuple[int, float]]) -> None:
    groups = np.array([group for group, _ in found])
    hits = np.array([hit for _, hit in found])
    one_by_one = grouped.share(hits, groups, over="hits", by="seed")
    sums, counts = array(*np.bincount(groups, hits)), array(*np.bincount(groups))
    summed = grouped.share_of_sums(sums, counts, over="hits", by="seed")
    assert (summed.value, summed.n, summed.method) == (
        one_by_one.value, one_by_one.n, one_by_one.method
    )  # fmt: skip
    if one_by_one.stderr is None:
        assert summed.stderr is None
    else:
        assert summed.stderr == pytest.approx(one_by_one.stderr, abs=1e-12)
    assert summed.ci95 == pytest.approx(one_by_one.ci95, abs=1e-9)


def test_a_share_of_no_sums_is_refused() -> None:
    none = grouped.share_of_sums(array(), array(), over="hits", by="seed")
    assert none == Estimate(None, None, None, 0, "not computed: no hits")


@pytest.mark.parametrize(("alike", "n"), [(0.1, 200), (0.3, 20), (0.7, 60)])
def test_shares_are_covered_where_misses_come_together(alike: float, n: int) -> None:
    """Wilson's interval of all observations covers 80, 64 and 46 % here."""
    rng = np.random.default_rng(n)
    missed, groups = 0.1, np.repeat(np.arange(n), 13)
    covered = []
    for _ in range(300):
        ill = rng.beta(missed * (1 / alike - 1), (1 - missed) * (1 / alike - 1), n)
        hits = (rng.random((n, 13)) >= ill[:, None]).astype(float).ravel()
        low, high = grouped.share(hits, groups, over="hits", by="task").ci95 or (0, 0)
        plain = wilson(hits.mean(), len(hits))
        covered.append((low <= 1 - missed <= high, plain[0] <= 1 - missed <= plain[1]))
    found, plainly = np.mean(covered, axis=0)
    assert found >= 0.92
    assert plainly < 0.9


def test_correlation_leaves_out_what_groups_share() -> None:
    # Inside both groups the two fall and rise against each other; over both they rise.
    groups = np.array([0, 0, 0, 1, 1, 1])
    found = grouped.correlation(
        array(1, 2, 3, 11, 12, 13), array(3, 2, 1, 9, 8, 8), groups, over=""
    )
    deviations = array(-1, 0, 1, -1, 0, 1), array(1, 0, -1, 2 / 3, -1 / 3, -1 / 3)
    assert found.value == pytest.approx(stats.pearsonr(*deviations)[0])
    assert found.value is not None
    assert found.ci95
    assert -1 <= found.ci95[0] < found.value < found.ci95[1] <= 1


def test_a_group_that_one_side_does_not_tell_apart_counts_against_agreement() -> None:
    x, y = array(1, 2, 3, 1, 2, 3), array(1, 2, 4, 3, 3, 3)
    both = grouped.correlation(x, y, np.array([0, 0, 0, 1, 1, 1]), over="").value
    first = grouped.correlation(x[:3], y[:3], np.array([0, 0, 0]), over="").value
    assert both is not None
    assert first is not None
    assert both == pytest.approx(first / math.sqrt(2))


def test_a_correlation_without_variation_is_refused() -> None:
    found = grouped.correlation(array(1, 2), array(3, 3), np.array([0, 0]), over=OVER)
    assert found.value is None
    assert code(found.method) == "refused.no_variation"
    # Differences between groups are no variation within.
    found = grouped.correlation(array(1, 2), array(3, 4), np.array([0, 1]), over=OVER)
    assert found.value is None
    found = grouped.correlation(array(), array(), np.array([], dtype=int), over=OVER)
    assert code(found.method) == "refused.none_paired"


def test_full_correlation_has_no_interval() -> None:
    groups = np.array([0, 0, 1, 1])
    found = grouped.correlation(array(1, 2, 4, 5), array(3, 5, 1, 3), groups, over=OVER)
    assert found.value == pytest.approx(1.0)
    assert found.ci95 is None
    assert code(found.method) == "no_interval.groups_alike"


# ----------------------------------------------------------------------------------- properties


def test_one_group_that_varies_is_no_ground_for_an_interval() -> None:
    groups = np.array([0, 0, 0, 1, 1])
    found = grouped.correlation(array(1, 2, 3, 4, 4), array(1, 3, 2, 5, 5), groups, over=OVER)
    assert found.value == pytest.approx(0.5)
    assert found.ci95 is None
    assert code(found.method) == "no_interval.one_group"


@given(rows)
def test_the_mean_is_that_of_clusters_whatever_the_groups_are_called(of: Rows) -> None:
    _, y, groups = columns(of)
    found = grouped.mean(y, groups, over=OVER)
    again = grouped.mean(y, 7 - groups, over=OVER)
    assert found.value == pytest.approx(clusters.mean(y[None, :]).value)
    assert again.value == pytest.approx(found.value)
    assert again.ci95 == (found.ci95 and pytest.approx(found.ci95))


@given(rows, st.floats(-3, 3), st.floats(0.1, 5))
def test_correlation_heeds_neither_scale_nor_place(of: Rows, shift: float, scale: float) -> None:
    x, y, groups = columns(of)
    found = grouped.correlation(x, y, groups, over=OVER)
    moved = grouped.correlation(x, scale * y + shift * groups, groups, over=OVER)
    other = grouped.correlation(y, x, groups, over=OVER)
    expected = None if found.value is None else pytest.approx(found.value, abs=1e-9)
    assert moved.value == expected
    assert other.value == expected
    if found.ci95 and found.value is not None:
        assert -1 <= found.ci95[0] <= found.value <= found.ci95[1] <= 1


# ------------------------------------------------------------------------------------- coverage


def _tasks(rng: Any) -> tuple[Any, Any, Any]:
    groups = np.repeat(np.arange(40), 6)
    x = rng.normal(size=240) + rng.normal(size=40)[groups]
    return x, 0.5 * x + rng.normal(size=240) * rng.uniform(0.5, 1.5, 40)[groups], groups


def _mean(rng: Any) -> Estimate:
    x, _, groups = _tasks(rng)
    return grouped.mean(x, groups, over=OVER)


def _correlation(rng: Any) -> Estimate:
    x, y, groups = _tasks(rng)
    return grouped.correlation(x, y, groups, over=OVER)


# In deviations from six: slope and noise as above, E sd² = 1 + 1/12 over uniform(0.5, 1.5).
TRUE = 0.5 / math.sqrt(0.25 + 13 / 12)


@pytest.mark.parametrize(("draw", "truth"), [(_mean, 0.0), (_correlation, TRUE)])
def test_intervals_hold_the_truth_about_as_often_as_they_say(
    draw: Callable[[Any], Estimate], truth: float
) -> None:
    rng = np.random.default_rng(1)
    found = [draw(rng).ci95 for _ in range(600)]
    covered = sum(ci95 is not None and ci95[0] <= truth <= ci95[1] for ci95 in found) / 600
    assert 0.925 <= covered <= 0.975
