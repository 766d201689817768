"""Several games, one rating: equal weights whatever their sizes, and what is said of what lacks."""

import math
from collections import Counter
from collections.abc import Mapping

import numpy as np
import pytest
from monte_carlo import least_share
from numpy.typing import NDArray
from pools import hidden_roles, names, round_robin, tables
from refusals import refused
from scipy import optimize
from scipy.special import expit
from statements import code

from raybench.stats import bradley_terry, overall, plackett_luce
from raybench.stats.bradley_terry import Game
from raybench.stats.ratings.matches import Bundles
from raybench.stats.ratings.outcome import Ratings
from raybench.stats.ratings.scale import SPREAD

TRUE = (0.9, 0.3, 0.0, -0.4, -0.8)


def rounds(strengths: tuple[float, ...], times: int, seed: int) -> list[Game]:
    return round_robin(strengths, times, np.random.default_rng(seed), first=0.3, ties=0.2)


def values(ratings: Ratings) -> dict[str, float]:
    found = {name: it.value for name, it in ratings.table.items()}
    return {name: value for name, value in found.items() if value is not None}


def test_one_game_alone_is_its_own_rating() -> None:
    games = rounds(TRUE, 8, 0)
    alone = bradley_terry.fit(games, bootstrap=200)
    found = overall.fit({"chess": bradley_terry.bundles(games)}, bootstrap=200)
    assert values(found) == pytest.approx(values(alone), abs=1e-6)
    for name, estimate in alone.table.items():
        assert found.table[name].stderr == pytest.approx(estimate.stderr)
        assert found.table[name].ci95 == pytest.approx(estimate.ci95)
    assert found.first_mover["chess"].value == pytest.approx(alone.first_mover[""].value)


def test_a_game_weighs_as_much_however_often_it_was_played() -> None:
    chess, dice = rounds(TRUE, 8, 1), rounds(TRUE[::-1], 8, 2)
    few = overall.fit(
        {"chess": bradley_terry.bundles(chess), "dice": bradley_terry.bundles(dice)}, bootstrap=0
    )
    many = overall.fit(
        {"chess": bradley_terry.bundles(chess * 50), "dice": bradley_terry.bundles(dice)},
        bootstrap=0,
    )
    assert values(few) == pytest.approx(values(many), abs=1e-6)
    thrice = overall.fit(
        {"chess": bradley_terry.bundles(chess), "dice": bradley_terry.bundles(dice)},
        weights={"chess": 3, "dice": 1},
        bootstrap=0,
    )
    plain = bradley_terry.fit(chess, bootstrap=0)
    assert "chess 3, dice 1" in thrice.table["m00"].method
    assert "Bradley–Terry (chess, dice)" in thrice.table["m00"].method
    assert (few.table["m00"].value or 0) < (thrice.table["m00"].value or 0)
    assert (thrice.table["m00"].value or 0) < (plain.table["m00"].value or 0)


def test_it_is_the_rating_whose_expected_scores_are_those_found() -> None:
    # Two models, two games, no first mover: the weighted mean of both scores is what it explains.
    chess: list[Game] = [("a", "b", 1.0)] * 9 + [("a", "b", 0.0)]
    dice: list[Game] = [("a", "b", 1.0)] * 300 + [("a", "b", 0.0)] * 300
    games = {
        "chess": bradley_terry.bundles(chess, first_mover=False),
        "dice": bradley_terry.bundles(dice, first_mover=False),
    }
    assert overall.fit(games, bootstrap=0).chance("a", "b").value == pytest.approx(0.7)
    weighed = overall.fit(games, weights={"chess": 1, "dice": 3}, bootstrap=200)
    assert weighed.chance("a", "b").value == pytest.approx(0.6)
    # Its error is that of a mean of two shares.
    error = math.sqrt((0.25**2) * 0.9 * 0.1 / 10 + (0.75**2) * 0.25 / 600)
    assert weighed.chance("a", "b").stderr == pytest.approx(error, rel=0.01)


