"""When it is enough, and that stopping so leaves the intervals as wide as they have to be."""

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from tournament.playing import models, play

from raybench.tournament.fixtures import Fixture, Result
from raybench.tournament.pairing import matchmaking
from raybench.tournament.pairing.strengths import Numbers, covariance, expected, likeliest
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
    said = stop.narrow_enough([Result(Fixture("x", ("a", "b"), 1), (1, -1))] * 1200)
    assert bool(said) is enough
    if enough:
        assert said == (
            "the widest 95 % interval of a rating was ±30 points after 1,200 matches that "
            "counted: ±30 were wanted"
        )


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
    assert stop.spent() == "60 seconds of 60 were spent"
    spent["tokens"] = 2_000_123
    assert stop.spent() == "2,000,123 tokens of 2,000,000 were spent"


def test_what_ends_nothing_or_never_is_refused_with_the_mend() -> None:
    with pytest.raises(ValueError, match="0 matches are to be played: give one or more"):
        Stop(matches=0)
    with pytest.raises(ValueError, match="a budget of 0 calls lets nothing begin"):
        Stop(budgets=(Budget(0, "calls", lambda: 0),))
    with pytest.raises(ValueError, match="±0 points are never reached"):
        Stop(narrow=Narrow(0, lambda results: None))


class Ratings:
    """Ratings with Wald's intervals, for a simulation; what they narrow to stays to be looked at.

    The prior is so wide that it changes nothing but to give an answer always.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.place = {name: i for i, name in enumerate(names)}
        self.values: Numbers = np.zeros(len(names))
        self.half: Numbers = np.zeros(len(names))

    def widest(self, results: Sequence[Result]) -> float:
        count = len(self.place)
        won = np.zeros((count, count))
        for result in results:
            a, b = (self.place[name] for name in result.fixture.seats)
            won[(a, b) if result.scores[0] > 0 else (b, a)] += 1
        found = likeliest(won, np.zeros(count), prior=5)
        wins = expected(found)
        centred = np.eye(count) - 1 / count
        around = centred @ covariance((won + won.T) * wins * (1 - wins), prior=5) @ centred
        self.values = found - found.mean()
        self.half = 1.96 * np.sqrt(np.diag(around))
        return float(self.half.max() * 400 / np.log(10))


@pytest.mark.slow
@pytest.mark.parametrize("way", ["random", "information"])
@pytest.mark.parametrize("points", [200, 100])
def test_intervals_cover_as_often_as_they_say_although_they_end_the_run(
    way: str, points: float
) -> None:
    names, inside = models(6), 0
    runs = 300
    for seed in range(runs):
        rng = Random(seed)
        strengths = {name: rng.gauss(0, 0.7) for name in names}
        ratings = Ratings(names)
        pairing = matchmaking(way, names, {"game": 2}, seed=seed, size=6)
        schedule = Schedule(pairing, Stop(narrow=Narrow(points, ratings.widest)))
        while not schedule.over:
            for number, fixture in schedule.take(1):
                schedule.done(number, play(fixture, strengths, seed))
        assert "the widest 95 % interval" in schedule.stopped
        true = np.array([strengths[name] for name in names])
        inside += int((abs(ratings.values - true + true.mean()) <= ratings.half).sum())
    # Binomial, were the ratings of a run independent: 0.5 points of standard error.
    assert inside / (runs * len(names)) > 0.935
