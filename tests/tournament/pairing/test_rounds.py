"""Rounds of several games: equal parts, seats exchanged under one seed, the same from one seed."""

from collections import Counter
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tournament.playing import models, play, seat_counts

from raybench.errors import ConfigurationError
from raybench.tournament.fixtures import Fixture, Result
from raybench.tournament.pairing import WAYS, matchmaking
from raybench.tournament.pairing.seats import seatings

GAMES = {"chess": 2, "dice": 3, "werewolf": 7}


def rounds(
    way: str,
    count: int,
    number: int,
    games: Mapping[str, int] = GAMES,
    *,
    seed: int = 1,
    size: int = 12,
) -> list[list[Fixture]]:
    """Return rounds of models of which those with higher numbers are stronger."""
    names = models(count)
    strengths = {name: i / 2 for i, name in enumerate(names)}
    pairing = matchmaking(way, names, games, seed=seed, size=size)
    drawn: list[list[Fixture]] = []
    results: list[Result] = []
    for i in range(number):
        if i >= 2:
            results += [play(fixture, strengths, seed) for fixture in drawn[i - 2]]
        drawn.append(pairing.round(i + 1, results, drawn[-1] if drawn else []))
    return drawn


@pytest.mark.parametrize("way", WAYS)
@given(count=st.integers(2, 9), size=st.integers(1, 20), seed=st.integers(0, 99))
def test_every_round_has_as_many_matches_of_each_game(
    way: str, count: int, size: int, seed: int
) -> None:
    played: Counter[str] = Counter()
    for i, drawn in enumerate(rounds(way, count, 4, seed=seed, size=size), 1):
        played.update(fixture.game for fixture in drawn)
        for game, seats in GAMES.items():
            assert i * size <= played[game] < i * size + seats


@pytest.mark.parametrize("way", WAYS)
@given(count=st.integers(2, 9), seed=st.integers(0, 99))
def test_the_seatings_of_a_table_share_their_seed_and_nothing_else_does(
    way: str, count: int, seed: int
) -> None:
    fixtures = [it for drawn in rounds(way, count, 4, seed=seed) for it in drawn]
    tables: dict[int, list[Fixture]] = {}
    for fixture in fixtures:
        tables.setdefault(fixture.seed, []).append(fixture)
    places = {id(fixture): place for place, fixture in enumerate(fixtures)}
    for table in tables.values():
        first = table[0]
        assert [it.seats for it in table] == seatings(first.seats)
        assert {it.game for it in table} == {first.game}
        taken = [places[id(it)] for it in table]
        assert taken == [*range(taken[0], taken[0] + len(table))]  # next to one another


@pytest.mark.parametrize("way", WAYS)
@given(count=st.integers(2, 9), seed=st.integers(0, 99))
def test_at_the_end_of_a_table_everybody_has_had_every_seat_equally_often(
    way: str, count: int, seed: int
) -> None:
    names = models(count)
    for drawn in rounds(way, count, 4, seed=seed):
        for game in GAMES:
            counts = seat_counts([it for it in drawn if it.game == game], names)
            assert len({tuple(sat) for sat in counts.values()}) == 1


@pytest.mark.parametrize("way", WAYS)
def test_nobody_sits_twice_where_there_are_enough_models_else_all_as_evenly(way: str) -> None:
    for count in (2, 5, 7, 9):
        for fixture in (it for drawn in rounds(way, count, 3) for it in drawn):
            sitting = Counter(fixture.seats)
            assert max(sitting.values()) - (min(sitting.values()) if count < 7 else 1) <= 1
            assert len(sitting) == min(count, len(fixture.seats))


@pytest.mark.parametrize("way", WAYS)
def test_the_same_seed_draws_the_same_whatever_the_order_in_which_all_is_listed(way: str) -> None:
    first = matchmaking(way, ["a", "b", "c"], {"x": 2, "y": 3}, seed=4, size=9)
    other = matchmaking(way, ["c", "a", "b"], {"y": 3, "x": 2}, seed=4, size=9)
    assert [first.round(i, [], []) for i in (1, 2)] == [other.round(i, [], []) for i in (1, 2)]
    assert rounds(way, 6, 3, seed=1) != rounds(way, 6, 3, seed=2)


def test_games_alternate_so_that_any_beginning_has_some_of_each() -> None:
    (drawn,) = rounds("random", 8, 1, {"chess": 2, "dice": 2, "poker": 4}, size=40)
    for end in range(12, len(drawn)):
        played = Counter(fixture.game for fixture in drawn[:end])
        assert max(played.values()) - min(played[game] for game in played) <= 6


def test_a_thousand_models_are_no_matter() -> None:
    """Poker alone has 10^30 seatings for them."""
    drawn = rounds("round_robin", 1000, 2, {"dice": 2, "poker": 10}, size=2000)
    assert [len(it) for it in drawn] == [4000, 4000]


def test_rounds_come_in_order_each_once() -> None:
    pairing = matchmaking("random", "ab", {"x": 2}, seed=1, size=2)
    pairing.round(1, [], [])
    for number in (1, 3):
        with pytest.raises(ValueError, match=f"round {number} "):
            pairing.round(number, [], [])


def test_what_cannot_be_drawn_is_refused_with_the_mend() -> None:
    for way, names, games, size, cycles, said in [
        ("randon", "ab", {"x": 2}, 2, None, "'randon'.* 'random'"),
        ("random", "a", {"x": 2}, 2, None, "nobody"),
        ("random", "aa", {"x": 2}, 2, None, "same name"),
        ("random", "ab", {}, 2, None, "no game"),
        ("random", "ab", {"x": 1}, 2, None, "x has 1"),
        ("random", "ab", {"x": 2}, 0, None, " 0 matches"),
        ("random", "ab", {"x": 2}, 2, 1, "round robin"),
        ("round_robin", "ab", {"x": 2}, 2, 0, "one or more"),
        ("round_robin", "ab", {"x": 3}, 2, 1, r" \(2\) .* x: "),
    ]:
        with pytest.raises(ConfigurationError, match=said):
            matchmaking(way, list(names), games, seed=1, size=size, cycles=cycles)
