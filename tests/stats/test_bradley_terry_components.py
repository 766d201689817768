"""Where there is no maximum: who is rated apart, who is bounded, and what a prior does."""

import math
from typing import Any

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from monte_carlo import least_share
from scipy import optimize
from scipy.special import expit
from statements import code, values

from raybench.stats import bradley_terry
from raybench.stats.bradley_terry import Game
from raybench.stats.ratings.newton import Maxima, maximise
from raybench.stats.ratings.ranking import orders, ranks
from raybench.stats.ratings.scale import SPREAD

BELOW: list[Game] = [("b", "c", 1.0), ("c", "b", 1.0), ("b", "c", 0.0), ("c", "b", 0.0)] * 10


def test_an_undefeated_model_has_a_bound_and_no_number() -> None:
    games = BELOW + [("a", "b", 1.0), ("b", "a", 0.0), ("a", "c", 1.0), ("c", "a", 0.0)] * 5
    ratings = bradley_terry.fit(games)
    assert ratings.components == (("a",), ("b", "c"))
    top = ratings.table["a"]
    assert (top.value, top.stderr, top.ci95, top.n) == (None, None, None, 20)
    assert top.method.startswith("not computed: ")
    low, high = ratings.bounds["a"].interval
    assert ratings.bounds["a"].beside == ("b", "c")
    assert f"{low:.0f}" in ratings.bounds["a"].told and ratings.bounds["a"].told in top.method
    assert high == math.inf
    (note,) = ratings.notes
    (relation,) = values(note)["relations"]
    assert values(relation)["points"] == low - 1000
    # The others are rated as if it had not been there.
    alone = bradley_terry.fit(BELOW)
    for name in "bc":
        assert ratings.table[name].value == pytest.approx(alone.table[name].value)
        assert "group 2 of 2" in ratings.table[name].method


@pytest.mark.parametrize("wins", [1, 5, 40])
def test_the_bound_is_the_profile_likelihoods(wins: int) -> None:
    # Two models: the likelihood σ(x)ⁿ is the chance to win all, and a twentieth where this holds.
    games: list[Game] = [("a", "b", 1.0), ("b", "a", 0.0)] * wins
    end = optimize.brentq(lambda x: 2 * wins * np.log(expit(x)) - np.log(0.05), -10, 10)
    ratings = bradley_terry.fit(games, bootstrap=0)
    low, most = ratings.bounds["a"].interval
    least, high = ratings.bounds["b"].interval
    assert (low, high) == pytest.approx((1000 + SPREAD * end, 1000 - SPREAD * end), abs=1e-3)
    assert (least, most) == (-math.inf, math.inf)


def false_bounds(pools: int) -> float:
    """Return the share of pools whose bound of the best model is false."""
    rng = np.random.default_rng(0)
    strengths = {"a": 1.5, "b": 0.3, "c": 0.0, "d": -0.3}
    false = 0
    for _ in range(pools):
        games = [
            (one, other, float(rng.random() < expit(strengths[one] - strengths[other])))
            for one in strengths
            for other in strengths
            if one != other
            for _ in range(2)
        ]
        bound = bradley_terry.fit(games, bootstrap=0).bounds.get("a")
        if bound is not None and math.isfinite(bound.interval[0]):
            others = np.mean([strengths[it] for it in bound.beside])
            false += int(bound.interval[0] > 1000 + SPREAD * (strengths["a"] - others))
    return false / pools


def test_bounds_are_seldom_false() -> None:
    """One in twenty of all pools at most, also where many end with a model that nobody beat."""
    assert 0 < false_bounds(pools=200) <= 1 - least_share(200)


@pytest.mark.long(
    short="tests/stats/test_bradley_terry_components.py::test_bounds_are_seldom_false"
)
def test_bounds_are_false_in_one_of_twenty_pools_at_most() -> None:
    assert 0 < false_bounds(pools=600) <= 0.055


