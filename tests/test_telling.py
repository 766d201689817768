"""What scripts and programs get, in one process: a path, a JSON document, events, exit codes."""

import io
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import SIMULATED, only_run
from in_process import without_plots
from refusals import json_refusals

from raybench import cli
from raybench.tracking.console import modes, telling

DRY = ["roster=simulated", "data=samples", "dry_run=true"]
PLANNED = {
    "autobench_biases": ["+experiment=autobench_biases", "dry_run=true"],
    "hle": ["+experiment=hle", "hle.judges=[sim-judge]", *DRY],
    "hle_screen": ["+experiment=hle_screen", *DRY],
    "serve": ["+experiment=serve", "dry_run=true"],
}


@pytest.fixture(autouse=True)
def restored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(modes, "_mode", "auto")
    monkeypatch.setattr(telling, "_ending", telling._Ending())
    with without_plots():
        yield


def job(*arguments: str, mode: str) -> int:
    return cli._job(cli.compose([*arguments, f"console.mode={mode}"]))


def events(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.usefixtures("known_python")
@pytest.mark.parametrize("name", [*cli.experiments()])
def test_every_plan_is_one_document(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    given = PLANNED.get(name, [f"+experiment={name}", *DRY])
    code = job(*given, mode="json")
    said = capsys.readouterr()
    document = json.loads(said.out)
    assert said.out.count("\n") == 1
    assert document["exit_code"] == code
    if code == 0:
        assert document["error"] is None
        assert document["plan"]["experiment"] == name
        assert {"models", "engines", "slots", "units", "calls", "notes"} <= set(document["plan"])
    else:  # hle_screen has no candidates here, which is said
        assert name == "hle_screen"
        assert document["error"]["kind"] == "ConfigurationError"
        assert json_refusals(document) == [
            ("setting.missing", "hle_screen.candidates"),
            ("setting.conflict", "data"),
        ]
    for event in events(said.err):
        assert {"event", "time"} <= set(event)


@pytest.mark.usefixtures("known_python")
@pytest.mark.parametrize("name", ["autobench", "games", "index"])
def test_a_quiet_plan_is_only_an_exit_code(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert job(f"+experiment={name}", *DRY, mode="quiet") == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.slow
@pytest.mark.mlflow
def test_the_document_of_a_run_is_its_results_and_where_all_lies(
    ready: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ready)
    assert job(*SIMULATED, "autobench.iterations=3", mode="json") == 0
    said = capsys.readouterr()
    document = json.loads(said.out)
    folder = only_run(ready)
    results = json.loads((folder / "results.json").read_text())
    assert {name: document[name] for name in results} == results
    assert set(document) - set(results) == {"exit_code", "error", "paths"}
    paths = document["paths"]
    assert paths["folder"] == str(folder)
    for name in ("results", "report", "leaderboard"):
        assert Path(paths[name]).is_file()
    assert "mlflow" in paths["mlflow"] and paths["sync"] is None
    told = events(said.err)
    assert {it["event"] for it in told} == {"run", "note", "progress"}
    last = told[-1]
    assert (last["done"], last["total"], last["unit"]) == (3, 3, "iterations")
    assert {"asking", "concluding", "writing"} <= set(last["stages_s"])
    assert set(last["models"]) == set(results["models"])
    for model in last["models"].values():
        assert (model["done"], model["total"], model["errors"]) == (3, 3, 0)
        assert model["calls"] > 0


QUICK = {
    "autobench_biases": ["autobench_biases.seeds=2", "autobench_biases.iterations=5"],
    "games": ["roster=simulated", "games.matches=12", "games.names=[chess]"],
    "autobench_ablations": ["roster=simulated", "autobench.iterations=2"],
}
"""Experiments that stand-ins are through with in no time, each of other units."""


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_every_experiment_is_followed_and_ends_in_one_document(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert job(f"+experiment={name}", *QUICK[name], mode="json") == 0
    said = capsys.readouterr()
    document = json.loads(said.out)
    assert document["run"]["experiment"] == name
    paths = document["paths"]
    assert json.loads(Path(paths["results"]).read_text())["run"] == document["run"]
    # These runs leave MLflow for later: who reads the document is told how.
    assert paths["mlflow"] is None
    assert paths["sync"].endswith(f"tracking sync runs/{name}/{Path(paths['folder']).name}")
    last = [it for it in events(said.err) if it["event"] == "progress"][-1]
    assert last["done"] == last["total"] > 0
    if name != "autobench_biases":  # whose models are those of no roster
        ranked = {it: last["models"][it] for it in document["models"] if it in last["models"]}
        assert ranked or name == "autobench_ablations"
        assert all(0 < it["done"] <= (it["total"] or last["total"]) for it in ranked.values())


@pytest.mark.slow
def test_a_quiet_run_leaves_the_path_of_its_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert job(*SIMULATED, "autobench.iterations=3", mode="quiet") == 0
    said = capsys.readouterr()
    assert said.out == f"{only_run(tmp_path) / 'results.json'}\n"
    assert said.err == ""
    # The same run in another mode: it is finished, and a new one is made as ever.
    assert job(*SIMULATED, "autobench.iterations=3", mode="json") == 0
    marks = {run.name.rpartition("-")[2] for run in (tmp_path / "runs" / "autobench").iterdir()}
    assert len(marks) == 1


def test_a_mistake_is_an_error_in_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert job(*SIMULATED, "autobench.iterations=0", mode="json") == 2
    said = capsys.readouterr()
    document = json.loads(said.out)
    assert document["exit_code"] == 2
    assert document["error"]["kind"] == "ConfigurationError"
    assert "autobench.iterations" in document["error"]["message"]
    (event,) = events(said.err)
    assert (event["event"], event["exit_code"]) == ("error", 2)


def test_a_mistake_is_told_in_quiet_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert job(*SIMULATED, "autobench.iterations=0", mode="quiet") == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("raybench: autobench.iterations")


def test_warnings_are_told_in_quiet_and_are_events_in_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    gone, shown = (f"somebody {it}[2Jis gone" for it in ("\x1b", "\ufffd"))
    modes.use("quiet")
    telling.say("Run here")
    telling.warn(gone)
    assert capsys.readouterr().err == f"warning: {shown}\n"
    modes.use("json")
    telling.say("Run here")
    telling.warn(gone)
    note, warning = events(capsys.readouterr().err)
    assert (note["event"], note["text"]) == ("note", "Run here")
    assert (warning["event"], warning["text"]) == ("warning", gone)


def test_of_several_runs_the_last_is_the_commands_own(capsys: pytest.CaptureFixture[str]) -> None:
    modes.use("json")
    telling.begin()
    for name in ("index", "hle", "suite"):
        telling.came_to({"run": {"experiment": name}}, {"folder": Path("runs") / name})
    telling.end(0)
    document = json.loads(capsys.readouterr().out)
    assert document["run"]["experiment"] == "suite"
    assert [it["experiment"] for it in document["parts"]] == ["index", "hle"]
    assert document["parts"][0]["paths"] == {"folder": str(Path("runs/index").absolute())}


@pytest.mark.parametrize("mode", ["json", "quiet"])
def test_a_part_is_not_told_as_the_suite_that_was_interrupted(
    mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    modes.use(mode)
    telling.begin()
    suite, part = Path("runs/suite/S"), Path("runs/suite/S/parts/index/P")
    telling.began(suite)
    telling.began(part)
    paths = {"folder": part, "results": part / "results.json"}
    telling.came_to({"run": {"experiment": "index"}, "models": {"a": 1}}, paths)
    telling.began(Path("runs/suite/S/parts/hle/Q"))
    telling.end(130, kind="interrupted")
    said = capsys.readouterr().out
    if mode == "quiet":
        assert said == ""
        return
    document = json.loads(said)
    assert "run" not in document and "models" not in document
    assert document["paths"] == {"folder": str(suite.absolute())}
    assert [it["experiment"] for it in document["parts"]] == ["index"]


def test_what_nobody_foresaw_is_a_document_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(config: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("raybench.experiments.autobench.plan", broken)
    with pytest.raises(ZeroDivisionError):
        job(*SIMULATED, "dry_run=true", mode="json")
    document = json.loads(capsys.readouterr().out)
    assert document["exit_code"] == 1
    assert document["error"] == {"kind": "ZeroDivisionError", "message": "division by zero"}


@pytest.mark.slow
def test_a_run_that_fails_says_in_quiet_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from raybench.errors import Problem, RunFailed
    from raybench.experiments.parts.session import Session

    def full(self: Session, *records: object, **counts: object) -> None:
        raise RunFailed(Problem("file.unwritable", "the disk is full", fix="Make room"))

    monkeypatch.setattr(Session, "keep", full)
    monkeypatch.chdir(tmp_path)
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    assert job(*SIMULATED, "autobench.iterations=3", mode="quiet") == 1
    assert out.getvalue() == ""
    first, last = err.getvalue().splitlines()
    assert "runs/autobench/" in first and "0 of 3" in first
    problem = Problem("file.unwritable", "the disk is full", fix="Make room")
    assert last == f"raybench: {problem}"
    out.seek(0)
    assert job(*SIMULATED, "autobench.iterations=3", mode="json") == 1
    document = json.loads(out.getvalue())
    error = {"code": "file.unwritable", "setting": None, "given": None, "fix": "Make room"}
    error["message"] = str(problem)
    assert document["error"] == {"kind": "RunFailed", **error, "problems": [error]}
    assert Path(document["paths"]["folder"]).is_dir()


def test_who_ends_a_command_before_its_run_has_begun_gets_the_document_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def composing(_: list[str]) -> list[str]:
        os.kill(os.getpid(), signal.SIGTERM)
        for _turn in range(1000):  # another thread hears it
            threading.Event().wait(0.02)
        raise AssertionError("it was not heard")

    monkeypatch.setattr(cli, "own_roster", composing)
    monkeypatch.setattr(sys, "argv", ["raybench", *SIMULATED, "--json"])
    try:
        with pytest.raises(SystemExit) as ended:
            cli.main()
    finally:
        signal.signal(signal.SIGTERM, before)
    document = json.loads(capsys.readouterr().out)
    assert ended.value.code == document["exit_code"] == 130
    assert document["error"]["kind"] == "interrupted"
