"""The pairs whose results narrow the ratings most."""

from itertools import combinations
from random import Random
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tournament.playing import models, play

from raybench.tournament.fixtures import Fixture, Result
from raybench.tournament.pairing import matchmaking
from raybench.tournament.pairing.contract import Seated, Table
from raybench.tournament.pairing.information import InformationGain
from raybench.tournament.pairing.seats import met, seatings
from raybench.tournament.pairing.strengths import (
    Numbers,
    chances,
    covariance,
    expected,
    likeliest,
    spreads,
)
from raybench.tournament.ratings import rate
from raybench.tournament.schedule import Schedule
from raybench.tournament.stopping import Narrow, Stop

WIN, LOSS = (1.0, -1.0), (-1.0, 1.0)


def many(pairs: dict[tuple[int, int], tuple[int, int]]) -> list[Seated]:
    """Return matches by pair: so many were won by the first, so many by the second."""
    return [
        (pair, scores)
        for pair, (won, lost) in pairs.items()
        for scores in [WIN] * won + [LOSS] * lost
    ]


def test_without_results_everybody_is_drawn_and_no_pair_twice() -> None:
    chooser = InformationGain(8, 2, Random(1))
    chooser.learn([], [])
    tables = [chooser.draw() for _ in range(12)]
    assert sorted(member for table in tables[:4] for member in table) == [*range(8)]
    assert len({frozenset(table) for table in tables}) == 12


def test_those_who_are_near_meet_more_than_those_far_apart() -> None:
    """Each wins 15 of 20 against the next, all against the others: those tell nothing new."""
    results = many({(a, b): (20, 0) if b - a > 1 else (15, 5) for a, b in met(tuple(range(8)))})
    chooser = InformationGain(8, 2, Random(1))
    chooser.learn(results, [])
    apart = [abs(a - b) for a, b in (chooser.draw() for _ in range(50))]
    assert fmean(apart) < 1.6  # 3 at random
    assert max(apart) <= 3


def test_whoever_is_little_known_plays_first() -> None:
    chooser = InformationGain(4, 2, Random(1))
    chooser.learn(many({(0, 1): (25, 25), (0, 2): (25, 25), (1, 2): (25, 25), (0, 3): (1, 1)}), [])
    assert all(3 in chooser.draw() for _ in range(3))


def test_who_has_won_everything_is_met_still() -> None:
    chooser = InformationGain(5, 2, Random(1))
    chooser.learn(many({(a, b): (9, 9) if a else (4, 0) for a, b in met(tuple(range(5)))}), [])
    assert any(0 in chooser.draw() for _ in range(6))
    # Of 200 wins a single estimate says that there is nothing left to learn.
    chooser = InformationGain(5, 2, Random(1))
    chooser.learn(many({(a, b): (3, 3) if a else (50, 0) for a, b in met(tuple(range(5)))}), [])
    assert any(0 in chooser.draw() for _ in range(20))


def test_a_tables_worth_is_the_mean_over_all_that_the_strengths_may_be() -> None:
    """Nearly: against adding p (1 - p) up over a normal difference. Two seatings each."""
    chooser = InformationGain(5, 2, Random(1))
    chooser.learn(many({(0, 1): (9, 0), (1, 2): (4, 1), (2, 3): (1, 1)}), [])
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    around = np.sqrt(spreads(chooser._together))
    for a, b in met(tuple(range(5))):
        wins = chances(chooser._strengths[a] - chooser._strengths[b] + around[a, b] * nodes)
        mean = float((weights * wins * (1 - wins)).sum() / weights.sum())
        assert chooser._weight[a, b] == pytest.approx(2 * mean, rel=0.12)


def test_tables_under_way_count_as_played() -> None:
    """Else the next round, drawn before their results are here, would draw them once more."""
    chooser = InformationGain(6, 2, Random(1))
    chooser.learn(many(dict.fromkeys(met(tuple(range(5))), (5, 5))), [])
    first = [chooser.draw() for _ in range(30)]
    chooser.learn([], [seated for table in first for seated in seatings(table)])
    second = [chooser.draw() for _ in range(30)]
    assert sum(5 in table for table in first) >= 25  # nothing is known of it
    assert sum(5 in table for table in second) <= 15


