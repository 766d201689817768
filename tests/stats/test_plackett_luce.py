"""Rankings, ties and teams: against sums over orders, by what has to hold, and by simulation."""

import math
from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from monte_carlo import least_share
from numpy.typing import NDArray
from pools import Result, hidden_roles, names, tables
from refusals import refused
from scipy import optimize

from raybench.stats import bradley_terry, plackett_luce
from raybench.stats.bradley_terry import Game
from raybench.stats.plackett_luce import Seat
from raybench.stats.ratings.outcome import Ratings
from raybench.stats.ratings.scale import SPREAD

TRUE = (1.0, 0.5, 0.0, -0.4, -1.1)
Height = Callable[[NDArray[np.float64]], float]


def climbed(height: Height, size: int, *, models: int) -> NDArray[np.float64]:
    """Climb a log-likelihood of which nothing is known but its height."""
    found = optimize.minimize(
        lambda at: -height(at), np.zeros(size), method="BFGS", options={"gtol": 1e-7}
    ).x
    found[:models] -= found[:models].mean()
    return np.asarray(found)


def strengths(ratings: Ratings) -> list[float]:
    return [float(it) for it in ratings.strengths[: len(ratings.models)]]


def by_orders(results: Sequence[Result], called: Sequence[str]) -> Height:
    """Return the log-likelihood as a mean over every order of those that tie."""
    matches = []
    for result in results:
        places = sorted({seat.place for seat in result})
        groups = [[called.index(it.model) for it in result if it.place == at] for at in places]
        orders: list[list[int]] = [[]]
        for group in groups:
            orders = [[*done, *them] for done in orders for them in permutations(group)]
        matches.append(orders)

    def height(at: NDArray[np.float64]) -> float:
        return math.fsum(
            sum(at[order[n]] - np.log(np.exp(at[order[n:]]).sum()) for n in range(len(order)))
            / len(orders)
            for orders in matches
            for order in orders
        )

    return height


@examples(25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.floats(0, 1))
def test_two_at_a_table_are_bradley_and_terrys(seed: int, matches: int, ties: float) -> None:
    rng = np.random.default_rng(seed)
    games: list[Game] = []
    results: list[Result] = []
    for one, other in tables(TRUE, 2, matches, rng):
        tied = rng.random() < ties
        games.append((one.model, other.model, 0.5 if tied else 1.0))
        results.append((one, other._replace(place=1) if tied else other))
        if rng.random() < 0.5:  # Who sits where is no matter.
            results[-1] = results[-1][::-1]
    pairs = bradley_terry.fit(games, bootstrap=0, first_mover=False)
    ranked = plackett_luce.fit(results, bootstrap=0)
    assert pairs.components == ranked.components
    assert strengths(pairs) == pytest.approx(strengths(ranked), abs=1e-8)
    assert pairs.covariance == pytest.approx(ranked.covariance, abs=1e-8)
    assert {name: it.interval for name, it in pairs.bounds.items()} == {
        name: pytest.approx(it.interval, abs=1e-3) for name, it in ranked.bounds.items()
    }


def test_moving_first_is_a_role() -> None:
    rng = np.random.default_rng(4)
    games: list[Game] = [
        (one.model, other.model, float(rng.choice([0, 0.5, 1])))
        for one, other in tables(TRUE, 2, 100, rng)
    ]
    results = [
        (Seat(one, 1 + (score < 0.5), "first"), Seat(other, 1 + (score > 0.5), "second"))
        for one, other, score in games
    ]
    pairs = bradley_terry.fit(games, bootstrap=100)
    ranked = plackett_luce.fit(results, bootstrap=100)
    assert pairs.strengths == pytest.approx(ranked.strengths, abs=1e-9)
    assert pairs.first_mover[""].value == pytest.approx(ranked.advantage("first", "second").value)


