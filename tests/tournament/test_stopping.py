"""When it is enough, and that stopping so leaves the intervals as wide as they have to be."""

import math
from collections.abc import Sequence
from random import Random
from statistics import fmean

import pytest
from monte_carlo import least_share
from statements import code, values
from tournament.playing import models, play

from raybench.stats.ratings.scale import SPREAD
from raybench.tournament.fixtures import Result
from raybench.tournament.pairing import matchmaking
from raybench.tournament.ratings import looked, rate
from raybench.tournament.schedule import Schedule
from raybench.tournament.stopping import Budget, Narrow, Stop


def test_looks_become_rare() -> None:
    stop = Stop(narrow=Narrow(30, lambda results: None))
    looks = [rounds for rounds in range(1, 40) if stop.looks(rounds)]
    assert looks == [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 22, 27, 33]
    assert sum(stop.looks(rounds) for rounds in range(1, 5000)) < 40
    assert not any(Stop(matches=3).looks(rounds) for rounds in range(9))
    assert not stop.looks(0)


@pytest.mark.parametrize(
    ("width", "enough"), [(None, False), (30.1, False), (30.0, True), (float("nan"), False)]
)
def test_narrow_is_what_is_known_to_be(width: float | None, enough: bool) -> None:
    stop = Stop(narrow=Narrow(30, lambda results: width))
    said = stop.narrow_enough(stop.width([]), 1200, 1300)
    assert bool(said) is enough
    if enough:
        assert code(said) == "stopped.narrow"
        assert values(said) == {"width": 30, "results": 1200, "matches": 1300, "wanted": 30}


def test_how_many_are_enough_is_known_from_a_look() -> None:
    stop = Stop(narrow=Narrow(30, lambda results: None, least=8))
    assert stop.enough(60, 100) == 400
    assert stop.enough(None, 100) == math.inf
    assert stop.round_of(0, math.inf) == 8
    assert stop.round_of(100, math.inf) == 50
    assert stop.round_of(100, 120.5) == 21
    assert stop.round_of(100, 101) == 8
    assert Stop(matches=9).round_of(100, math.inf) is None


def test_any_budget_that_is_spent_is_named() -> None:
    spent = {"tokens": 5.0, "seconds": 0.0}
    stop = Stop(
        budgets=(
            Budget(2e6, "tokens", lambda: spent["tokens"]),
            Budget(60, "seconds", lambda: spent["seconds"]),
        )
    )
    assert not stop.spent()
    spent["seconds"] = 60
    assert values(stop.spent()) == {"spent": 60, "unit": "seconds", "limit": 60}
    spent["tokens"] = 2_000_123
    assert values(stop.spent()) == {"spent": 2_000_123, "unit": "tokens", "limit": 2_000_000}


def test_what_ends_nothing_or_never_is_refused_with_the_mend() -> None:
    with pytest.raises(ValueError, match="0 matches"):
        Stop(matches=0)
    with pytest.raises(ValueError, match="0 calls"):
        Stop(budgets=(Budget(0, "calls", lambda: 0),))
    with pytest.raises(ValueError, match="±0 points"):
        Stop(narrow=Narrow(0, lambda results: None))


def coverage(way: str, points: float, runs: int) -> float:
    """Return how often published intervals hold the truth, looked at as a tournament looks."""
    names, inside = models(6), 0
    games, roles = ["game"], {"game": ("first", "second")}
    for seed in range(runs):
        rng = Random(seed)
        strengths = {name: rng.gauss(0, 0.7) for name in names}
        results: list[Result] = []

        def look(counted: Sequence[Result]) -> float | None:
            return looked(counted, games, roles, names, points=points, bootstrap=200)

        pairing = matchmaking(way, names, {"game": 2}, seed=seed, size=6)
        schedule = Schedule(pairing, Stop(narrow=Narrow(points, look)))
        while not schedule.over:
            for number, fixture in schedule.take(1):
                results.append(play(fixture, strengths, seed))
                schedule.done(number, results[-1])
        assert code(schedule.stopped) == "stopped.narrow"
        found = rate(results, games, roles, bootstrap=200).overall
        assert found is not None
        mean = fmean(strengths.values())
        for name in names:
            ends = found.table[name].ci95
            assert ends is not None
            inside += ends[0] <= 1000 + SPREAD * (strengths[name] - mean) <= ends[1]
    return inside / (runs * len(names))


@pytest.mark.parametrize(("way", "points"), [("random", 200), ("information", 100)])
def test_intervals_cover_although_they_end_the_run(way: str, points: float) -> None:
    assert coverage(way, points, runs=8) >= least_share(8 * 6)


@pytest.mark.long(
    short="tests/tournament/test_stopping.py::test_intervals_cover_although_they_end_the_run"
)
@pytest.mark.parametrize("way", ["random", "information"])
@pytest.mark.parametrize("points", [200, 100])
def test_intervals_cover_as_often_as_they_say_although_they_end_the_run(
    way: str, points: float
) -> None:
    # Binomial, were the ratings of a run independent: 1.1 points of standard error.
    assert coverage(way, points, runs=60) > 0.925
