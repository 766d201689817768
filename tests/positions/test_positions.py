"""What holds for all positions that are shipped."""

import random
import sys
from itertools import islice
from pathlib import Path

import pytest

from raybench import positions
from raybench.errors import ConfigurationError
from raybench.games import MANAGER
from raybench.positions.parts.contract import Split, home, relative, shown

EVERY = positions.names()
SPLITS: tuple[Split, Split] = ("train", "validation")
OWN = """
from raybench import games
from raybench.positions import Positions

def draw(rng):
    return games.load("chess").new(rng.getrandbits(32))

OPENINGS = Positions("openings", "chess", draw, lambda state, move: float(move == "d4"))
NOTHING = 3
"""


@pytest.mark.parametrize("name", EVERY)
def test_a_player_is_to_move_and_every_move_has_a_score(name: str) -> None:
    of = positions.load(name)
    assert of.name == name
    for state in islice(of.drawn(3, "train"), 6):
        assert state.to_move not in (None, MANAGER)
        rng = random.Random(1)
        moves = [*(state.legal() or ())[:40], state.good(rng), state.sample(rng)]
        scores = [of.score(state, move) for move in moves]
        assert all(0 <= it <= 1 for it in scores)
        if state.legal() is not None:
            assert max(of.score(state, it) for it in state.legal() or ()) == 1
            assert of.score(state, "no move of this game") == 0
        assert of.score(state, "") == 0


@pytest.mark.parametrize("name", EVERY)
def test_a_seed_draws_the_same_again_and_no_position_is_in_both_splits(name: str) -> None:
    of = positions.load(name)

    def some(seed: int, split: Split) -> list[str]:
        return [shown(state) for state in islice(of.drawn(seed, split), 12)]

    assert some(1, "train") == some(1, "train") != some(2, "train")
    for split in SPLITS:
        views = [*some(1, split), *some(2, split)]
        assert len({*some(1, split)}) == 12, "none comes twice"
        assert {home(view) for view in views} == {split}, "whatever the seed"


def test_where_a_value_lies_between_the_worst_and_the_best() -> None:
    assert relative(2.0, [0.0, 4.0, 2.0]) == 0.5
    assert relative(3.0, [3.0, 3.0]) == 1.0


def test_names_may_be_spelled_otherwise_and_unknown_ones_are_told() -> None:
    assert positions.load("Chess Material") is positions.load("chess_material")
    with pytest.raises(ConfigurationError, match="Did you mean 'chess_material'"):
        positions.load("chess_materials")


def test_ones_own_are_found_by_their_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_positions.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    of = positions.load("own_positions:OPENINGS")
    (state,) = islice(of.drawn(1, "validation"), 1)
    assert (of.score(state, "Ke9"), of.name) == (0, "openings")
    with pytest.raises(ConfigurationError, match="'own_positions:NOTHING' is no set of positions"):
        positions.load("own_positions:NOTHING")
