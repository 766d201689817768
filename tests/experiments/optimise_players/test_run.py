"""Players learn in actors of a cluster; what they are is kept, found again, played by, shared."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from flipping import opened
from helpers import last_run, raybench, results_of, with_store
from in_process import run_here
from keyed import check
from shared_runs import SharedRuns
from stopped_runs import kill_at

from raybench.experiments.optimise_players.conclusion import TOLD

pytest.importorskip("dspy", reason="programs need DSPy")
pytestmark = [
    pytest.mark.ray,
    pytest.mark.timeout(400),
    pytest.mark.usefixtures("on_lasting_ray"),
]

ROSTER = (
    "roster.models=[{name: taught, engine: simulated, options: {ability: 0.2, learns: 0.6}}, "
    "{name: stubborn, engine: simulated, options: {ability: 0.4}}]"
)
NAME = "optimise_players"
SETTINGS = ("train=16", "validation=8", "positions=[liars_dice_odds]")


def command(*more: str) -> tuple[str, ...]:
    return f"+experiment={NAME}", ROSTER, *SETTINGS, *more


def marks(folder: Path) -> list[dict[str, Any]]:
    path = last_run(folder, NAME) / "journal" / "marks.jsonl"
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    return [line for line in lines if "phase" in line]


@pytest.fixture(scope="module")
def finished(shared_runs: SharedRuns) -> Path:
    return shared_runs.copy(*command("held_out=80"))


@pytest.fixture
def copied(finished: Path, tmp_path: Path) -> Path:
    """A copy of that folder, to write to."""
    return shutil.copytree(finished, tmp_path / "copied")


def test_positions_that_one_player_plays_better_open_in_the_report(finished: Path) -> None:
    assert opened(last_run(finished, NAME)) > 0


def test_who_learns_gains_and_who_does_not_does_not(finished: Path) -> None:
    results = results_of(finished, NAME)
    taught, stubborn = (results["models"][name] for name in ("taught", "stubborn"))
    gain = taught["liars_dice_odds/gain"]
    assert gain["n"] == 80 and gain["ci95"][0] > 0 and gain["value"] > 0.15
    assert stubborn["liars_dice_odds/gain"]["value"] == 0, "by the same seeds"
    assert results["counts"]["taught"]["ok"] == 160
    run = last_run(finished, NAME)
    told = (run / "leaderboard.md").read_text()
    assert "better: taught, liars_dice_odds" in told
    page = (run / "report.html").read_text()
    assert TOLD in page
    said = page.split(">What this run supports</h2>")[1].split("</section>")[0]
    assert "better: taught, liars_dice_odds" in said and "other 1" in said


def test_mlflow_has_what_results_have(finished: Path) -> None:
    assert all(name.startswith("positions.") for name in check(finished, NAME))


def test_players_are_files_that_say_what_they_are(finished: Path) -> None:
    files = sorted((finished / "runs" / "compiled_players").iterdir())
    assert [it.name.split(".")[0] for it in files] == ["stubborn", "taught"]
    player = json.loads(files[1].read_text())
    assert player["about"]["game"] == "liars_dice" and player["program"]["demos"]
    assert player["made"]["held_out"]["gain"]["value"] > 0.15
    copies = sorted((last_run(finished, NAME) / "players").iterdir())
    assert [it.name for it in copies] == [it.name for it in files], "MLflow has them, too"


def test_games_are_played_by_them_and_say_so(copied: Path) -> None:
    play = (
        "+experiment=games", ROSTER, "names=[liars_dice]", "matches=40",
        "strategies.taught=optimised", *(f"{NAME}.{it}" for it in SETTINGS),
    )  # fmt: skip
    done = raybench(*play, cwd=copied, timeout=300)
    assert done.returncode == 0, done.stderr
    matches = [
        json.loads(line)
        for line in (last_run(copied, "games") / "journal" / "matches.jsonl").open()
    ]
    (file,) = (copied / "runs" / "compiled_players").glob("taught.*")
    for match in matches:
        by = {match["seats"][role]: name for role, name in match["strategies"].items()}
        assert by["taught"].startswith(f"program module=predict compiled={file.name}@")
        assert by["stubborn"] == "direct"
    ratings = results_of(copied, "games")["models"]
    assert ratings["taught"]["games/rating"]["value"] > ratings["stubborn"]["games/rating"]["value"]
    again = run_here(*play, "optimise_players.train=17", cwd=copied)
    assert again.returncode == 2 and "games.strategy: 1 players" in again.stderr


def test_players_are_listed_given_and_taken_and_not_made_twice(
    finished: Path, tmp_path: Path
) -> None:
    shared, players = tmp_path / "shared", "+experiment=compiled_players"
    listed = run_here(players, "models=[taught]", f"give={shared}", cwd=finished)
    assert listed.returncode == 0, listed.stderr
    head, line = listed.stdout.splitlines()
    assert head.startswith("model") and line.startswith("taught  liars_dice  liars_dice_odds")
    (file,) = shared.iterdir()
    other = with_store(tmp_path / "other")
    taken = run_here(players, f"take=[{shared}]", cwd=other)
    assert taken.returncode == 0 and line in taken.stdout
    assert (other / "runs" / "compiled_players" / file.name).read_bytes() == file.read_bytes()
    empty = run_here(players, "names=[chess]", cwd=finished)
    assert "compiled players" in empty.stdout and "(2 " in empty.stdout
    (shared / "wrong.json").write_text("{}")
    wrong = run_here(players, f"take=[{shared}]", cwd=other)
    assert wrong.returncode == 2 and "wrong.json'" in wrong.stderr

    # Whoever has the same model need not make it.
    done = raybench(*command("models=[taught]", "held_out=20"), cwd=other, timeout=300)
    assert done.returncode == 0, done.stderr
    assert " runs/compiled_players/taught." in done.stderr
    assert "compiled before" in done.stdout
    studies = (last_run(other, NAME) / "journal" / "studies.jsonl").read_text().splitlines()
    assert all(json.loads(it)["cached"] for it in studies)
    fleet = results_of(other, NAME)["fleet"]["this_session"]["total"]
    assert fleet["requests"] == 2 * 20, "held-out positions alone"


def test_a_killed_run_goes_on_and_asks_nothing_twice(finished: Path, ready: Path) -> None:
    """The real kill of the journals of studies, while a player learns."""
    given = command("held_out=80", "at_once=2")
    kill_at("marks", 20, *given, cwd=ready)
    kept = marks(ready)
    assert 0 < len(kept) < 320

    done = raybench(*given, cwd=ready, timeout=300)

    assert done.returncode == 0, done.stderr
    assert "Resuming" in done.stderr
    every = marks(ready)
    assert every[: len(kept)] == kept
    assert len({(it["study"], it["phase"], it["place"]) for it in every}) == len(every) == 320
    assert results_of(ready, NAME)["models"] == results_of(finished, NAME)["models"]


def test_who_cannot_be_reached_leaves_the_run_unfinished(ready: Path) -> None:
    roster = ROSTER.replace("ability: 0.4", "ability: 0.4, infra_error: 1.0")
    given = [f"+experiment={NAME}", roster, *SETTINGS, "held_out=10"]
    done = raybench(*given, cwd=ready, timeout=300)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "raybench: stubborn, liars_dice_odds: " in done.stderr
    assert not (last_run(ready, NAME) / "results.json").exists()
    assert "taught" in (last_run(ready, NAME) / "leaderboard.md").read_text()
