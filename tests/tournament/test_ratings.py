"""Ratings of a tournament: per game and over all, roles, sides, forfeits left to the caller."""

from dataclasses import replace

import pytest
from tournament.outcomes import duels

from raybench.stats.bradley_terry import fit
from raybench.stats.ratings import rated as rating
from raybench.tournament.fixtures import Fixture, Result
from raybench.tournament.ratings import looked, places, rate, widest

ROLES = {"chess": ("white", "black"), "liars_dice": ("player_1", "player_2")}
STRENGTHS = {"a": 1.0, "b": 0.0, "c": -1.0}


def test_of_two_it_is_bradley_terry() -> None:
    results = duels(STRENGTHS, 20)
    found = rate(results, ["chess"], ROLES, bootstrap=0).games["chess"]
    games = [(it.fixture.seats[0], it.fixture.seats[1], (it.scores[0] + 1) / 2) for it in results]
    plain = fit(games, bootstrap=0)
    for model in STRENGTHS:
        rating, other = found.table[model].value, plain.table[model].value
        assert rating == pytest.approx(other, abs=1e-6)
    assert found.table["a"].method.startswith("rating; Bradley–Terry")
    (advantage,) = plain.first_mover.values()
    worth = found.advantage("white", "black", game="chess")
    assert worth.value == pytest.approx(advantage.value, abs=1e-6)


def test_seatings_that_share_a_seed_are_one_observation() -> None:
    results = duels(STRENGTHS, 30)
    doubled = [*results, *results]  # the same seeds once more say nothing new
    once = rate(results, ["chess"], ROLES, bootstrap=0).games["chess"].table["a"]
    twice = rate(doubled, ["chess"], ROLES, bootstrap=0).games["chess"].table["a"]
    assert once.value == pytest.approx(twice.value)
    assert once.stderr is not None and twice.stderr is not None
    assert twice.stderr > 0.9 * once.stderr


def test_the_same_match_again_under_another_seed_is_no_news() -> None:
    once = [replace(it, table=f"opening {it.fixture.seed}") for it in duels(STRENGTHS, 30)]
    again = [replace(it, fixture=replace(it.fixture, seed=it.fixture.seed + 10**6)) for it in once]
    few = rate(once, ["chess"], ROLES).games["chess"].table["a"]
    many = rate([*once, *again], ["chess"], ROLES).games["chess"].table["a"]
    assert few.stderr is not None and many.stderr is not None
    assert many.stderr > 0.9 * few.stderr
    seeds = [replace(it, table="") for it in (*once, *again)]
    taken_for_new = rate(seeds, ["chess"], ROLES).games["chess"].table["a"]
    assert taken_for_new.stderr is not None and taken_for_new.stderr < 0.8 * few.stderr


def test_overall_games_weigh_the_same_however_often_they_are_played() -> None:
    many = duels({"a": 1.5, "b": -1.5}, 400)
    few = duels({"a": -0.5, "b": 0.5}, 20, game="liars_dice")
    games = ["chess", "liars_dice"]
    even = rate([*many, *few], games, ROLES, bootstrap=0).overall
    chess = rate([*many, *few], games, ROLES, weights={"liars_dice": 0}, bootstrap=0).overall
    assert even is not None and chess is not None
    assert even.table["a"].value is not None and chess.table["a"].value is not None
    assert 1000 < even.table["a"].value < chess.table["a"].value - 50


def test_sides_are_teams_and_their_worth_is_told() -> None:
    roles = {"werewolf": tuple(f"player_{n}" for n in range(1, 5))}
    results = []
    for n in range(60):
        seats = tuple("abcd"[(n + place) % 4] for place in range(4))
        wolves = n % 16 >= 4  # the wolf wins three times of four, whoever it is
        sides = ("wolf", "village", "village", "village")
        score = (1.0, -1 / 3, -1 / 3, -1 / 3) if wolves else (-1.0, 1 / 3, 1 / 3, 1 / 3)
        results.append(Result(Fixture("werewolf", seats, n), score, sides))
    found = rate(results, ["werewolf"], roles, bootstrap=0).games["werewolf"]
    worth = found.advantage("wolf", "village", game="werewolf")
    assert worth.value is not None and worth.value > 0
    assert found.roles["werewolf"] == ("village", "wolf")


