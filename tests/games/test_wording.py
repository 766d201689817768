"""In which words players are told things, as somebody chose them."""

import pickle
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import Refusal, refusal, refused

from raybench import games
from raybench.games.parts import wording
from raybench.games.parts.phrasing import phrased, phrasings
from raybench.games.parts.wording import Wording, as_it_is
from raybench.types import Observation

CHESS, POKER = games.load("chess"), games.load("poker")
SEEN = CHESS.new(0).observe("white")


def shouted(seen: Observation) -> Observation:
    return replace(seen, rules=seen.rules.upper())


def renamed(seen: Observation) -> Observation:
    return replace(seen, role="nobody")


def broken(seen: Observation) -> Observation:
    raise ValueError("no words")


HERE = __name__


@given(st.sampled_from(games.names()), st.integers(1, 4))
def test_a_number_is_a_phrasing_of_the_game(game: str, number: int) -> None:
    assert phrasings(game) == 4
    state = games.load(game).new(7)
    role = state.roles[0]
    seen = state.observe(role)
    assert Wording(number).of(game)(seen) == phrased(game, number, seen)
    assert Wording({game: number}).of(game)(seen) == phrased(game, number, seen)
    assert Wording(0).of(game) is as_it_is


def test_a_table_leaves_other_games_their_own_words() -> None:
    chosen = Wording({"Chess": 3})
    assert chosen.of("chess")(SEEN).rules != SEEN.rules
    assert chosen.of("poker") is as_it_is


def test_words_of_ones_own_travel_by_their_import_path() -> None:
    chosen = pickle.loads(pickle.dumps(Wording(f"{HERE}:shouted")))
    assert chosen.of("chess")(SEEN).rules == SEEN.rules.upper()


@pytest.mark.parametrize(
    ("chosen", "why"),
    [
        (5, ("setting.choice", "games.phrasing")),
        (-1, ("setting.choice", "games.phrasing")),
        (True, ("setting.format", "games.phrasing")),
        ("full", ("setting.format", "games.phrasing")),
        ({"chess": 9}, ("setting.choice", "games.phrasing.chess")),
        ({"chest": 1}, ("setting.choice", "games.phrasing.chest")),
        ({"Chess": 1, "chess": 2}, ("setting.duplicate", "games.phrasing")),
        ("nowhere:words", ("extension.import", "games.phrasing")),
        (f"{HERE}:broken", ("extension.failed", "games.phrasing")),
        (f"{HERE}:renamed", ("extension.failed", "games.phrasing")),
        (f"{HERE}:HERE", ("extension.invalid", "games.phrasing")),
    ],
)
def test_what_is_wrong_is_said_once_before_anything_starts(chosen: Any, why: Refusal) -> None:
    (problem,) = wording.problems("games.phrasing", chosen, [CHESS, POKER])
    assert refusal(problem) == why and problem.message.startswith("games.phrasing")


@pytest.mark.parametrize("chosen", [0, 4, {}, {"poker": 2}, f"{HERE}:shouted"])
def test_what_is_right_is_not_complained_of(chosen: Any) -> None:
    assert not [*wording.problems("games.phrasing", chosen, [CHESS, POKER])]


def test_what_fails_in_a_match_says_whose_fault_it_is() -> None:
    with refused("extension.failed", "games.phrasing"):
        Wording(f"{HERE}:broken").of("chess")(SEEN)
    with refused("setting.choice", given=7):
        Wording(7).of("chess")


@pytest.mark.parametrize(
    ("chosen", "same", "said"),
    [
        ({}, 0, ""),
        (0, 0, ""),
        ({"Chess": 0}, 0, ""),
        (2, 2, "phrasing 2 (full)"),
        ({"Liar's Dice": 1, "chess": 0}, {"liars_dice": 1}, "phrasing 1 (terse) in liars_dice"),
        ("mine:words", "mine:words", "the words of mine:words"),
    ],
)
def test_the_same_words_are_known_again(chosen: Any, same: Any, said: str) -> None:
    assert wording.resolved(chosen) == same
    assert wording.told(chosen) == said