@pytest.mark.parametrize("seats", [2, 3])
def test_a_seating_that_is_to_come_is_its_part_of_a_table(seats: int) -> None:
    """A round that is played in parts: some results of a table may come before the others."""
    rng = Random(5)
    chooser, fresh = (InformationGain(6, seats, Random(1)) for _ in range(2))
    whole, begun = (tuple(rng.sample(range(6), seats)) for _ in range(2))
    results = dice(rng, 6, seats)
    chooser.learn(results, [*seatings(begun)[1:], *seatings(whole)])
    fresh.learn(results, [])
    fresh._expect(whole)
    fresh._expect(begun, (seats - 1) / seats)
    np.testing.assert_allclose(fresh._together, chooser._together, rtol=1e-9)


def test_results_count_once_though_the_same_table_came_to_nothing_the_round_before() -> None:
    """Of two models with prior 1 / 4, each with one win of two: 2 + 1 / 2 / (1 / 4 + 4 / 4)."""
    chooser = InformationGain(3, 2, Random(1))
    chooser.learn([], [])
    chooser.learn([], [(0, 1), (1, 0)])  # which both end without a result
    chooser.learn(many({(0, 1): (1, 1)}), [])
    assert chooser._together[0, 0] == pytest.approx(2.4)


@given(count=st.integers(2, 6), seats=st.integers(2, 4), seed=st.integers(0, 9999))
def test_what_is_to_come_counts_as_expected(count: int, seats: int, seed: int) -> None:
    """Any seatings, by an inverse; and it is forgotten: the next round has it told anew."""
    rng, seats = Random(seed), min(count, seats)
    chooser = InformationGain(count, seats, rng)
    for _ in range(3):
        to_come = [tuple(rng.sample(range(count), seats)) for _ in range(rng.randrange(9))]
        chooser.learn(dice(rng, count, seats), to_come)
        known = told(chooser)
        for table in to_come:
            known = after(chooser, known, table, 1 / seats)
        together = np.linalg.inv(np.diag(known.sum(1) + 1 / 4) - known)
        np.testing.assert_allclose(chooser._together, together, rtol=1e-4, atol=1e-6)
        chooser.draw()


def test_matches_played_in_parts_count_once_whatever_came_to_nothing_before() -> None:
    """All of the first round did; of the second, four matches count and two are to come."""
    stop = Stop(matches=100, narrow=Narrow(1, lambda results: None, least=2))
    drawing = matchmaking("information", "abc", {"game": 2}, seed=1, size=6)
    schedule = Schedule(drawing, stop)
    chooser = drawing._choosers["game"]  # type: ignore[attr-defined]
    found: list[Numbers] = []
    learn = chooser.learn

    def learns(*args: Any) -> None:
        learn(*args)
        found.append(chooser._together.copy())

    fixtures: dict[int, Fixture] = {}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(chooser, "learn", learns)
        while len(found) < 3:
            for number, fixture in schedule.take(100):
                fixtures[number] = fixture
                result = None if number <= 6 else Result(fixture, WIN)
                schedule.done(number, result)
    fresh = InformationGain(3, 2, Random(1))
    second = [tuple("abc".index(name) for name in fixtures[it].seats) for it in range(7, 13)]
    fresh.learn([(table, WIN) for table in second[:4]], second[4:])
    np.testing.assert_allclose(found[2], fresh._together)


def dice(rng: Random, count: int, seats: int) -> list[Seated]:
    """Return few results or many, of models that are alike or far apart."""
    apart = rng.choice((0.0, 1.0, 3.0))
    strengths = [rng.gauss(0, apart) for _ in range(count)]
    tables = [rng.sample(range(count), seats) for _ in range(rng.choice((0, 3, 30, 150)))]
    return [
        (tuple(table), tuple(strengths[it] + rng.gauss(0, 1.5) for it in table)) for table in tables
    ]


def told(chooser: InformationGain) -> Numbers:
    """Return the information on each pair that results have given."""
    wins = 1 / (1 + np.exp(chooser._strengths[None, :] - chooser._strengths[:, None]))
    return (chooser._won + chooser._won.T) * wins * (1 - wins)


