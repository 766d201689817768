"""Kept games are played again: moves lead where they led, and prompts are as reviewed."""

from typing import Any

import pytest
from games import playthroughs

from raybench import games
from raybench.games.parts import conformance

EVERY = [(name, it) for name in games.names() for it in playthroughs.stored(name)]


@pytest.mark.parametrize("name", games.names())
def test_every_game_has_some(name: str) -> None:
    assert len(playthroughs.stored(name)) >= 2


@pytest.mark.parametrize(("name", "kept"), EVERY)
def test_moves_lead_where_they_led(name: str, kept: dict[str, Any]) -> None:
    states = playthroughs.replayed(name, kept)
    moves = [turn["move"] for turn in kept["turns"]]
    for state, turn in zip(states, kept["turns"], strict=False):
        assert {**playthroughs.seen(state), "move": turn["move"]} == turn
    last = states[-1]
    assert (last.over, last.scores(), dict(last.parts)) == (True, kept["scores"], kept["parts"])
    again = conformance.replayed(games.load(name), kept["seed"], moves, **kept["rules"])
    assert again == last


@pytest.mark.parametrize("name", games.names())
def test_players_are_told_what_was_reviewed(name: str) -> None:
    now, before = playthroughs.prompts(name), playthroughs.stored_prompts(name)
    if now != before:
        pytest.fail(f"the prompts of {name} changed: `make goldens`, then review the difference")