def test_a_bound_takes_few_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are most of what rating many models takes, after few matches each."""
    fits = 0

    def counted(*given: Any, **more: Any) -> Maxima:
        nonlocal fits
        fits += 1
        return maximise(*given, **more)

    monkeypatch.setattr("raybench.stats.ratings.bounds.maximise", counted)
    games = BELOW + [("a", "b", 1.0), ("b", "a", 0.0), ("a", "c", 1.0), ("c", "a", 0.0)] * 5
    assert "a" in bradley_terry.fit(games, bootstrap=0).bounds
    assert 3 <= fits <= 9


def test_matches_that_are_one_are_bounded_as_one() -> None:
    games: list[Game] = [("a", "b", 1.0), ("b", "a", 0.0)] * 20
    apart = bradley_terry.fit(games, bootstrap=0)
    together = bradley_terry.fit(games, bootstrap=0, clusters=[it // 10 for it in range(40)])
    fewer = bradley_terry.fit(games[:4], bootstrap=0)
    assert together.bounds["a"].interval[0] < apart.bounds["a"].interval[0]
    assert together.bounds["a"].interval == pytest.approx(fewer.bounds["a"].interval)


def test_an_advantage_that_may_explain_it_all_leaves_no_bound() -> None:
    # Only ever as the first to move: whether it is strong or first, nobody can tell.
    ratings = bradley_terry.fit([*BELOW, *[("a", "b", 1.0)] * 5], bootstrap=0)
    both = bradley_terry.fit([("a", "b", 1.0)] * 5, bootstrap=0)
    assert ratings.table["a"].value is None
    assert "a" in ratings.bounds  # b and c tell what moving first is worth
    assert both.bounds == {}


def test_a_winless_model_is_bounded_from_above() -> None:
    games = BELOW + [("z", "b", 0.0), ("b", "z", 1.0)] * 4
    ratings = bradley_terry.fit(games, bootstrap=0)
    assert list(ratings.table) == ["b", "c", "z"] or list(ratings.table) == ["c", "b", "z"]
    assert ratings.table["z"].value is None
    assert ratings.bounds["z"].interval[0] == -math.inf
    assert "at most" in ratings.table["z"].method


def test_groups_that_never_met_are_rated_apart() -> None:
    other = [(a.upper(), b.upper(), 1 - score) for a, b, score in BELOW]
    ratings = bradley_terry.fit(BELOW + other, bootstrap=200)
    assert sorted(ratings.components) == [("B", "C"), ("b", "c")]
    for names in ("bc", "BC"):
        values = [ratings.table[name].value for name in names]
        assert np.mean([value for value in values if value is not None]) == pytest.approx(1000)
    assert ratings.chance("b", "B").value is None
    assert "not computed" in ratings.chance("b", "B").method
    assert ratings.difference("b", "B").value is None
    assert {(it.better.islower(), it.worse.islower()) for it in orders(ratings)} == {
        (True, True),
        (False, False),
    }
    assert {it.simultaneous[1] for it in ranks(ratings).values()} == {4}


def test_a_group_above_another_is_listed_first() -> None:
    above: list[Game] = [("x", "y", 1.0), ("y", "x", 1.0)] * 3
    ratings = bradley_terry.fit([*BELOW, *above, ("x", "b", 1.0), ("c", "y", 0.0)], bootstrap=0)
    assert ratings.components == (("x", "y"), ("b", "c"))
    # One upset joins them.
    joined = bradley_terry.fit(
        [*BELOW, *above, ("x", "b", 1.0), ("c", "y", 0.0), ("b", "y", 0.5)], bootstrap=0
    )
    assert joined.components == (("b", "c", "x", "y"),)
    assert joined.notes == ()


def test_a_circle_of_wins_is_one_component() -> None:
    games: list[Game] = [("a", "b", 1.0), ("b", "c", 1.0), ("c", "a", 1.0)]
    ratings = bradley_terry.fit(games, bootstrap=0, first_mover=False)
    assert ratings.components == (("a", "b", "c"),)
    assert [it.value for it in ratings.table.values()] == pytest.approx([1000] * 3)


@pytest.mark.parametrize(
    "games",
    [
        [("a", "b", 1.0)] * 5 + [("b", "a", 1.0)] * 5,  # Whoever moves first wins.
        [("a", "b", 0.0)] * 5 + [("b", "a", 0.0)] * 5,
        [("a", "b", 1.0)] * 5 + [("a", "b", 0.0)] * 4,  # One always moves first.
        [("a", "b", 1.0), ("b", "c", 1.0), ("c", "a", 1.0)] * 3,
    ],
)
def test_a_first_mover_term_that_is_not_told_is_left_out_and_said(games: list[Game]) -> None:
    ratings = bradley_terry.fit(games, bootstrap=0)
    plain = bradley_terry.fit(games, bootstrap=0, first_mover=False)
    assert ratings.first_mover == {}
    assert ratings.advantage("first", "second").value is None
    chance = ratings.chance("a", "b", role="first", against="second")
    assert chance.value is None
    assert code(chance.method) == "refused.role_untold"
    assert code(ratings.notes[0]) == "ratings.roles_left_out"
    for name, estimate in ratings.table.items():
        assert estimate.value == pytest.approx(plain.table[name].value)


def test_a_prior_is_so_many_matches_against_a_mean_opponent() -> None:
    games: list[Game] = [("a", "b", 1.0), ("b", "a", 0.0)] * 5
    ratings = bradley_terry.fit(games, prior=2.0)
    # By symmetry ±x: ten wins, and a win and a loss each against 0.
    end = optimize.brentq(lambda x: 10 * expit(-2 * x) + 1 - 2 * expit(x), 0, 10)
    assert ratings.table["a"].value == pytest.approx(1000 + SPREAD * end, abs=1e-6)
    assert "prior of 2 " in ratings.table["a"].method
    assert code(ratings.notes[0]) == "ratings.prior_alone"
    assert ratings.bounds == {}
    assert ratings.components == (("a", "b"),)


@examples(30)
@given(
    st.lists(
        st.tuples(st.sampled_from("abcde"), st.sampled_from("abcde"), st.sampled_from([0.0, 1.0])),
        min_size=1,
        max_size=15,
    )
)
def test_every_pool_has_an_answer(games: list[Game]) -> None:
    ratings = bradley_terry.fit(games, bootstrap=100)
    assert set(ratings.table) == {name for game in games for name in game[:2]}
    assert sorted(name for part in ratings.components for name in part) == sorted(ratings.table)
    for part in ratings.components:
        for name in part:
            estimate = ratings.table[name]
            if len(part) == 1:
                assert estimate.value is None
                continue
            assert estimate.value is not None
            assert abs(estimate.value) < 20_000
            if estimate.ci95 is not None:
                assert estimate.ci95[0] <= estimate.value <= estimate.ci95[1]
    for bound in ratings.bounds.values():
        assert math.isinf(bound.interval[0]) != math.isinf(bound.interval[1])
    stated = bradley_terry.fit(games, prior=1).table
    assert len(stated) == 1 or all(it.value is not None for it in stated.values())
