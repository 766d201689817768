"""What is known of the order of components, and what ranks and words make of it."""

from typing import Any

import pytest
from statements import code, codes, values

from raybench.stats import bradley_terry, plackett_luce
from raybench.stats.bradley_terry import Game
from raybench.stats.plackett_luce import Seat
from raybench.stats.ratings.outcome import Ratings
from raybench.stats.ratings.ranking import ranks


def even(*pair: str) -> list[Game]:
    """Matches that two won and lost alike often."""
    one, other = pair
    return [(one, other, 1.0), (other, one, 1.0), (one, other, 0.0), (other, one, 0.0)] * 3


def beat(one: str, other: str) -> list[Game]:
    return [(one, other, 1.0), (other, one, 0.0)] * 3


def ends(ratings: Ratings) -> dict[str, tuple[int, int]]:
    return {name: rank.ends for name, rank in ranks(ratings).items()}


def relations(ratings: Ratings) -> list[dict[str, Any]]:
    """Return how the groups stand to each other, as the only note says it."""
    (note,) = ratings.notes
    return [values(it) for it in values(note)["relations"]]


def test_who_won_all_is_first_and_who_lost_all_is_last() -> None:
    games = [*even("b", "c"), *beat("top", "b"), *beat("top", "c"), *beat("b", "low")]
    ratings = bradley_terry.fit(games, bootstrap=200)
    assert [*ratings.table] == ["top", "b", "c", "low"]
    places = ranks(ratings)
    # The two between are equal, and share the better place.
    assert {name: it.value for name, it in places.items()} == {"top": 1, "b": 2, "c": 2, "low": 4}
    assert places["top"].replicates is places["low"].replicates is None
    assert places["b"].replicates == (2, 3)
    assert {it.simultaneous for it in places.values()} == {(1, 4)}


def test_all_of_a_lower_group_are_behind_all_of_the_higher_one() -> None:
    games = [*even("a", "b"), *even("y", "z"), *beat("y", "z"), *beat("a", "z")]
    ratings = bradley_terry.fit(games, bootstrap=0)
    assert ratings.components == (("a", "b"), ("y", "z"))
    # By its number y is above a; what is known of their order says otherwise.
    assert (ratings.table["y"].value or 0) > (ratings.table["a"].value or 0)
    assert ends(ratings) == {"a": (1, 1), "b": (1, 1), "y": (3, 3), "z": (4, 4)}
    (above,) = relations(ratings)
    assert (above["group"], above["others"], above["points"]) == (1, "group 2", None)


def test_order_is_handed_down_and_told_once() -> None:
    games = [*beat("a", "b"), *beat("b", "c"), *beat("c", "d"), *beat("a", "d")]
    ratings = bradley_terry.fit(games, bootstrap=0)
    assert ends(ratings) == {name: (place, place) for place, name in enumerate("abcd", 1)}
    told = [(it["group"], it["others"]) for it in relations(ratings)]
    assert told == [(1, "group 2"), (2, "group 3"), (3, "group 4")]


def test_groups_that_never_met_have_no_common_rank() -> None:
    games = [*even("a", "b"), *even("x", "y"), *beat("x", "y"), *beat("b", "low")]
    ratings = bradley_terry.fit(games, bootstrap=200)
    assert ratings.components == (("a", "b"), ("x", "y"), ("low",))
    assert ends(ratings) == {"a": (1, 3), "b": (1, 3), "x": (1, 4), "y": (2, 5), "low": (3, 5)}
    places = ranks(ratings)
    assert {it.value for it in places.values()} == {None}
    assert places["y"].replicates is not None and places["y"].replicates[1] == 5
    unmet = [values(it) for it in values(ratings.notes[0])["relations"] if "unmet" in code(it)]
    assert unmet == [{"group": 1, "others": "group 2"}, {"group": 2, "others": "group 3"}]


def test_how_many_groups_stand_to_each_other_is_one_sentence() -> None:
    for many in (4, 5):
        games = [it for n in range(many) for it in beat(f"a{n}", f"b{n}")]
        (note,) = bradley_terry.fit(games, bootstrap=0).notes
        told = values(note)["told"]
        assert len(values(note)["relations"]) > 4
        assert code(told) == "ratings.groups_apart"


def test_points_are_told_where_a_bound_has_them() -> None:
    games = [*even("b", "c"), *beat("b", "low"), *beat("c", "low")]
    ratings = bradley_terry.fit(games, bootstrap=0)
    points = 1000 - ratings.bounds["low"].interval[1]
    assert points > 0
    assert [it["points"] for it in relations(ratings)] == [points]


TWO = [Seat("c", 1, team="x"), Seat("d", 2, team="y"), Seat("e", 2, team="y")]
"""A team, so that the order is that of all that could explain the results."""


@pytest.mark.parametrize("met", [False, True])
def test_where_teams_play_singles_are_ordered_all_the_same(met: bool) -> None:
    results = [[("a", 1), ("b", 2)], *([[("b", 1), ("c", 2)]] if met else [])]
    ratings = plackett_luce.fit([*results, TWO, TWO], bootstrap=0)
    at = {name: number for number, part in enumerate(ratings.components) for name in part}
    assert (at["a"], at["b"]) in ratings.above
    assert ((at["b"], at["c"]) in ratings.above) == met
    # A team of two lost: either of them may be as good as the winner.
    assert not any({*pair} == {at["c"], at["d"]} for pair in ratings.above)
    told = codes(values(ratings.notes[0])["relations"])
    assert {*told} == {"ratings.group_above", "ratings.group_open"}
