"""Compiled players in a tournament: found by the key, told of, and part of what a run is."""

from pathlib import Path
from typing import Any

import pytest
from refusals import refused
from statements import the, values

from raybench import cli
from raybench.config import Config
from raybench.errors import ConfigurationError
from raybench.experiments.games import manners, optimised, planning, setup
from raybench.experiments.optimise_players import setup as learning
from raybench.pipeline import compiled

pytest.importorskip("dspy", reason="programs need DSPy")

TWO = "roster.models=[{name: a, engine: simulated}, {name: b, engine: simulated}]"
DICE = ("names=[liars_dice,gandalf,chess]", "optimise_players.positions=[liars_dice_odds]")
STATE: dict[str, Any] = {
    "traces": [],
    "train": [],
    "demos": [],
    "signature": {"instructions": "Win.", "fields": [{"prefix": "x", "description": "y"}] * 5},
    "lm": None,
}
GAIN = {"gain": {"value": 0.25, "ci95": [0.1, 0.4]}}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def config(*given: str) -> Config:
    arguments = ["+experiment=games", TWO, *DICE, *given]
    return cli.check(cli.compose(cli.with_tables(cli.own_roster(cli.at_home(arguments)))))


def kept(conf: Config, model: str, **changed: Any) -> Path:
    """Put a player where games look for it."""
    about = learning.about(conf, model, "liars_dice_odds")
    made = {"model": model, "held_out": GAIN}
    folder = Path(conf.optimise_players.folder)
    return compiled.keep(folder, model, about, made, {**STATE, **changed})


def test_who_was_compiled_plays_so_and_games_without_positions_are_played_plainly() -> None:
    conf = config("strategies.a=optimised")
    with refused("player.missing", "games.strategy", kind=ConfigurationError) as caught:
        planning.plan(conf)
    assert " 1 players" in str(caught.value) and ": a, liars_dice" in str(caught.value)
    path = kept(conf, "a")
    by = manners.manners(conf)
    said = by["a"]["liars_dice"]["player_1"]
    assert said.startswith(f"program module=predict compiled={path.name}@")
    assert by["a"]["chess"]["white"] == by["a"]["gandalf"]["sentinel"] == "program module=predict"
    assert {*by["b"]["liars_dice"].values()} == {"direct"}
    told = "\n".join(planning.plan(conf).notes)
    assert f"a, liars_dice: {path.name}, gain +0.250 [+0.10, +0.40]" in told
    without = [values(it) for it in optimised.told(conf, setup.chosen(conf)) if " gain " not in it]
    assert {"model": "a", "game": "chess"} in without and "b, chess" not in told


def test_other_rules_than_those_learned_by_are_told() -> None:
    conf = config("strategies.a=optimised", "rules.liars_dice.wild=true")
    kept(conf, "a")
    by_own_rules = the("players.own_rules", optimised.told(conf, setup.chosen(conf)))
    assert by_own_rules == {"model": "a", "game": "liars_dice"}


def test_a_run_is_known_by_what_the_files_hold() -> None:
    conf = config("strategies.a=optimised")
    assert manners.inputs(config()) == {}
    kept(conf, "a")
    before = manners.inputs(conf)
    path = kept(conf, "a", demos=[{"view": "x", "move": "call"}])
    assert before and manners.inputs(conf) != before
    named = config(f"strategies.a={{use: program, compiled: {path}}}")
    first = manners.inputs(named)
    path.write_text(path.read_text() + " ")
    assert first != manners.inputs(named) != {}, "however they are named"


def test_two_sets_for_the_same_moves_are_one_too_many(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "own_dice.py").write_text(
        "from raybench import games\n"
        "from raybench.positions import Positions\n"
        "DICE = Positions('dice', 'liars_dice',\n"
        "    lambda rng: games.load('liars_dice').new(rng.getrandbits(32)),\n"
        "    lambda state, move: 0.5)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    both = "optimise_players.positions=['own_dice:DICE',liars_dice_odds]"
    setting = "optimise_players.positions"
    with refused("setting.conflict", setting, kind=ConfigurationError) as caught:
        planning.plan(config("strategies.a=optimised", both))
    assert "'dice'" in str(caught.value) and "'liars_dice_odds'" in str(caught.value)
    quiz = ("strategies.a=optimised", "names=[mathquiz]", "optimise_players.train=2")
    sets = "optimise_players.positions=[mathquiz_pose,mathquiz_solve]"
    with refused("player.missing", "games.strategy", kind=ConfigurationError) as caught:
        planning.plan(config(*quiz, sets))
    assert " 2 players" in str(caught.value)