def after(chooser: InformationGain, known: Numbers, table: Table, times: float = 1.0) -> Numbers:
    """Return the information with what a table is expected to give."""
    more = known.copy()
    for a, b in combinations(table, 2):
        more[a, b] += times * chooser._weight[a, b]
        more[b, a] += times * chooser._weight[a, b]
    return more


def variances(known: Numbers) -> float:
    """Return the sum of the variances of all differences, by an inverse and nothing else."""
    together = np.linalg.inv(np.diag(known.sum(1) + 1 / 4) - known)
    own = np.diag(together)
    return float((own[:, None] + own[None, :] - 2 * together).sum() / 2)


def gained(chooser: InformationGain, known: Numbers, table: Table) -> float:
    return variances(known) - variances(after(chooser, known, table))


@pytest.mark.parametrize("seats", [2, 3])
def test_the_gain_is_what_the_differences_variances_lose(seats: int) -> None:
    """The formula against working the covariance out anew for every pair, after every draw."""
    chooser = InformationGain(6, seats, Random(1))
    chooser.learn(dice(Random(4), 6, seats), [])
    known = told(chooser)
    for _ in range(20):
        gains = chooser._gains()
        for pair in met(tuple(range(6))):
            assert gains[pair] == pytest.approx(gained(chooser, known, pair))
        known = after(chooser, known, chooser.draw())


@given(count=st.integers(2, 8), seed=st.integers(0, 9999))
def test_every_pair_drawn_is_the_one_that_gains_most(count: int, seed: int) -> None:
    """Of all pairs, tried one by one: beside those drawn before it, also in the last round."""
    rng = Random(seed)
    chooser = InformationGain(count, 2, rng)
    drawn: list[Table] = []
    for results, tables in ((dice(rng, count, 2), 9), (dice(rng, count, 2), 4)):
        chooser.learn(results, [seated for table in drawn for seated in seatings(table)])
        known = told(chooser)
        for table in drawn:
            known = after(chooser, known, table)
        drawn = []
        for _ in range(tables):
            most = max(gained(chooser, known, pair) for pair in met(tuple(range(count))))
            drawn.append(chooser.draw())
            assert gained(chooser, known, drawn[-1]) == pytest.approx(most, rel=2e-9)
            known = after(chooser, known, drawn[-1])


def test_the_best_pair_is_drawn_again_until_another_one_gains_more() -> None:
    """Of three, two have met often: the third one plays all it can, and both of them in turn."""
    chooser = InformationGain(3, 2, Random(1))
    chooser.learn(many({(0, 1): (300, 300)}), [])
    tables = [frozenset(chooser.draw()) for _ in range(40)]
    assert all(2 in table for table in tables)
    assert abs(sum(0 in table for table in tables) - 20) <= 1


def test_equal_gains_are_drawn_by_lot() -> None:
    """Once two of six have been drawn, pairs of the other four gain the same, but for rounding."""
    found = set()
    for seed in range(80):
        chooser = InformationGain(6, 2, Random(seed))
        chooser.learn([], [])
        first = {*chooser.draw()}
        second = frozenset(chooser.draw())
        assert not first & second
        found.add(second)
    assert len(found) == 15


@pytest.mark.parametrize("seats", [2, 3])
def test_what_another_machine_rounds_in_another_way_changes_no_draw(seats: int) -> None:
    noise = np.random.default_rng(1)

    class Elsewhere(InformationGain):
        def _gains(self) -> Numbers:
            gains = super()._gains()
            return np.asarray(gains * (1 + 1e-13 * noise.standard_normal(gains.shape)))

    drawn = []
    for way in (InformationGain, Elsewhere):
        chooser = way(8, seats, Random(1))
        chooser.learn([], [])
        drawn.append([chooser.draw() for _ in range(20)])
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("seats", [3, 4, 6])
def test_larger_tables_gain_nearly_what_the_best_ones_would(seats: int) -> None:
    """All tables there are, tried one by one. In a thousand such rounds the least was 0.75."""
    parts = []
    for seed in range(30):
        rng = Random(seed)
        count = rng.randint(seats + 1, 9)
        chooser = InformationGain(count, seats, rng)
        chooser.learn(dice(rng, count, seats), [])
        known = told(chooser)
        for _ in range(3):
            most = max(gained(chooser, known, it) for it in combinations(range(count), seats))
            table = chooser.draw()
            assert len({*table}) == seats
            parts.append(gained(chooser, known, table) / most)
            known = after(chooser, known, table)
    assert min(parts) > 0.7
    assert fmean(parts) > 0.98


