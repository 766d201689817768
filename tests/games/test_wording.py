"""In which words players are told things, as somebody chose them."""

import pickle
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench import games
from raybench.errors import ConfigurationError, RunFailed
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
        (5, "chess has no phrasing 5"),
        (-1, "chess has no phrasing -1"),
        (True, "True is no phrasing"),
        ("full", "'full' is no phrasing"),
        ({"chess": 9}, "games.phrasing.chess: chess has no phrasing 9"),
        ({"chest": 1}, "unknown game 'chest'"),
        ({"Chess": 1, "chess": 2}, "which are one game"),
        ("nowhere:words", "the phrasing 'nowhere:words' cannot be had"),
        (f"{HERE}:broken", "failed at 'move' of white (ValueError: no words)"),
        (f"{HERE}:renamed", "with its role, action, form"),
        (f"{HERE}:HERE", "is no function of an observation"),
    ],
)
def test_what_is_wrong_is_said_once_before_anything_starts(chosen: Any, why: str) -> None:
    (problem,) = wording.problems("games.phrasing", chosen, [CHESS, POKER])
    assert why in problem and problem.startswith("games.phrasing")


@pytest.mark.parametrize("chosen", [0, 4, {}, {"poker": 2}, f"{HERE}:shouted"])
def test_what_is_right_is_not_complained_of(chosen: Any) -> None:
    assert not [*wording.problems("games.phrasing", chosen, [CHESS, POKER])]


def test_what_fails_in_a_match_says_whose_fault_it_is() -> None:
    with pytest.raises(RunFailed, match="mend the function"):
        Wording(f"{HERE}:broken").of("chess")(SEEN)
    with pytest.raises(ConfigurationError, match="chess has no phrasing 7"):
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
