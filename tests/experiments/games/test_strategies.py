"""Strategies and scripts in a whole run, from the command line on, in this process."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from helpers import last_run, results_of
from in_process import without_plots
from refusals import refused

from raybench import cli, games, players
from raybench.errors import Code, ConfigurationError

TWO = "{name: m8, engine: simulated, options: {ability: 0.8}}"
TWO += ", {name: m3, engine: simulated, options: {ability: 0.3}}"


def composed(settings: Sequence[str], roster: str = TWO) -> Any:
    given = ["+experiment=games", f"roster.models=[{roster}]", "games.bootstrap=0", *settings]
    return cli.compose(cli.with_tables(cli.own_roster(given)))


def run(folder: Path, *settings: str, roster: str = TWO) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patched, without_plots():
        patched.chdir(folder)
        assert cli._job(composed(settings, roster)) == 0
    return results_of(folder, "games")


def journal(folder: Path) -> list[dict[str, Any]]:
    lines = (last_run(folder, "games") / "journal" / "matches.jsonl").read_bytes()
    return [json.loads(line) for line in lines.splitlines()]


@pytest.mark.slow
def test_every_match_names_what_everybody_played_by_and_scripts_are_rated(tmp_path: Path) -> None:
    results = run(
        tmp_path,
        "games.names=[chess,liars_dice]",
        "games.rules.chess.plies=20",
        "games.matches=48",
        "games.strategy={chess: reasoned}",
        "games.strategies.m3={liars_dice: {player_2: {use: best_of_n, n: 3}}}",
        "games.anchors=[random,able]",
    )
    assert {*results["models"]} == {"m8", "m3", "random", "able"}
    assert results["simulated"], "stand-ins took part"
    assert results["run"]["strategies"]["m3"]["liars_dice"] == {
        "player_1": "direct", "player_2": "best_of_n n=3",
    }  # fmt: skip
    records = journal(tmp_path)
    assert len(records) == 48
    played = set[str]()
    calls = {"direct": 1, "reasoned": 2, "best_of_n n=3": 3, "script random": 0, "script able": 0}
    for record in records:
        expected = results["run"]["strategies"]
        for role, model in record["seats"].items():
            assert record["strategies"][role] == expected[model][record["game"]][role]
        for turn in record["turns"]:
            name = record["strategies"][turn["role"]]
            played.add(name)
            assert turn["calls"] == calls[name]
            assert len(turn.get("asides", ())) == max(0, turn["calls"] - 1)
            if turn["calls"] == 0:
                assert turn["tokens"] == turn["seconds"] == 0
    assert played == {*calls}
    folder = last_run(tmp_path, "games")
    board = (folder / "leaderboard.md").read_text()
    assert "random, able" in board
    assert re.search(
        "m3: reasoned; direct .*player_1 .*liars_dice; best_of_n n=3 .*player_2", board
    )
    prompts = (folder / "transcripts" / "prompts.md").read_text()
    assert ": move, reasoned\n" in prompts and "Now decide." in prompts


@pytest.mark.slow
@pytest.mark.parametrize("strategy", players.names())
def test_every_strategy_plays_every_game(tmp_path: Path, strategy: str) -> None:
    """Against scripts, and judged by one from outside."""
    results = run(
        tmp_path,
        f"games.names=[{', '.join(games.names())}]",
        "games.rules.chess.plies=8",
        f"games.matches={2 * len(games.names())}",
        f"games.strategy={strategy}",
        "games.anchors=[random]",
        "games.jury=[judge]",
        "roster.judges=[{name: judge, engine: simulated, options: {ability: 1.0}}]",
        "games.rules.werewolf.players=5",
    )
    counts = results["counts"]
    assert all(of["infra_error"] == of["judge_error"] == 0 for of in counts.values())
    assert sum(of["void"] is None for of in journal(tmp_path)) == 2 * len(games.names())


@pytest.mark.slow
def test_one_model_may_play_against_scripts_alone(tmp_path: Path) -> None:
    alone = "{name: m8, engine: simulated, options: {ability: 0.8}}"
    results = run(
        tmp_path, "games.names=[liars_dice]", "games.matches=40", "games.anchors=[random]",
        roster=alone,
    )  # fmt: skip
    rating = {name: of["games/rating"]["value"] for name, of in results["models"].items()}
    assert rating["m8"] > rating["random"]


@pytest.mark.parametrize(
    ("override", "code", "setting", "given", "named"),
    [
        ("games.anchors=[rndom]", "setting.choice", "games.anchors", "rndom", "'random'"),
        ("games.anchors=[greedy]", "setting.choice", "games.anchors", "greedy", "debate"),
        ("games.anchors=[random,random]", "setting.duplicate", "games.anchors", "random", "2"),
        ("games.strategy=dirct", "setting.choice", "games.strategy", "dirct", "'direct'"),
        ("games.strategies.m9=direct", "setting.choice", "games.strategies.m9", "m9", "m3, m8"),
        (
            "games.strategy={chess: {whte: refine}}",
            "setting.choice", "games.strategy.chess.whte", "whte", "'white'",
        ),
        (
            "games.strategies.m8={use: best_of_n, n: 1}",
            "setting.range", "games.strategies.m8.n", 1, "2 to 64",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_before_anything_starts(
    override: str, code: Code, setting: str, given: object, named: str
) -> None:
    with refused(code, setting, given=given, kind=ConfigurationError) as caught:
        cli.check(composed([override]))
    assert named in str(caught.value)


def test_single_games_are_named_as_other_settings_are() -> None:
    dotted = cli.check(composed(["games.strategy.chess=reasoned", "games.strategy.poker=refine"]))
    assert dotted.games.strategy == {"chess": "reasoned", "poker": "refine"}
    role = cli.check(composed(["games.strategy.gandalf.sentinel={use: best_of_n, n: 3}"]))
    assert role.games.strategy == {"gandalf": {"sentinel": {"use": "best_of_n", "n": 3}}}
    assert cli.check(composed(["games.strategy=reasoned"])).games.strategy == "reasoned"


def test_a_script_has_no_models_name() -> None:
    taken = TWO.replace("m8", "random")
    with refused("setting.conflict", "games.anchors", given="random", kind=ConfigurationError):
        cli.check(composed(["games.anchors=[random]"], taken))


def test_no_roster_has_scripts() -> None:
    setting = "roster.models[].engine"
    with refused("setting.choice", setting, given="scripted", kind=ConfigurationError):
        cli.check(composed([], TWO.replace("simulated", "scripted")))
