"""Whole games that were kept are played again, and everything that was asked is asked again."""

from typing import Any

import pytest
from games import playthroughs

from raybench import games
from raybench.games.parts.conformance import replayed

EVERY = [(name, it) for name in games.names() for it in playthroughs.stored(name)]


@pytest.mark.parametrize("name", games.names())
def test_every_game_has_some(name: str) -> None:
    assert len(playthroughs.stored(name)) >= 2


@pytest.mark.parametrize(("name", "kept"), EVERY)
def test_moves_lead_where_they_led(name: str, kept: dict[str, Any]) -> None:
    state = games.load(name).new(kept["seed"], **kept["rules"])
    assert {role: state.observe(role).rules for role in state.roles} == kept["told"]
    for turn in kept["turns"]:
        assert state.to_move == turn["role"]
        assert playthroughs.asked(state, turn["role"]) == turn["asked"]
        state = state.apply(turn["move"])
    assert (state.over, state.scores(), state.outcome) == (True, kept["scores"], kept["outcome"])
    moves = [turn["move"] for turn in kept["turns"]]
    assert replayed(games.load(name), kept["seed"], moves, **kept["rules"]) == state
