"""Settings of a suite and of all its parts, checked before anything starts; its plan."""

import json
from pathlib import Path

import pytest
from command import run_command
from refusals import assert_among, refusal, refusals
from suites import SMALL, roster

from raybench.config.suite import PARTS, SuiteConf, problems
from raybench.errors import Problem

TWO = roster([0.2, 0.8])


def refused(folder: Path, *settings: str) -> list[Problem]:
    done = run_command(*SMALL, *TWO, *settings, "--json", cwd=folder)
    assert done.returncode == 2, done.stdout
    assert not (folder / "runs").exists() and "Traceback" not in done.stderr
    return [Problem(**it) for it in json.loads(done.stdout)["error"]["problems"]]


def test_what_is_wrong_with_any_part_is_told_at_once(tmp_path: Path) -> None:
    told = refused(tmp_path, "index.limit=0", "games.tries=0", "autobench.iterations=0")
    for setting in ("index.limit", "games.tries", "autobench.iterations"):
        assert_among(told, "setting.range", setting, given=0)


def test_an_exam_without_a_judge_is_refused_or_left_out(tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, "hle.judges=[]")
    assert refusal(problem) == ("setting.missing", "hle.judges")
    assert "suite.parts=[index,autobench,games]" in (problem.fix or "")


def test_parts_that_one_model_cannot_play_are_named(tmp_path: Path) -> None:
    told = refused(tmp_path, *roster([0.5]))
    assert refusals(told) == [("setting.range", "roster.models")] * 2
    for part, problem in zip(("autobench", "games"), told, strict=True):
        assert problem.message.startswith(f"{part} ")
    assert any("suite.parts=[index,hle,games]" in (it.fix or "") for it in told)


def test_parts_and_tables_are_checked(tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, "suite.parts=[gmaes]")
    assert refusal(problem) == ("setting.choice", "suite.parts")
    assert problem.given == "gmaes" and "'games'" in (problem.fix or "")
    (problem,) = refused(tmp_path, "suite.external.x=x.csv")
    assert refusal(problem) == ("file.missing", "suite.external.x")
    assert "'x.csv'" in problem.message
    assert_among(refused(tmp_path, "hle.validate=true"), "setting.conflict", "hle.validate")


@pytest.mark.parametrize("name", [*PARTS, "consensus"])
def test_a_table_is_not_called_as_one_of_our_rankings(name: str) -> None:
    (told,) = problems(SuiteConf(external={name: "t.csv", "other": "t.csv"}), ())
    assert (told.code, told.setting) == ("setting.conflict", f"suite.external.{name}")


def test_the_plan_has_all_parts_and_their_sum(tmp_path: Path) -> None:
    done = run_command(*SMALL, *TWO, "dry_run=true", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for line in (
        "Experiment  suite",
        "Units       4 parts",
        "24 units, 16 units, 6 iterations, 24 matches",
        *(f"Experiment  {name}" for name in ("index", "hle", "autobench", "games")),
    ):
        assert line in done.stdout
    assert not (tmp_path / "runs").exists()


def test_parts_can_be_chosen(tmp_path: Path) -> None:
    done = run_command(*SMALL, *TWO, "parts=[games,hle]", "dry_run=true", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Units       2 parts" in done.stdout and "Experiment  index" not in done.stdout
