"""Review sheets handed in from the command line: no model is asked, and none is listed."""

import json
from pathlib import Path

import pytest
from helpers import raybench
from refusals import refused
from screening import configured, fill, rows, screened
from statements import code, the

from raybench import cli
from raybench.config import Config
from raybench.errors import ConfigurationError
from raybench.experiments import hle_screen
from raybench.experiments.parts import recording
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
    assert results["run"]["deviations"] == []
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


def blank(folder: Path) -> tuple[str, str]:
    """Screen a candidate; return its sheet as it was written, and the setting of the dataset."""
    config = configured(folder, rows("a"), private=0.0)
    _, run = screened(config, {"a": "ww"})
    return str(run / "review.csv"), f"dataset={config.hle_screen.dataset}"


@pytest.mark.parametrize("known", [True, False], ids=["another dataset", "no dataset"])
def test_sheets_of_another_dataset_are_refused(tmp_path: Path, known: bool) -> None:
    sheet, _ = filled_in(tmp_path)
    other = configured(tmp_path, rows("z"), private=0.0, dataset=str(tmp_path / "other"))
    if known:
        screened(other, {"z": "ww"})
    given = other.hle_screen.dataset
    with refused(
        "data.missing", "hle_screen.dataset", given=given, kind=ConfigurationError
    ) as caught:
        hle_screen.plan(asked_for(f"reviewed=[{sheet}]", f"dataset={given}"))
    (problem,) = caught.value.problems
    assert sheet in problem.text and given in problem.text
    assert "dataset=FOLDER" in (problem.fix or "")


def test_one_sheet_of_the_dataset_is_enough(tmp_path: Path) -> None:
    sheet, dataset = filled_in(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    other = configured(tmp_path / "elsewhere", rows("z"), private=0.0)
    _, run = screened(other, {"z": "ww"})
    plan = hle_screen.plan(asked_for(f"reviewed=[{sheet},{run / 'review.csv'}]", dataset))
    assert the("screening.reviews", plan.notes)["left_alone"] == ["z"]


def test_a_sheet_that_nobody_filled_in_is_refused(tmp_path: Path) -> None:
    sheet, dataset = blank(tmp_path)
    with refused(
        "data.unreviewed", "hle_screen.reviewed", given=[sheet], kind=ConfigurationError
    ) as caught:
        hle_screen.plan(asked_for(f"reviewed=[{sheet}]", dataset))
    (problem,) = caught.value.problems
    assert sheet in problem.text
    # With one that is filled in it is a reviewer who has not spoken yet.
    filled = fill(Path(sheet), {"a": "accept 4"})
    plan = hle_screen.plan(asked_for(f"reviewed=[{sheet},{filled}]", dataset))
    assert the("screening.reviews", plan.notes)["states"] == {"first_round": 1}


def test_mlflow_is_told_no_roster_where_no_model_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "_git", lambda *_: "")
    sheet, dataset = blank(tmp_path)
    config = asked_for(f"reviewed=[{fill(Path(sheet), {'a': 'accept 4'})}]", dataset)
    plan = hle_screen.plan(config)
    assert not plan.models
    assert "roster" not in recording.params(config, plan)
    assert "roster" not in recording.tags(config, plan, {}, run="a-b-c", text="")


@pytest.mark.process
def test_a_hand_in_that_would_change_nothing_leaves_nothing(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    sheet, dataset = blank(there)
    here = tmp_path / "here"
    here.mkdir()
    for arguments in ([dataset], []):  # the default dataset is none of the sheet's
        done = raybench(
            "+experiment=hle_screen", f"reviewed=[{sheet}]", *arguments, "tracking=none", cwd=here
        )
        assert done.returncode == 2, done.stderr
        assert done.stderr.count(sheet) == 2 - len(arguments), "both mistakes are told at once"
        assert list(here.iterdir()) == []
