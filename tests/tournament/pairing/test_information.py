"""The pairs whose results narrow the ratings most."""

from random import Random
from statistics import fmean

import numpy as np
import pytest
from tournament.playing import models, play

from raybench.tournament.fixtures import Result
from raybench.tournament.pairing import matchmaking
from raybench.tournament.pairing.contract import Seated
from raybench.tournament.pairing.information import InformationGain
from raybench.tournament.pairing.seats import met
from raybench.tournament.pairing.strengths import (
    chances,
    covariance,
    expected,
    likeliest,
    spreads,
)

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
    chooser.learn([])
    tables = [chooser.draw() for _ in range(12)]
    assert sorted(member for table in tables[:4] for member in table) == [*range(8)]
    assert len({frozenset(table) for table in tables}) == 12


def test_those_who_are_near_meet_more_than_those_far_apart() -> None:
    """Each wins 15 of 20 against the next, all against the others: those tell nothing new."""
    results = many({(a, b): (20, 0) if b - a > 1 else (15, 5) for a, b in met(tuple(range(8)))})
    chooser = InformationGain(8, 2, Random(1))
    chooser.learn(results)
    apart = [abs(a - b) for a, b in (chooser.draw() for _ in range(50))]
    assert fmean(apart) < 1.6  # 3 at random
    assert max(apart) <= 3


def test_whoever_is_little_known_plays_first() -> None:
    chooser = InformationGain(4, 2, Random(1))
    chooser.learn(many({(0, 1): (25, 25), (0, 2): (25, 25), (1, 2): (25, 25), (0, 3): (1, 1)}))
    assert all(3 in chooser.draw() for _ in range(3))


def test_who_has_won_everything_is_met_still() -> None:
    chooser = InformationGain(5, 2, Random(1))
    chooser.learn(many({(a, b): (9, 9) if a else (4, 0) for a, b in met(tuple(range(5)))}))
    assert any(0 in chooser.draw() for _ in range(6))
    # Of 200 wins a single estimate says that there is nothing left to learn.
    chooser = InformationGain(5, 2, Random(1))
    chooser.learn(many({(a, b): (3, 3) if a else (50, 0) for a, b in met(tuple(range(5)))}))
    assert any(0 in chooser.draw() for _ in range(20))


def test_a_tables_worth_is_the_mean_over_all_that_the_strengths_may_be() -> None:
    """Nearly: against adding p (1 - p) up over a normal difference. Two seatings each."""
    chooser = InformationGain(5, 2, Random(1))
    chooser.learn(many({(0, 1): (9, 0), (1, 2): (4, 1), (2, 3): (1, 1)}))
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    around = np.sqrt(spreads(covariance(chooser._known)))
    for a, b in met(tuple(range(5))):
        wins = chances(chooser._strengths[a] - chooser._strengths[b] + around[a, b] * nodes)
        mean = float((weights * wins * (1 - wins)).sum() / weights.sum())
        assert chooser._weight[a, b] == pytest.approx(2 * mean, rel=0.12)


def test_tables_under_way_count_as_played() -> None:
    """Else the next round, drawn before their results are here, would draw them once more."""
    chooser = InformationGain(6, 2, Random(1))
    chooser.learn(many(dict.fromkeys(met(tuple(range(5))), (5, 5))))
    first = [5 in chooser.draw() for _ in range(30)]
    chooser.learn([])
    second = [5 in chooser.draw() for _ in range(30)]
    assert sum(first) >= 25  # nothing is known of it
    assert sum(second) <= 15


@pytest.mark.parametrize("seats", [2, 3])
def test_the_gain_is_what_the_differences_variances_lose(seats: int) -> None:
    """The formula against working the covariance out anew for every pair."""
    rng = Random(4)
    results: list[Seated] = [
        (tuple(rng.sample(range(6), seats)), tuple(rng.sample(range(seats), seats)))
        for _ in range(40)
    ]
    chooser = InformationGain(6, seats, Random(1))
    chooser.learn(results)
    before = _variances(chooser)
    gains = chooser._gains()
    for pair in met(tuple(range(6))):
        known = chooser._known.copy()
        chooser._expect(pair)
        assert gains[pair] == pytest.approx(before - _variances(chooser))
        chooser._known = known


def _variances(chooser: InformationGain) -> float:
    return float(spreads(covariance(chooser._known)).sum() / 2)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_sweep_seats_nobody_twice_and_nobody_for_much_less(seats: int) -> None:
    chooser = InformationGain(11, seats, Random(1))
    chooser.learn(many({(0, 1): (5, 5), (1, 2): (9, 1), (3, 4): (2, 2)}))
    for _ in range(5):
        gains = chooser._gains()
        most = gains.max()
        tables = chooser._swept()
        sitting = [member for table in tables for member in table]
        assert len(set(sitting)) == len(sitting) > 0
        for table in tables:
            assert len(table) == seats
            assert max(gains[pair] for pair in met(table)) >= 0.8 * most
            chooser._expect(table)


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
        drawn = pairing.round(number, results)
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
        way: fmean(matches_until(way, seats, seed) for seed in range(8))
        for way in ("random", "information")
    }
    assert taken["information"] < taken["random"] * (1 - saved)
