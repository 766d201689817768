"""Who met whom, and what came of it."""

import pytest
from tournament.outcomes import match, won

from raybench.tournament.meetings import Tally, in_roles, outcomes, results, tallies
from raybench.tournament.turns import Forfeit

TABLE = {"player_1": "a", "player_2": "b", "player_3": "c"}


def test_the_win_matrix_counts_wins_ties_and_losses() -> None:
    matches = [
        won(1, "a", "b", 1),
        won(2, "b", "a", 1),
        won(3, "a", "b", 0),
        won(4, "a", "b", 1, void="gone"),
    ]
    found = tallies(matches, ["a", "b", "c"])
    of = found["a"]["b"]
    assert (of.wins, of.ties, of.losses, of.points) == (1, 1, 1, 0.5)
    assert (found["b"]["a"].wins, found["b"]["a"].losses) == (1, 1)
    assert found["a"]["c"].points is None


def test_at_a_table_of_many_everybody_meets_everybody() -> None:
    found = tallies([match(1, TABLE, {"player_1": 5, "player_2": 5, "player_3": -10})], "abc")
    assert (found["a"]["b"].ties, found["a"]["c"].wins, found["c"]["b"].losses) == (1, 1, 1)


def test_those_of_one_side_do_not_meet() -> None:
    sides = {"player_1": "wolf", "player_2": "village", "player_3": "village"}
    scores = {"player_1": 1.0, "player_2": -0.5, "player_3": -0.5}
    found = tallies([match(1, TABLE, scores, sides=sides)], "abc")
    assert (found["b"]["c"].n, found["a"]["b"].wins) == (0, 1)


def test_each_model_wins_ties_and_loses_a_match_once() -> None:
    matches = [
        won(1, "a", "b", 1),
        won(2, "b", "a", 0),
        won(3, "a", "b", -1, forfeits=[Forfeit("white", "time", 3)]),
        won(4, "a", "b", 1, void="gone"),
    ]
    found = results(matches, ["a", "b", "c"])
    assert found == {"a": Tally(1, 1, 1), "b": Tally(1, 1, 1), "c": Tally()}


@pytest.mark.parametrize(
    ("scores", "wins", "ties", "losses"),
    [
        ((9, 5, -14), "a", "", "bc"),
        ((5, 5, -10), "", "ab", "c"),  # a shared first place is a draw
        ((0, 0, 0), "", "abc", ""),
    ],
)
def test_at_a_table_of_many_who_is_alone_in_first_place_wins(
    scores: tuple[int, ...], wins: str, ties: str, losses: str
) -> None:
    found = results([match(1, TABLE, dict(zip(TABLE, scores, strict=True)))], "abc")
    assert [model for model in "abc" if found[model].wins] == [*wins]
    assert [model for model in "abc" if found[model].ties] == [*ties]
    assert [model for model in "abc" if found[model].losses] == [*losses]
    assert all(of.n == 1 for of in found.values())


def test_teams_win_together_and_a_model_on_all_sides_has_no_opponent() -> None:
    sides = {"player_1": "wolf", "player_2": "village", "player_3": "village"}
    scores = {"player_1": -2.0, "player_2": 1.0, "player_3": 1.0}
    found = results([match(1, TABLE, scores, sides=sides)], "abc")
    assert found == {"a": Tally(losses=1), "b": Tally(wins=1), "c": Tally(wins=1)}
    seats = {"player_1": "a", "player_2": "b", "player_3": "a"}
    found = results([match(1, seats, scores, sides=sides)], "ab")
    assert found == {"a": Tally(), "b": Tally(wins=1)}


def test_a_model_in_several_seats_is_as_good_as_the_best_of_them() -> None:
    seats = {"player_1": "b", "player_2": "a", "player_3": "a"}
    found = results([match(1, seats, {"player_1": 1, "player_2": -3, "player_3": 2})], "ab")
    assert found == {"a": Tally(wins=1), "b": Tally(losses=1)}


def test_results_by_role_are_shares_of_the_others_beaten() -> None:
    matches = [won(n, "a", "b", 1 if n % 2 else -1) for n in range(10)]
    matches += [won(10 + n, "b", "a", 0) for n in range(4)]
    roles = in_roles(matches, "a")
    assert roles["white"].value == pytest.approx(0.5)
    for role in roles.values():
        assert role.ci95 is not None and 0 <= role.ci95[0] < 0.5 < role.ci95[1] <= 1
    assert roles["black"].value == 0.5


def test_where_sides_are_dealt_they_are_the_roles() -> None:
    sides = {"player_1": "wolf", "player_2": "village", "player_3": "village"}
    scores = {"player_1": 1.0, "player_2": -0.5, "player_3": -0.5}
    assert set(in_roles([match(1, TABLE, scores, sides=sides)], "a")) == {"wolf"}


def test_ends_are_counted() -> None:
    forfeit = [Forfeit("white", "time", 3)]
    matches = [
        won(1, "a", "b", 1),
        won(2, "a", "b", -1),
        won(3, "a", "b", 0),
        won(4, "a", "b", -1, forfeits=forfeit),
        won(5, "a", "b", 0, void="gone"),
    ]
    assert outcomes(matches) == {
        "won by white": 1, "won by black": 1, "draw": 1, "forfeit: time": 1, "void": 1
    }  # fmt: skip


def test_nobody_meets_itself_in_another_seat() -> None:
    seats = {"player_1": "b", "player_2": "a", "player_3": "a"}
    roles = in_roles([match(1, seats, {"player_1": -2, "player_2": 0, "player_3": 2})], "a")
    assert (roles["player_2"].value, roles["player_3"].value) == (1.0, 1.0)


def test_a_role_without_a_loss_has_an_interval_all_the_same() -> None:
    found = in_roles([won(n, "a", "b", 1) for n in range(6)], "a")["white"]
    assert found.value == 1
    assert found.ci95 == pytest.approx((0.61, 1), abs=0.01)


def test_a_side_wins_once_however_many_it_beats() -> None:
    sides = {"player_1": "wolves", "player_2": "village", "player_3": "village"}
    matches = [
        match(n, TABLE, {"player_1": s, "player_2": -s, "player_3": -s}, sides=sides)
        for n, s in enumerate((1, -1, 1, -1))
    ]
    found = in_roles(matches, "a")["wolves"]
    assert found.value == 0.5 and found.ci95 is not None
    assert found.ci95[0] < 0.16  # four matches, not eight
