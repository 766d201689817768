"""Review sheets handed in from the command line: no model is asked, and none is listed."""

import json
from pathlib import Path

import pytest
from helpers import raybench
from screening import configured, fill, rows, screened
from statements import code

from raybench import cli
from raybench.config import Config
from raybench.experiments import hle_screen
from raybench.tracking.leaderboard import alarms
from raybench.tracking.plan import describe
from raybench.types import Plan


def asked_for(*overrides: str) -> Config:
    """Check what a command line without a roster says."""
    named = ["+experiment=hle_screen", "runs_dir=/tmp/none", "dry_run=true", *overrides]
    return cli.check(cli.compose(cli.with_tables(cli.own_roster(cli.at_home(named)))))


def filled_in(folder: Path) -> tuple[str, str]:
    """Screen two candidates; return a sheet with both rounds, and the setting of the dataset."""
    config = configured(folder, rows("a", "b"), private=0.0)
    _, run = screened(config, dict.fromkeys("ab", "ww"))
    both = dict.fromkeys("ab", "accept 4")
    return fill(run / "review.csv", both, both), f"dataset={config.hle_screen.dataset}"


def test_the_plan_of_a_hand_in_has_no_model_and_no_engine(tmp_path: Path) -> None:
    sheet, dataset = filled_in(tmp_path)
    plan: Plan = hle_screen.plan(asked_for(f"reviewed=[{sheet}]", dataset))
    assert (plan.models, plan.referees, plan.engines) == ((), (), ())
    assert (plan.slots, plan.units, plan.ray, plan.cluster) == (0, 0, False, ())
    assert "smollm2" not in describe(plan) and "embedded" not in describe(plan)


def test_models_that_cannot_be_started_do_not_hinder_a_hand_in(tmp_path: Path) -> None:
    sheet, dataset = filled_in(tmp_path)
    gone = f"roster.models=[{{name: gone, weights: {tmp_path}/nowhere}}]"
    plan = hle_screen.plan(asked_for(f"reviewed=[{sheet}]", dataset, gone, "judges=[nobody]"))
    assert plan.models == ()


def test_an_audit_alone_asks_no_model(tmp_path: Path) -> None:
    sheet, dataset = filled_in(tmp_path)
    screened(configured(tmp_path, None, reviewed=[sheet], judges=[]), {})
    plan = hle_screen.plan(asked_for("audit=1", dataset))
    assert (plan.models, plan.engines) == ((), ())


@pytest.mark.process
def test_the_report_of_a_hand_in_lists_no_model(tmp_path: Path) -> None:
    sheet, dataset = filled_in(tmp_path)
    done = raybench(
        *("+experiment=hle_screen", f"reviewed=[{sheet}]", dataset, "tracking=none"), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    run = max((tmp_path / "runs" / "hle_screen").glob("*-*"))
    results = json.loads((run / "results.json").read_text())
    assert (results["run"]["roster"], results["run"]["judges"], results["models"]) == (None, [], {})
    assert results["run"]["screening"]["revision"] == 1
    # The panel was simulated, and the hand-in says so where its results begin.
    (alarm,) = alarms(results)
    assert code(alarm) == "alarm.simulated_screening"
    assert done.stdout.lstrip().startswith(alarm)
    assert alarm in (run / "leaderboard.md").read_text()
    for name in ("report.html", "leaderboard.md"):
        text = (run / name).read_text()
        assert not any(it in text for it in ("smollm2", "embedded", "temperature"))
    page = (run / "report.html").read_text()
    assert 'aria-label="Leaderboard"' not in page, "there is no model to list"
    assert "hle_screen.cache" not in page
    assert "smollm2" not in done.stdout + done.stderr
