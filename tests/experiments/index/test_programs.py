"""Replies that are programs, from the command line: what dies under them, where they may run."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from helpers import path_without, raybench, start_raybench, with_store

from raybench.errors import RaybenchError
from raybench.sandbox import Settings, places

pytestmark = pytest.mark.slow

FOUR = ", ".join(
    f"{{name: m{n}, engine: simulated, options: {{ability: 0.{n}}}}}" for n in (3, 5, 7, 9)
)
INDEX = (
    "+experiment=index",
    "roster=simulated",
    f"roster.models=[{FOUR}]",
    "data=samples",
    "index.benchmarks=[humaneval]",
    "sandbox.slots=1",
)
UNITS = 4 * 12


def run_of(folder: Path) -> Path:
    (run,) = (folder / "runs" / "index").iterdir()
    return run


def results_of(folder: Path) -> Any:
    return json.loads((run_of(folder) / "results.json").read_text())


def journal_of(folder: Path) -> list[Any]:
    journals = folder.glob("runs/index/*/journal/units.jsonl")
    return [json.loads(line) for path in journals for line in path.read_bytes().splitlines()]


@pytest.fixture(scope="module")
def calm(on_lasting_ray: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run under which nothing dies."""
    folder = with_store(tmp_path_factory.mktemp("calm"))
    done = raybench(*INDEX, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.usefixtures("own_ray")
def test_what_dies_under_programs_changes_no_result(calm: Path, ready: Path) -> None:
    disturbed = ready
    process = start_raybench(*INDEX, cwd=disturbed)
    slot = wait_for(process, lambda: journal_of(disturbed) and _slot(process))
    slot.kill()
    again = wait_for(process, lambda: (found := _slot(process)) != slot and found)
    server = wait_for(process, lambda: _server(again))
    wait_for(process, lambda: server.children())  # a program is under way
    server.kill()
    begun = len(journal_of(disturbed))
    told, _ = process.communicate(timeout=90)
    assert process.returncode == 0, told
    assert 0 < begun < UNITS  # it was in the middle of them

    def graded(folder: Path) -> dict[Any, Any]:
        names = ("model", "benchmark", "language", "key", "repeat")
        found = ("response", "answer", "correct", "by", "reason", "judge_error")
        return {tuple(u[n] for n in names): tuple(u[n] for n in found) for u in journal_of(folder)}

    assert len(journal_of(disturbed)) == UNITS
    assert graded(disturbed) == graded(calm)
    assert len(graded(calm)) == UNITS
    assert results_of(disturbed)["models"] == results_of(calm)["models"]
    assert results_of(disturbed)["counts"] == results_of(calm)["counts"]
    assert (run_of(disturbed) / "failures.jsonl").read_text() == ""


def wait_for(process: subprocess.Popen[str], happened: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 90
    while True:
        with suppress(psutil.NoSuchProcess):
            if found := happened():
                return found
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _slot(process: subprocess.Popen[str]) -> psutil.Process | None:
    """Return the process of the one slot of a run."""
    for each in psutil.Process(process.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if each.name().startswith("ray::Slot") and each.status() != psutil.STATUS_ZOMBIE:
                return each
    return None


def _server(slot: psutil.Process) -> psutil.Process | None:
    """Return the server that has taken its first programs."""
    return next((it for it in slot.children() if time.time() - it.create_time() > 0.5), None)


@pytest.mark.usefixtures("own_ray")
def test_walls_that_cannot_be_had_are_told_before_engines_come_up(ready: Path) -> None:
    path = path_without("bwrap", ready / "bin")
    done = raybench(*INDEX, "sandbox.backend=bubblewrap", cwd=ready, environment={"PATH": path})
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stderr.splitlines()[-1] == (
        "raybench: bubblewrap: there is no bwrap on PATH: install it (`apt-get install bubblewrap`)"
        " and allow user namespaces"
    )
    assert "Traceback" not in done.stderr
    assert "starting" not in done.stderr
    assert journal_of(ready) == []


@pytest.mark.usefixtures("on_lasting_ray")
def test_no_walls_are_told_of_everywhere(ready: Path) -> None:
    command = (*INDEX, "limit=2", "sandbox.backend=unsafe", f"sandbox.python={_open_python()}")
    plan = raybench(*command, "dry_run=true", cwd=ready)
    assert plan.returncode == 0, plan.stderr
    assert "humaneval: replies are programs and run WITHOUT WALLS" in plan.stdout
    done = raybench(*command, cwd=ready, timeout=240)
    assert done.returncode == 0, done.stderr
    (ran,) = results_of(ready)["run"]["programs"]["ran"]
    assert (ran["backend"], ran["programs"]) == ("unsafe", 2 * 4)
    warning = "programs ran without walls, which let them read and change anything"
    report = (run_of(ready) / "report.html").read_text()
    assert f"unsafe: {warning}" in done.stdout
    assert warning in report
    table = (run_of(ready) / "leaderboard.md").read_text()
    assert f"**unsafe: {warning}" in table
    assert "- Samples: questions shipped to try things out" in table
    for unit in journal_of(ready):
        assert unit["details"]["backend"] == "unsafe"


def _open_python() -> str:
    """Return a Python that the user can reach as whom programs run."""
    for path in (sys.executable, "/usr/bin/python3.12", "/usr/bin/python3.11", "/usr/bin/python3"):
        with suppress(RaybenchError):
            places.start(Settings("unsafe", path), "plain").close()
            return path
    pytest.skip("no Python here that another user can reach")
