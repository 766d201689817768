"""What ends a tournament, from the command line on: matches, tokens, intervals; and what does not.

In this process, on stand-ins.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest
from helpers import last_run, results_of, with_store
from in_process import without_plots
from omegaconf import OmegaConf
from statements import the

from raybench import cli
from raybench.config import Config
from raybench.experiments.games import planning, ratings, setup
from raybench.experiments.parts import session
from raybench.pipeline.run_identity import fingerprint
from raybench.tournament.records import kept

FOUR = ", ".join(
    f"{{name: m{n}, engine: simulated, options: {{ability: 0.{n}}}}}" for n in (4, 5, 6, 7)
)
DICE = ("games.names=[liars_dice]", "games.bootstrap=200")


def config(*settings: str) -> Config:
    return cli.check(_composed(settings))


def _composed(settings: Sequence[str]) -> Any:
    given = ["+experiment=games", f"roster.models=[{FOUR}]", *DICE, *settings]
    return cli.compose(cli.with_tables(cli.own_roster(given)))


def run(folder: Path, *settings: str, engines: bool = True) -> dict[str, Any]:
    """Run the games in a folder, in this process; return its results."""

    def never(*given: object, **more: object) -> NoReturn:
        raise AssertionError("engines are brought up")

    with pytest.MonkeyPatch.context() as patched, without_plots():
        patched.chdir(folder)
        if not engines:
            patched.setattr(session, "open_fleet", never)
        assert cli._job(_composed(settings)) == 0
    return results_of(folder, "games")


def journal(folder: Path) -> list[dict[str, Any]]:
    lines = (last_run(folder, "games") / "journal" / "matches.jsonl").read_bytes()
    records = [json.loads(line) for line in lines.splitlines()]
    return sorted(records, key=lambda record: int(record["match"]))


def widest(folder: Path, results: dict[str, Any]) -> float:
    """Return the widest half of a published interval."""
    ends = [of["games/rating"]["ci95"] for of in results["models"].values()]
    assert len(ends) == 4
    return float(max((high - low) / 2 for low, high in ends))


@pytest.mark.slow
@pytest.mark.parametrize("way", ["swiss", "information"])
def test_pairings_by_results_play_what_is_wanted_and_the_same_again(
    way: str, tmp_path: Path
) -> None:
    settings = ("games.matches=60", f"games.pairing={way}")
    found = []
    for name in ("one", "other"):
        folder = with_store(tmp_path / name)
        results = run(folder, *settings, "games.at_once=50")
        assert results["run"]["stopped"].startswith("60 matches")
        found.append([(it["seed"], it["seats"], it["scores"]) for it in journal(folder)])
    assert len(found[0]) == 60 and found[0] == found[1]


@pytest.mark.slow
def test_spent_tokens_end_it_and_it_is_concluded_as_it_ended(tmp_path: Path) -> None:
    folder = with_store(tmp_path / "runs")
    settings = ("games.matches=5000", "games.budget_tokens=2000", "games.at_once=8")
    results = run(folder, *settings)
    assert "tokens of 2,000 " in results["run"]["stopped"]
    assert 8 < len(journal(folder)) < 1000
    again = run(folder, *settings, "games.bootstrap=100", engines=False)
    assert again["run"]["stopped"] == results["run"]["stopped"]


@pytest.mark.slow
def test_a_budget_that_engines_take_up_leaves_no_finished_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = with_store(tmp_path / "runs")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        assert cli._job(_composed(["games.budget_s=1e-9"])) == 1
    assert "budget" in capsys.readouterr().err.partition("raybench: ")[2]
    assert not (last_run(folder, "games") / "results.json").exists()


@pytest.mark.slow
def test_raised_limits_go_on_from_what_there_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the same run while it is unfinished; of a finished one from a copy of its journals."""
    folder, alone = with_store(tmp_path / "runs"), with_store(tmp_path / "alone")
    runs = folder / "runs" / "games"
    run(folder, "games.matches=12")
    first = last_run(folder, "games")
    (first / "results.json").unlink()
    run(folder, "games.matches=16", "games.at_once=3")
    assert [*runs.iterdir()] == [first]
    before = (first / "results.json").read_bytes()
    capsys.readouterr()
    longer = run(folder, "games.matches=40", "games.pairing='Round Robin'")
    assert f"{first.name} is finished" in capsys.readouterr().err
    assert len([*runs.iterdir()]) == 2 and (first / "results.json").read_bytes() == before
    assert [it["match"] for it in journal(folder)] == [*range(1, 41)]
    assert journal(folder)[:16] == [
        json.loads(it) for it in sorted(
            (first / "journal" / "matches.jsonl").read_bytes().splitlines(),
            key=lambda line: int(json.loads(line)["match"]),
        )
    ]  # fmt: skip
    whole = run(alone, "games.matches=40")
    assert longer["models"] == whole["models"]
    fewer = run(folder, "games.matches=12")
    assert len([*runs.iterdir()]) == 3 and len(journal(folder)) == 12
    assert fewer["run"]["limits"]["games.matches"] == 12


