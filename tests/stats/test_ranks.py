"""Correlations by pairs are scipy's, and none that turned pairs allow lies further."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from raybench.stats.ranks import (
    Correlation,
    furthest,
    kendall,
    order,
    places,
    ranks,
    spearman,
)

few = st.lists(st.integers(0, 4), min_size=3, max_size=8)


@given(few, st.randoms())
def test_correlations_are_scipys(ours: list[int], rng: object) -> None:
    theirs = list(ours)
    rng.shuffle(theirs)  # type: ignore[attr-defined]
    one, other = order(np.array([ours], dtype=float)), order(np.array(theirs, dtype=float))
    tau, rho = kendall(one, other)[0], spearman(one, other)[0]
    if len(set(ours)) == 1:
        assert np.isnan(tau)
        assert np.isnan(rho)
    else:
        assert tau == pytest.approx(stats.kendalltau(ours, theirs).statistic)
        assert rho == pytest.approx(stats.spearmanr(ours, theirs).statistic)


@given(st.lists(st.lists(st.integers(0, 4), min_size=4, max_size=4), min_size=1, max_size=5))
def test_places_and_ranks_are_scipys_from_the_highest(rows: list[list[int]]) -> None:
    scores = np.array(rows, dtype=float)
    assert (places(scores) == stats.rankdata(-scores, axis=1, method="min")).all()
    assert (ranks(scores) == stats.rankdata(-scores, axis=1, method="average")).all()


def test_a_model_without_a_score_leaves_no_correlation() -> None:
    rows = order(np.array([[1.0, np.nan, 2.0], [1.0, 3.0, 2.0]]))
    table = order(np.array([1.0, 3.0, 2.0]))
    assert np.isnan([kendall(rows, table)[0], spearman(rows, table)[0]]).all()
    assert [kendall(rows, table)[1], spearman(rows, table)[1]] == pytest.approx([1, 1])


@st.composite
def varied(draw: st.DrawFn) -> list[int]:
    """Five scores that are not all alike."""
    scores = draw(st.lists(st.integers(0, 3), min_size=5, max_size=5))
    if len({*scores}) == 1:
        scores[draw(st.integers(0, 4))] += 1
    return scores


@given(
    st.permutations(range(5)),
    varied(),
    st.lists(st.booleans(), min_size=10, max_size=10),
    st.sampled_from([kendall, spearman]),
)
def test_no_order_with_the_same_pairs_lies_further(
    ours: list[int], theirs: list[int], held: list[bool], correlation: Correlation
) -> None:
    own, table = order(np.array(ours, dtype=float)), order(np.array(theirs, dtype=float))
    holds = np.zeros((5, 5), dtype=bool)
    holds[np.triu_indices(5, 1)] = held
    holds |= holds.T
    value, far = float(correlation(own, table)), furthest(correlation, own, table, holds)
    others = (order(np.array(it, dtype=float)) for it in permutations(range(5)))
    allowed = [correlation(it, table) for it in others if (it == own)[holds].all()]
    if value >= 0:
        assert max(allowed) - 1e-9 <= far <= 1 + 1e-9
    else:
        assert -1 - 1e-9 <= far <= min(allowed) + 1e-9


@pytest.mark.parametrize("correlation", [kendall, spearman])
def test_pairs_that_all_hold_leave_it_as_it_is(correlation: Correlation) -> None:
    own, table = order(np.array([1.0, 3.0, 2.0, 4.0])), order(np.array([4.0, 1.0, 3.0, 3.0]))
    every, none = np.ones((4, 4), dtype=bool), np.zeros((4, 4), dtype=bool)
    value = float(correlation(own, table))
    assert value < 0
    assert furthest(correlation, own, table, every) == pytest.approx(value)
    # Two that the table has equal stay as they are.
    assert furthest(correlation, own, table, none) == pytest.approx(
        float(correlation(order(np.array([1.0, 4.0, 2.0, 3.0])), table))
    )