@examples(6)
@given(st.integers(0, 2**32 - 1), st.integers(3, 4), st.booleans())
def test_an_independent_solver_agrees(seed: int, seats: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    results = tables(TRUE, seats, 25, rng)
    if ties:
        # Rounded up: first and second tie, third and fourth.
        results = [tuple(it._replace(place=(it.place + 1) // 2) for it in one) for one in results]
    # Neighbours have been above and below each other: there is one maximum.
    for start in range(len(TRUE) - seats + 1):
        window = names(TRUE)[start : start + seats]
        results += [tuple(map(Seat, it, range(seats))) for it in (window, window[::-1])]
    ratings = plackett_luce.fit(results, bootstrap=0)
    assert len(ratings.components) == 1
    called = list(ratings.models)
    expected = climbed(by_orders(results, called), len(called), models=len(called))
    # The solver knows heights alone; what both reach is the same to rounding.
    height = by_orders(results, called)
    assert height(np.array(strengths(ratings))) >= height(expected) - 1e-9
    assert strengths(ratings) == pytest.approx(expected, abs=1e-5)


def test_a_ranking_of_three_has_the_odds_that_its_rule_says() -> None:
    # Every order of three as often as worths of 4, 2 and 1 have it: 8/21, 4/21, 10/35 …
    worth = {"a": 4, "b": 2, "c": 1}
    results: list[Result] = []
    for one, other, last in permutations("abc"):
        share = worth[one] / 7 * worth[other] / (worth[other] + worth[last])
        result = tuple(Seat(name, place) for place, name in enumerate((one, other, last), 1))
        results += [result] * round(share * 105)
    found = dict(zip("abc", strengths(plackett_luce.fit(results, bootstrap=0)), strict=True))
    assert found["a"] - found["b"] == pytest.approx(math.log(2), abs=1e-9)
    assert found["b"] - found["c"] == pytest.approx(math.log(2), abs=1e-9)


def test_teams_are_sides_of_mean_strength() -> None:
    rng = np.random.default_rng(2)
    results = hidden_roles(TRUE, 60, rng, wolves=0.4)
    ratings = plackett_luce.fit(results, bootstrap=0)
    called = list(ratings.models)
    rows, won = [], []
    for result in results:
        row = np.zeros(6)
        for seat in result:
            row[called.index(seat.model)] += 1 / 2 if seat.role == "wolf" else -1 / 3
        row[5] = 1
        rows.append(row)
        won.append(1 if result[0].place == 1 else -1)
    table = np.array(rows) * np.array(won)[:, None]
    expected = climbed(lambda at: -float(np.logaddexp(0, -table @ at).sum()), 6, models=5)
    assert strengths(ratings) == pytest.approx(expected[:5], abs=1e-5)
    advantage = ratings.advantage("wolf", "villager")
    assert advantage.value == pytest.approx(SPREAD * expected[5], abs=1e-2)
    back = ratings.advantage("villager", "wolf")
    assert (back.value or 0) == pytest.approx(-(advantage.value or 0))


def test_strengths_and_roles_are_found_again() -> None:
    ratings = plackett_luce.fit(
        hidden_roles(TRUE, 4000, np.random.default_rng(6), wolves=0.4), bootstrap=100
    )
    for estimate, true in zip(strengths(ratings), TRUE, strict=True):
        assert estimate == pytest.approx(true, abs=0.35)
    low, high = ratings.advantage("wolf", "villager").ci95 or (0, 0)
    assert low < SPREAD * 0.4 < high


def test_who_won_all_at_larger_tables_has_a_bound() -> None:
    rng = np.random.default_rng(1)
    below = tables(TRUE, 3, 60, rng)
    above = [(Seat("top", 0), *result) for result in below[:20]]
    ratings = plackett_luce.fit(below + above, bootstrap=100)
    assert ratings.components[0] == ("top",)
    assert ratings.table["top"].value is None
    assert ratings.bounds["top"].interval[0] > 1000
    alone = plackett_luce.fit(below + [result for _, *result in above], bootstrap=0)
    for name in names(TRUE):
        assert ratings.table[name].value == pytest.approx(alone.table[name].value)


def test_a_team_that_only_one_model_lifts() -> None:
    # Whoever has the first in its team wins: nothing is told of the others.
    called = names(TRUE)
    rng = np.random.default_rng(3)
    results = []
    for _ in range(60):
        seated = rng.permutation(called)
        teams = {"one": seated[:2], "two": seated[2:]}
        results.append(
            [
                Seat(str(it), 1 if called[0] in them else 2, team=team)
                for team, them in teams.items()
                for it in them
            ]
        )
    ratings = plackett_luce.fit(results, bootstrap=100)
    assert all(len(part) == 1 for part in ratings.components)
    assert all(estimate.value is None for estimate in ratings.table.values())
    assert all(it.value is not None for it in plackett_luce.fit(results, prior=1).table.values())


def test_models_that_are_always_on_one_side_are_not_told_apart() -> None:
    rng = np.random.default_rng(7)
    results = []
    for _ in range(80):
        won = int(rng.random() < 0.6)
        third = str(rng.choice(["c", "e"]))
        results.append(
            [Seat(it, 2 - won, team="one") for it in "ab"]
            + [Seat(it, 1 + won, team="two") for it in (third, "d")]
        )
    ratings = plackett_luce.fit(results, bootstrap=200)
    assert ("c", "e") in ratings.components
    assert {name for name, it in ratings.table.items() if it.value is None} == {"a", "b", "d"}
    # What is told of the two: how much better a side with the one fares than with the other.
    logits = {}
    for name in "ce":
        scores = [result[2].place == 1 for result in results if result[2].model == name]
        logits[name] = math.log(sum(scores) / (len(scores) - sum(scores)))
    found = ratings.difference("c", "e").value
    assert found is not None
    assert found / SPREAD == pytest.approx(2 * (logits["c"] - logits["e"]), abs=1e-6)


@st.composite
def team_results(draw: st.DrawFn) -> Result:
    seated = draw(st.permutations("abcdef"))[: draw(st.integers(2, 6))]
    teams = draw(st.lists(st.sampled_from(["", "x", "y"]), min_size=6, max_size=6))
    sides = len({team or name for name, team in zip(seated, teams, strict=False)})
    if sides == 1:
        teams = [""] * 6
    places = {"x": draw(st.integers(1, 3)), "y": draw(st.integers(1, 3))}
    roles = draw(st.sampled_from([("", ""), ("wolf", "villager")]))
    return tuple(
        Seat(name, places[team] if team else draw(st.integers(1, 4)), roles[team == "y"], team)
        for name, team in zip(seated, teams, strict=False)
    )


@examples(25)
@given(st.lists(team_results(), min_size=1, max_size=25))
def test_every_pool_of_teams_has_an_answer(results: list[Result]) -> None:
    ratings = plackett_luce.fit(results, bootstrap=100)
    played = {seat.model for result in results for seat in result}
    assert set(ratings.table) == played
    assert sorted(name for part in ratings.components for name in part) == sorted(played)
    assert np.isfinite(ratings.draws).all()
    for part in ratings.components:
        values = [ratings.table[name].value for name in part]
        if len(part) > 1:
            assert np.mean([value for value in values if value is not None]) == pytest.approx(1000)
            assert all(value is not None and abs(value) < 20_000 for value in values)
        else:
            assert values == [None]


@examples(15)
@given(st.integers(0, 2**32 - 1), st.integers(2, 12))
def test_teams_of_one_are_parted_as_single_players_are(seed: int, matches: int) -> None:
    # Beside a pair of twins that never play but as one, and so change nothing.
    results = tables(TRUE, 3, matches, np.random.default_rng(seed))
    twins = [(Seat("t", 1, team="x"), Seat("u", 1, team="x"), Seat("v", 2))]
    alone, beside = (plackett_luce.fit(it, bootstrap=0) for it in (results, results + twins))
    assert {part for part in beside.components if part[0][0] == "m"} == set(alone.components)
    for name in alone.table:
        value = alone.table[name].value
        assert beside.table[name].value == (None if value is None else pytest.approx(value))


def test_a_table_that_all_share_says_that_they_are_equal() -> None:
    results = [[Seat(name, 1) for name in "abcdefgh"]]
    ratings = plackett_luce.fit(results, bootstrap=0)
    assert [it.value for it in ratings.table.values()] == pytest.approx([1000] * 8)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ([("a", 1)], "one side"),
        ([], "one side"),
        ([Seat("a", 1, team="x"), Seat("b", 2, team="x"), Seat("c", 3)], "places 1, 2"),
        ([("a", 1), ("b", math.nan)], "no place"),
        ([(f"m{it}", 1) for it in range(13)], "13 sides share a place"),
    ],
)
def test_what_is_no_result_is_said(result: list[Seat], said: str) -> None:
    with refused("ratings.invalid"):
        plackett_luce.fit([result])


def coverage(pools: int) -> tuple[float, float]:
    """Return how often intervals hold a model's strength, and what a role is worth."""
    rng = np.random.default_rng(8)
    held, advantage = [], []
    for seed in range(pools):
        true = rng.normal(scale=0.8, size=5)
        ratings = plackett_luce.fit(tables(true.tolist(), 4, 40, rng), bootstrap=300, seed=seed)
        if len(ratings.components) == 1:
            for place, name in enumerate(ratings.models):
                low, high = ratings.table[name].ci95 or (math.nan, math.nan)
                held.append(low <= 1000 + SPREAD * (true[place] - true.mean()) <= high)
        roles = plackett_luce.fit(
            hidden_roles(true.tolist(), 150, rng, wolves=0.4), bootstrap=300, seed=seed
        )
        low, high = roles.advantage("wolf", "villager").ci95 or (math.nan, math.nan)
        advantage.append(low <= SPREAD * 0.4 <= high)
    return float(np.mean(held)), float(np.mean(advantage))


def test_intervals_cover() -> None:
    held, advantage = coverage(pools=30)
    assert least_share(30 * 5) <= held < 1
    assert advantage >= least_share(30)


@pytest.mark.long(short="tests/stats/test_plackett_luce.py::test_intervals_cover")
def test_intervals_cover_as_often_as_they_say() -> None:
    held, advantage = coverage(pools=200)
    assert 0.925 <= held <= 0.99
    assert advantage >= 0.915
