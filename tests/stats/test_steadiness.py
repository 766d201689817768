"""How far ratings hang on wording: what is planted is found, and no more than that."""

import math
from typing import Any

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from statements import code

from raybench.stats import steadiness
from raybench.stats.steadiness import Parts, change, parts, spread

GROUPS = 20


def planted(
    seed: int, deviation: float, *, wordings: int = 5, models: int = 4, noise: float = 30.0
) -> tuple[Parts, float]:
    """Return parts of ratings with noise, and the spread that was planted in them."""
    rng = np.random.default_rng(seed)
    moved = rng.normal(0, 1, (wordings, models))
    moved -= moved.mean(axis=0)
    moved -= moved.mean(axis=1, keepdims=True)
    over = (wordings - 1) * models
    moved *= deviation / math.sqrt(float((moved**2).sum()) / over)
    shape = (GROUPS, wordings, models)
    alike = rng.normal(0, noise * math.sqrt(GROUPS), (GROUPS, 1, models))  # all wordings share it
    chance = rng.normal(0, noise * math.sqrt(GROUPS), shape)
    chance -= chance.mean(axis=2, keepdims=True)
    return moved + alike + chance, deviation


def holds(estimate: Any, value: float) -> bool:
    low, high = estimate.ci95
    return bool(low - 1e-9 <= value <= high + 1e-9)


@given(st.integers(0, 10_000))
def test_parts_of_a_mean_are_what_it_is_a_mean_of(seed: int) -> None:
    values = np.random.default_rng(seed).normal(1000, 100, (8, 3, 2))
    without = np.array([np.delete(values, at, axis=0).mean(axis=0) for at in range(8)])
    assert np.allclose(parts(values.mean(axis=0), without), values)


@pytest.mark.parametrize(("deviation", "models"), [(0.0, 1), (0.0, 6), (20.0, 4), (80.0, 2)])
def test_it_is_what_was_planted_on_average_and_intervals_hold_that(
    deviation: float, models: int
) -> None:
    found = []
    for seed in range(200):
        of, true = planted(seed, deviation, models=max(2, models))
        if models == 1:
            of = of[:, :, :1]
        found.append((spread(of), true))
    variances = [it.variance for it, _ in found]
    stderr = np.std(variances) / math.sqrt(len(found))
    assert abs(np.mean(variances) - deviation**2) < 4 * stderr
    assert 0.92 <= np.mean([holds(it.true, true) for it, true in found]) <= 1
    assert np.mean([it.raw for it, _ in found]) > deviation + 2, "chance is in the raw one"


@pytest.mark.parametrize(
    ("before", "after"), [(0.0, 0.0), (50.0, 0.0), (50.0, 50.0), (15.0, 60.0), (100.0, 20.0)]
)
def test_intervals_of_changes_hold_the_true_ones(before: float, after: float) -> None:
    held = []
    for seed in range(150):
        one, other = planted(seed, before)[0], planted(seed + 10_000, after)[0]
        held.append(holds(change(one, other), after - before))
    assert np.mean(held) >= 0.91


def test_a_large_change_is_found() -> None:
    found = change(planted(1, 100.0)[0], planted(2, 5.0)[0])
    assert found.ci95 is not None and found.ci95[1] < 0
    assert "MOVER" in found.method


@examples(30)
@given(st.integers(0, 10_000), st.floats(0.1, 10), st.floats(-1000, 1000))
def test_it_goes_with_the_scale_and_not_with_what_wordings_share(
    seed: int, scale: float, shift: float
) -> None:
    of, _ = planted(seed, 30.0)
    plain = spread(of)
    shared = shift * np.random.default_rng(seed).normal(size=(GROUPS, 1, of.shape[2]))
    other = spread(scale * of + shared)
    assert other.raw == pytest.approx(scale * plain.raw)
    assert other.variance == pytest.approx(scale**2 * plain.variance, abs=1e-6)
    assert plain.true.ci95 is not None and other.true.ci95 is not None
    assert other.true.ci95 == pytest.approx([scale * it for it in plain.true.ci95], abs=1e-3)


@given(st.integers(0, 10_000))
def test_the_order_of_wordings_groups_and_models_does_not_matter(seed: int) -> None:
    of, _ = planted(seed, 30.0)
    rng = np.random.default_rng(seed)
    turned = of[rng.permutation(GROUPS)][:, rng.permutation(5)][:, :, rng.permutation(4)]
    assert spread(turned).variance == pytest.approx(spread(of).variance)
    assert spread(turned).true.value == pytest.approx(spread(of).true.value)


def test_ratings_that_do_not_differ_have_no_interval_and_those_beside_them_do() -> None:
    still = np.broadcast_to(np.random.default_rng(0).normal(size=(GROUPS, 1, 4)), (GROUPS, 5, 4))
    found = spread(still)
    assert (found.raw, found.true.value, found.true.ci95) == (0.0, 0.0, None)
    assert code(found.true.method) == "no_interval.no_rating_differs"
    moved, _ = planted(1, 80.0)
    own = spread(moved).true
    assert own.ci95 is not None and own.value is not None
    eased = change(moved, still)
    assert eased.ci95 == pytest.approx((-own.ci95[1], -own.ci95[0]))
    assert change(still, still).ci95 is None


def test_groups_that_are_all_alike_have_a_spread_and_no_interval() -> None:
    alike = np.broadcast_to(np.array([[0.0], [10.0], [20.0]]), (GROUPS, 3, 1))
    found = spread(alike)
    assert found.true.value == pytest.approx(10.0)
    assert found.true.ci95 is None and code(found.true.method) == "no_interval.groups_alike"
    assert change(alike, planted(1, 10.0, wordings=3, models=2)[0][:, :, :1]).ci95 is None


def test_the_jackknife_of_a_mean_is_students_interval() -> None:
    values = np.random.default_rng(3).normal(5, 2, GROUPS)
    found = steadiness.jackknife(lambda kept: float(values[kept].mean()), GROUPS, method="mean")
    assert found.value == pytest.approx(values.mean())
    assert found.stderr == pytest.approx(values.std(ddof=1) / math.sqrt(GROUPS))
    same = steadiness.jackknife(lambda kept: 1.0, GROUPS, method="mean")
    assert same.ci95 is None and code(same.method) == "no_interval.groups_alike"
    none = steadiness.jackknife(lambda kept: math.nan, GROUPS, method="mean")
    assert none.value is None and none.method.startswith("not computed: ")