def test_undefeated_in_one_game_is_not_undefeated() -> None:
    dice = rounds(TRUE, 4, 3)
    chess = [(a, b, 1.0 if a == "m00" else 0.0 if b == "m00" else s) for a, b, s in dice]
    assert bradley_terry.fit(chess, bootstrap=0).table["m00"].value is None
    found = overall.fit(
        {"chess": bradley_terry.bundles(chess), "dice": bradley_terry.bundles(dice)}, bootstrap=200
    )
    assert len(values(found)) == 5
    assert found.components == (tuple(names(TRUE)),)


def test_groups_that_met_in_another_game_are_compared() -> None:
    left: list[Game] = [("a", "b", 1.0), ("a", "b", 0.0), ("b", "a", 1.0), ("b", "a", 0.0)]
    right = [(a.upper(), b.upper(), score) for a, b, score in left]
    bridge: list[Game] = [("a", "A", 1.0), ("A", "a", 1.0), ("a", "A", 0.0), ("A", "a", 0.0)]
    games = {"chess": [*left, *right], "dice": bridge}
    found = overall.fit(
        {name: bradley_terry.bundles(it) for name, it in games.items()}, bootstrap=0
    )
    assert found.components == (("A", "B", "a", "b"),)
    assert found.table["b"].method.endswith(" dice")
    assert not found.table["a"].method.endswith(" dice")


def test_who_lacks_a_game_may_be_refused() -> None:
    games = {
        "chess": bradley_terry.bundles(rounds(TRUE, 4, 4)),
        "dice": bradley_terry.bundles(rounds(TRUE[:4], 4, 5)),
    }
    found = overall.fit(games, bootstrap=0)
    strict = overall.fit(games, bootstrap=0, complete=True)
    assert found.table["m04"].value is not None
    assert found.table["m04"].method.endswith(" dice")
    assert strict.table["m04"].value is None
    assert code(strict.table["m04"].method) == "refused.lacks_games"
    for name in names(TRUE[:4]):
        assert strict.table[name] == found.table[name]


def test_games_of_every_kind_share_strengths() -> None:
    rng = np.random.default_rng(6)
    tabled, hunted = tables(TRUE, 4, 400, rng), hidden_roles(TRUE, 800, rng, wolves=0.4)
    games = {
        "chess": bradley_terry.bundles(rounds(TRUE, 30, 6)),
        "dice": plackett_luce.bundles(tabled),
        "werewolf": plackett_luce.bundles(hunted),
    }
    found = overall.fit(games, bootstrap=200)
    for place, name in enumerate(names(TRUE)):
        low, high = found.table[name].ci95 or (0, 0)
        assert low - 10 < 1000 + SPREAD * (TRUE[place] - np.mean(TRUE)) < high + 10
    assert found.roles == {"chess": ("first", "second"), "werewolf": ("villager", "wolf")}
    assert (found.advantage("first", "second", game="chess").value or 0) > 0
    assert (found.advantage("wolf", "villager", game="werewolf").value or 0) > 0
    assert found.advantage("wolf", "villager", game="chess").value is None
    assert found.played == {"chess": 600, "dice": 400, "werewolf": 800}
    which = "Bradley–Terry (chess) and Plackett–Luce (dice, werewolf), strengths shared by all"
    assert which in found.table["m00"].method
    assert found.table["m00"].n == 240 + sum(
        "m00" in {seat.model for seat in result} for result in (*tabled, *hunted)
    )


@pytest.mark.parametrize(
    ("weights", "said"),
    [({"chess": 1.0}, "dice is on one side"), ({"chess": 1.0, "dice": 0.0}, "above 0")],
)
def test_weights_that_do_not_fit_are_said(weights: dict[str, float], said: str) -> None:
    games = {name: bradley_terry.bundles([("a", "b", 1.0)]) for name in ("chess", "dice")}
    with refused("ratings.invalid", "weights"):
        overall.fit(games, weights=weights)


def test_a_game_without_matches_is_said() -> None:
    games = {"chess": bradley_terry.bundles([("a", "b", 1.0)]), "dice": bradley_terry.bundles([])}
    with refused("ratings.invalid", "games"):
        overall.fit(games)


