"""How often unrelated orders agree so far: against all permutations, with equals and without."""

from itertools import permutations

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from raybench.stats.ranks import order
from raybench.stats.unrelated import p


@given(st.integers(2, 9), st.randoms(use_true_random=False))
@examples(40)
def test_without_equals_it_is_scipys(models: int, rng: object) -> None:
    ours = list(range(models))
    rng.shuffle(ours)  # type: ignore[attr-defined]
    theirs = np.arange(models, dtype=np.float64)
    found = p(order(np.array(ours, dtype=np.float64)), order(theirs))
    assert found == pytest.approx(stats.kendalltau(ours, range(models), method="exact").pvalue)


@given(
    st.lists(st.integers(0, 3), min_size=2, max_size=5),
    st.lists(st.integers(0, 3), min_size=5, max_size=5),
)
@examples(40)
def test_unrelated_orders_are_no_rarer_than_it_says(ours: list[int], theirs: list[int]) -> None:
    own = order(np.array(ours, dtype=float))
    ps = [p(own, order(np.array(it, dtype=float))) for it in permutations(theirs[: len(ours)])]
    assert all(sum(it <= level for it in ps) <= level * len(ps) + 1e-9 for level in ps)


def test_of_many_models_it_is_near_the_normal_distribution() -> None:
    ours, theirs = np.random.default_rng(0).standard_normal((2, 150))
    exact = stats.kendalltau(ours, theirs, method="asymptotic").pvalue
    assert p(order(ours), order(theirs)) == pytest.approx(exact, abs=0.01)
