"""A model whose endpoint is gone for good, in the middle of a run, from the command line."""

import csv
import json
from pathlib import Path

import pytest
from helpers import last_run, results_of, with_store
from in_process import run_here
from leaving import Leaving, matches


@pytest.mark.slow
def test_what_can_be_played_is_told_and_the_rest_later(tmp_path: Path) -> None:
    folder = with_store(tmp_path / "runs")
    with Leaving() as server:
        models = ", ".join(
            f"{{name: {name}, engine: openai, weights: {name},"
            f" options: {{base_url: '{server.url}'}}}}"
            for name in "abc"
        )
        command = ("+experiment=games", "games.names=[liars_dice]", "games.matches=60",
                   "games.bootstrap=0", "games.at_once=6", f"roster.models=[{models}]")  # fmt: skip
        first = run_here(*command, "games.patience_s=0.5", cwd=folder)
        run = last_run(folder, "games")
        assert first.returncode == 1 and "Traceback" not in first.stderr
        assert "Waiting for c, " in first.stderr
        assert " c (" in first.stderr
        assert not (run / "results.json").exists(), "they would end it"
        played = matches(run)
        assert sum("c" not in it["seats"].values() for it in played) == 20
        assert not any(it["void"] for it in played)
        left = {
            row["model"]: float(row["games/unplayed"])
            for row in csv.DictReader((run / "leaderboard.csv").open())
        }
        # Each of three pairs meets 20 times, and any of its matches may come before c goes.
        assert left == {
            model: 40 - sum(model in it["seats"].values() for it in played) for model in "abc"
        }
        failed = {
            row["model"]: int(row["infra_error"])
            for row in csv.DictReader((run / "leaderboard.csv").open())
        }
        assert failed["a"] == failed["b"] == 0 and failed["c"] >= 30, "three of each void match"
        (failure,) = map(json.loads, (run / "failures.jsonl").read_text().splitlines())
        assert failure["model"] == "c" and "such model" in failure["why"]
        told = (run / "leaderboard.md").read_text()
        assert "Not played" in told and "Incomplete" in told and "Not played" in first.stdout
        assert "incomplete" in (run / "report.html").read_text().lower()

        server.gone = False
        again = run_here(*command, "games.patience_s=99", cwd=folder)
    assert again.returncode == 0, again.stderr
    assert last_run(folder, "games") == run
    assert sorted(it["match"] for it in matches(run)) == [*range(1, 61)]
    assert matches(run)[: len(played)] == played
    assert "games/unplayed" not in results_of(folder, "games")["models"]["c"]
    assert "Incomplete" not in (run / "leaderboard.md").read_text()