@pytest.mark.slow
def test_limits_below_what_has_begun_are_refused_with_the_mend(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = with_store(tmp_path / "runs")
    run(folder, "games.matches=12")
    (last_run(folder, "games") / "results.json").unlink()
    settings = (last_run(folder, "games") / "config.yaml").read_bytes()
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        assert cli._job(_composed(["games.matches=8"])) == 1
    assert (last_run(folder, "games") / "config.yaml").read_bytes() == settings
    said = capsys.readouterr().err
    assert " 12 matches " in said and " 8 " in said
    assert "resume=false" in said
    assert len(journal(folder)) == 12


def test_limits_that_size_the_rounds_tell_runs_apart() -> None:
    assert setup.limits(config("games.pairing=swiss")) and setup.aside(config())
    for sizing in ("games.pairing=information", "games.narrow=30"):
        assert "games.matches" not in setup.limits(config(sizing))
        assert "games.budget_s" in setup.limits(config(sizing))
        assert not setup.aside(config(sizing))


def test_a_run_is_known_again_however_its_games_are_spelled() -> None:
    def known(*settings: str) -> str:
        composed = OmegaConf.to_container(_composed(settings), resolve=True)
        assert isinstance(composed, dict)
        given = {str(name): of for name, of in composed.items()}
        return fingerprint(setup.resolved(config(*settings), given))

    one = known("games.names=[chess,liars_dice]", "games.weights.chess=2", "games.pairing=swiss")
    other = known("games.names=[Liars Dice,Chess]", "games.weights.Chess=2", "games.pairing=Swiss")
    assert one == other
    assert one != known("games.names=[chess]", "games.weights.chess=2", "games.pairing=swiss")
    spelled = known("games.strategy={Chess: Best of N}", "games.strategies.m4={use: Refine}")
    assert spelled == known("games.strategy={chess: best_of_n}", "games.strategies.m4=refine")
    assert spelled != known("games.strategy={chess: refine}", "games.strategies.m4=refine")
    assert known() == known("games.strategy=direct") != known("games.strategy=refine")


@pytest.mark.slow
def test_narrow_intervals_end_it_and_are_published(tmp_path: Path) -> None:
    """Other weights would have looked otherwise: they conclude what was played all the same."""
    folder = with_store(tmp_path / "runs")
    settings = ("games.names=[liars_dice,chess]", "games.rules.chess.plies=20", "games.narrow=60",
                "games.matches=20000", "games.at_once=40")  # fmt: skip
    results = run(folder, *settings)
    played = len(journal(folder))
    assert "±60 were wanted" in results["run"]["stopped"]
    assert 100 < played < 20000
    assert widest(folder, results) <= 60
    conf = config(*settings)
    found = [kept(it).result for it in journal(folder)]
    seen = ratings.widest(conf, [it for it in found if it is not None])
    assert seen == pytest.approx(widest(folder, results))
    again = run(folder, *settings, "games.weights.chess=0", engines=False)
    assert len(journal(folder)) == played
    assert again["run"]["stopped"] == results["run"]["stopped"]
    assert "chess" not in again["models"]["m4"]["games/rating"]["method"].split("; ")[1]


@pytest.mark.slow
def test_a_run_that_was_killed_after_its_last_match_brings_up_no_engines(tmp_path: Path) -> None:
    folder = with_store(tmp_path / "runs")
    settings = ("games.matches=40", "games.at_once=40")
    before = run(folder, *settings)
    (last_run(folder, "games") / "results.json").unlink()
    after = run(folder, *settings, engines=False)
    assert after["run"]["stopped"] == before["run"]["stopped"]
    assert after["models"] == before["models"]
    assert len([*(folder / "runs" / "games").iterdir()]) == 1


def test_rounds_hold_what_is_played_at_once_but_swiss_ones() -> None:
    def sizes(*settings: str) -> tuple[int, int]:
        of = config(*settings)
        return setup.round_of(of), setup.under_way(of)

    assert sizes("games.matches=4000", "games.at_once=200") == (8, 200)  # they wait for nothing
    assert sizes("games.matches=4000", "games.at_once=200", "games.narrow=30") == (200, 200)
    assert sizes("games.matches=4000", "games.at_once=200", "games.pairing=information") == (
        200,
        200,
    )
    # At most an eighth of all, so that most are chosen by results; and two seats for everybody.
    assert sizes("games.matches=400", "games.at_once=200", "games.pairing=information") == (50, 100)
    assert sizes("games.matches=40", "games.at_once=200", "games.pairing=information") == (8, 16)
    swiss = ("games.matches=4000", "games.at_once=200", "games.pairing=swiss")
    assert sizes(*swiss) == (8, 16)
    at_once = the("plan.at_once", planning.plan(config(*swiss)).notes)
    assert (at_once["pairing"], at_once["matches"]) == ("swiss", 16)
    assert "not 200" in at_once["why"]
    two = (*swiss, "games.names=[liars_dice,chess]")
    assert sizes(*two) == (8, 32)


@pytest.mark.parametrize("way", ["swiss", "information"])
def test_so_many_are_handed_out_as_the_plan_says(way: str) -> None:
    from raybench.tournament.schedule import Schedule

    of = config("games.matches=4000", "games.at_once=200", f"games.pairing={way}")
    schedule = Schedule(setup.matchmaking(of), setup.stop(of, lambda results: None, {}))
    assert len(schedule.take(setup.at_once(of))) == setup.under_way(of)