def shared(own: Mapping[str, NDArray[np.float64]], first: float) -> NDArray[np.float64]:
    """Return the strengths that explain all games together, each by its expected scores."""
    models = len(next(iter(own.values())))
    one, other = np.array([(i, j) for i in range(models) for j in range(models) if i != j]).T

    def pulled(at: NDArray[np.float64]) -> NDArray[np.float64]:
        slope = np.zeros_like(at)
        for game, strengths in enumerate(own.values(), models):
            gap = expit(strengths[one] - strengths[other] + first)
            gap -= expit(at[one] - at[other] + at[game])
            np.add.at(slope, one, gap)
            np.add.at(slope, other, -gap)
            slope[game] = gap.sum()
        slope[0] += at[:models].sum()
        return slope

    return np.asarray(optimize.root(pulled, np.zeros(models + len(own))).x[:models])


def coverage(runs: int) -> float:
    """Return how often intervals hold the truth."""
    rng = np.random.default_rng(9)
    times = {"chess": 4, "dice": 20}
    held = []
    for seed in range(runs):
        own = {"chess": rng.normal(scale=1.2, size=4), "dice": rng.normal(scale=0.5, size=4)}
        true = shared(own, 0.3)
        games = {
            game: bradley_terry.bundles(
                round_robin(it.tolist(), times[game], rng, first=0.3, ties=0.2)
            )
            for game, it in own.items()
        }
        found = overall.fit(games, bootstrap=300, seed=seed)
        for place, name in enumerate(found.models):
            low, high = found.table[name].ci95 or (math.nan, math.nan)
            held.append(low <= 1000 + SPREAD * true[place] <= high)
    return float(np.mean(held))


def test_intervals_cover_though_models_are_strong_in_different_games() -> None:
    assert least_share(40 * 4) <= coverage(runs=40) < 1


@pytest.mark.long(
    short="tests/stats/test_overall.py"
    "::test_intervals_cover_though_models_are_strong_in_different_games"
)
def test_intervals_cover_as_often_as_they_say() -> None:
    assert 0.93 <= coverage(runs=150) <= 0.995


def test_a_game_of_few_matches_that_weighs_as_much_makes_intervals_wide() -> None:
    # Of 396 matches of one game and 24 of another nearly all that is uncertain is of the latter:
    # of twelve pairs of seatings that share a seed.
    true = (0.6, 0.2, -0.2, -0.6)
    held = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        found = overall.fit(
            {"chess": seeded(true, 33, rng), "dice": seeded(true, 2, rng)}, bootstrap=0
        )
        for place, name in enumerate(found.models):
            low, high = found.table[name].ci95 or (math.nan, math.nan)
            held.append(low < 1000 + SPREAD * true[place] < high)
    assert np.mean(held) > 0.93


def seeded(strengths: tuple[float, ...], times: int, rng: np.random.Generator) -> Bundles:
    """Play so many seeds for each pair, both seatings each."""
    games = round_robin(strengths, times, rng)
    seen: Counter[tuple[str, str]] = Counter()
    clusters = []
    for one, other, _ in games:
        clusters.append((*sorted((one, other)), seen[one, other]))
        seen[one, other] += 1
    return bradley_terry.bundles(games, clusters=clusters)


def test_freedom_is_of_the_games_that_make_the_error() -> None:
    many, few = rounds(TRUE, 40, 7), rounds(TRUE, 2, 8)
    alone = bradley_terry.fit(few, bootstrap=0)
    aim = alone.pair("m00", "m01")
    assert alone.freedom(aim) == len(few) - 5  # four strengths and who moves first
    games = {"chess": bradley_terry.bundles(many), "dice": bradley_terry.bundles(few)}
    found = overall.fit(games, bootstrap=0)
    assert found.degrees.sum() == pytest.approx(len(many) + len(few) - 4)
    freedom = found.freedom(found.pair("m00", "m01"))
    assert found.degrees.min() < freedom < 2 * len(few)
    weighed = overall.fit(games, weights={"chess": 1000, "dice": 1}, bootstrap=0)
    assert weighed.freedom(weighed.pair("m00", "m01")) == pytest.approx(len(many) - 4, rel=0.01)


def test_one_match_of_a_game_does_not_tell_how_it_varies() -> None:
    games = {
        "chess": bradley_terry.bundles(rounds(TRUE, 8, 9)),
        "dice": bradley_terry.bundles([("m00", "m01", 0.0)]),
    }
    found = overall.fit(games, bootstrap=200)
    assert found.table["m00"].ci95 is None