def test_a_model_against_itself_says_nothing_of_who_is_better() -> None:
    itself = [Result(Fixture("chess", ("a", "a"), n), (1.0, -1.0)) for n in range(9)]
    results = duels(STRENGTHS, 20)
    without = rate(results, ["chess"], ROLES, bootstrap=0).games["chess"]
    beside = rate([*results, *itself], ["chess"], ROLES, bootstrap=0).games["chess"]
    for model in STRENGTHS:
        assert beside.table[model].value == pytest.approx(without.table[model].value)


def test_who_is_undefeated_has_no_number() -> None:
    results = [
        Result(Fixture("chess", pair, n), (1.0, -1.0) if pair[0] == "a" else (-1.0, 1.0))
        for n, pair in enumerate([("a", "b"), ("b", "a"), ("a", "c"), ("c", "a")] * 5)
    ]
    results += duels({"b": 0.0, "c": 0.3}, 20)
    found = rate(results, ["chess"], ROLES, bootstrap=0)
    assert found.overall is not None
    assert found.overall.table["a"].value is None
    assert "not computed" in found.overall.table["a"].method
    assert found.overall.table["b"].value is not None
    assert widest(found.overall, [*STRENGTHS]) is None


def test_the_widest_interval_shrinks_with_matches() -> None:
    few = widest(rate(duels(STRENGTHS, 10), ["chess"], ROLES, bootstrap=0).overall, [*STRENGTHS])
    many = widest(rate(duels(STRENGTHS, 160), ["chess"], ROLES, bootstrap=0).overall, [*STRENGTHS])
    assert few is not None and many is not None
    assert 3 < few / many < 6


def test_nothing_played_is_nothing_rated() -> None:
    assert rate([], ["chess"], ROLES).overall is None


def test_places() -> None:
    assert places([3, 5, 5, -1]) == (3, 1, 1, 4)


def test_of_who_never_played_nothing_is_narrow() -> None:
    found = rate(duels(STRENGTHS, 40), ["chess"], ROLES, bootstrap=0).overall
    assert widest(found, ["a", "b", "c"]) is not None
    assert widest(found, ["a", "b", "c", "d"]) is None


@pytest.mark.parametrize("weights", [{}, {"liars_dice": 0.0}, {"chess": 3.0}])
@pytest.mark.parametrize("bootstrap", [0, 100])
def test_a_look_sees_what_would_be_published(weights: dict[str, float], bootstrap: int) -> None:
    results = [*duels(STRENGTHS, 12), *duels(STRENGTHS, 8, 1, game="liars_dice")]
    found = rate(results, [*ROLES], ROLES, weights=weights, bootstrap=bootstrap, seed=7)
    seen = looked(
        results, [*ROLES], ROLES, [*STRENGTHS],
        points=1e6, weights=weights, bootstrap=bootstrap, seed=7,
    )  # fmt: skip
    assert seen == widest(found.overall, [*STRENGTHS])


@pytest.mark.parametrize("seed", range(4))
def test_a_look_is_pleased_by_the_wider_of_both_intervals(seed: int) -> None:
    """Few matches and strengths far apart: the sandwich's end a sixth sooner, or more."""
    strengths = dict(zip("abcdef", (2.0, 1.0, 0.3, -0.2, -1.0, -2.0), strict=True))
    results = duels(strengths, 4, seed)
    sandwich, both = (
        widest(rate(results, ["chess"], ROLES, bootstrap=it).overall, [*strengths])
        for it in (0, 200)
    )
    assert sandwich is not None and both is not None and both > 1.05 * sandwich

    def look(points: float) -> float | None:
        return looked(results, ["chess"], ROLES, [*strengths], points=points, bootstrap=200)

    assert look(sandwich - 1) == sandwich  # too wide already
    assert look(sandwich + 1) == both


def test_a_look_fits_nothing_that_it_does_not_need(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*given: object) -> None:
        raise AssertionError("a bound was looked for")

    monkeypatch.setattr(rating, "bound", never)
    pairs = [("a", "b"), ("a", "c"), ("b", "c"), ("c", "b")] * 5
    dice = [Result(Fixture("liars_dice", it, n), (1.0, -1.0)) for n, it in enumerate(pairs)]
    results = [*duels(STRENGTHS, 30), *dice]  # at dice a is undefeated, over all games it is not
    assert looked(results, [*ROLES], ROLES, [*STRENGTHS], points=0) is not None
    monkeypatch.setattr("raybench.stats.overall.rated", never)
    new = Result(Fixture("liars_dice", ("d", "b"), 2), (1.0, -1.0))
    assert looked([*results, new], [*ROLES], ROLES, [*STRENGTHS, "d"], points=0) is None
    assert looked(results, [*ROLES], ROLES, [*STRENGTHS, "d"], points=0) is None
