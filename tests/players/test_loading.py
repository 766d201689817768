"""Strategies are found by name, with options; one of somebody's own by its import path."""

import pytest
from refusals import Refusal, refused

from raybench import players
from raybench.players.parts.contract import Made

OWN = """
from raybench.players.parts.contract import Made

class Stubborn:
    varies = False

    def __init__(self, word="e4"):
        self.word = word

    async def move(self, decision):
        return Made(self.word, self.word)

class Idle:
    pass

class Waits:
    def move(self, decision):
        return Made("e4", "e4")

WRONG = 1 / 0 if False else None
"""


@pytest.mark.parametrize("name", players.names())
def test_every_strategy_that_is_shipped_loads_and_tells_its_name(name: str) -> None:
    assert players.called(players.load(name)) == name


def test_other_spellings_are_the_same_and_options_are_told() -> None:
    assert players.load("Best of N") == players.load("best_of_n", {"n": 5})
    assert players.called(players.load("best_of_n", {"n": 9})) == "best_of_n n=9"


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "dirct",
            {},
            ("setting.choice", None),
        ),
        ("direct", {"n": 3}, ("setting.unknown", "n")),
        ("best_of_n", {"n": "many"}, ("setting.type", "n")),
        ("refine", {"reviews": 0}, ("setting.range", "reviews")),
    ],
)
def test_what_is_wrong_is_said(name: str, options: dict[str, object], message: Refusal) -> None:
    with refused(*message):
        players.load(name, options)


async def test_ones_own_is_found_where_raybench_is_started(own: str) -> None:
    player = players.load(f"{own}:Stubborn", {"word": "d4"})
    assert await player.move(None) == Made("d4", "d4")  # type: ignore[arg-type]
    assert players.called(player) == "own_loading:Stubborn"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Nobody", ("extension.import", None)),
        ("Idle", ("extension.invalid", None)),
        ("Waits", ("extension.invalid", None)),
        ("WRONG", ("extension.invalid", None)),
    ],
)
def test_what_is_wrong_with_ones_own_is_said(own: str, name: str, message: Refusal) -> None:
    with refused(*message):
        players.load(f"{own}:{name}")
    with refused("extension.import"):
        players.load(f"{own}:Stubborn", {"wrod": "d4"})