def test_strengths_are_the_likeliest() -> None:
    """At the maximum the slope is 0; and two models have the odds of their points."""
    rng = np.random.default_rng(3)
    won = rng.integers(0, 9, (7, 7)).astype(float)
    np.fill_diagonal(won, 0)
    found = likeliest(won, np.zeros(7))
    slope = won.sum(1) - ((won + won.T) * expected(found)).sum(1) - found / 4
    np.testing.assert_allclose(slope, 0, atol=1e-6)
    assert abs(found.sum()) < 1e-6
    two = likeliest(np.array([[0.0, 3000], [1000, 0]]), np.zeros(2), prior=1e3)
    assert two[0] - two[1] == pytest.approx(np.log(3), abs=1e-4)


def test_strengths_are_found_where_somebody_won_everything() -> None:
    won = np.zeros((3, 3))
    won[0, 1] = won[1, 2] = 100_000.0
    found = likeliest(won, np.zeros(3))
    assert found[0] > found[1] > found[2]


def matches_until(way: str, seats: int, seed: int, *, width: float = 0.35) -> int:
    """Return how many matches it takes until the mean interval has this half-width."""
    names, rng = models(12), Random(seed)
    strengths = {name: rng.gauss(0, 1.5) for name in names}
    pairing = matchmaking(way, names, {"game": seats}, seed=seed, size=24)
    results: list[Result] = []
    last: list[Result] = []
    for number in range(1, 500):
        drawn = pairing.round(number, results, [it.fixture for it in last])
        results += last
        last = [play(fixture, strengths, seed) for fixture in drawn]
        if _mean_width(results + last, names) <= width:
            return len(results + last)
    raise AssertionError("never")


def _mean_width(results: list[Result], names: list[str]) -> float:
    place = {name: i for i, name in enumerate(names)}
    won = np.zeros((len(names), len(names)))
    for result in results:
        seats = [place[name] for name in result.fixture.seats]
        for a, mine in zip(seats, result.scores, strict=True):
            for b, other in zip(seats, result.scores, strict=True):
                won[a, b] += (mine > other) * 2 / len(seats)
    wins = expected(likeliest(won, np.zeros(len(names))))
    centred = np.eye(len(names)) - 1 / len(names)
    around = centred @ covariance((won + won.T) * wins * (1 - wins)) @ centred
    return float(1.96 * np.sqrt(np.diag(around)).mean())


@pytest.mark.parametrize(("seats", "saved"), [(2, 0.12), (4, 0.1)])
def test_it_takes_fewer_matches_than_random_tables(seats: int, saved: float) -> None:
    taken = {
        way: fmean(matches_until(way, seats, seed) for seed in range(4))
        for way in ("random", "information")
    }
    assert taken["information"] < taken["random"] * (1 - saved)


def test_tables_chosen_for_each_game_narrow_the_overall_rating_too() -> None:
    """Which is no mean of the games' ratings: three games, alike but not the same."""
    found = {
        way: fmean(overall_variance(way, seed) for seed in range(3))
        for way in ("random", "information")
    }
    assert found["information"] < found["random"] * 0.95


def overall_variance(way: str, seed: int) -> float:
    """Return the variance of differences in the overall rating as published: 1200 matches."""
    names, rng = models(12), Random(seed)
    games = ["a", "b", "c"]
    shared = {name: rng.gauss(0, 1.2) for name in names}
    strengths = {game: {name: shared[name] + rng.gauss(0, 0.4) for name in names} for game in games}
    pairing = matchmaking(way, names, dict.fromkeys(games, 2), seed=seed, size=20)
    results: list[Result] = []
    last: list[Result] = []
    for number in range(1, 21):
        drawn = pairing.round(number, results, [it.fixture for it in last])
        results += last
        last = [play(fixture, strengths[fixture.game], seed) for fixture in drawn]
    roles = dict.fromkeys(games, ("first", "second"))
    found = rate(results + last, games, roles, bootstrap=0).overall
    assert found is not None
    assert len(found.components) == 1
    return float(spreads(found.covariance[: len(names), : len(names)]).sum())
