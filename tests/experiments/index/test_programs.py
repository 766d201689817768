"""Replies that are programs, from the command line: where they may run.

What dies under them is `tests/chaos`'s (`programs`), and `tests/sandbox/test_pool.py`'s.
"""

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from command import run_command
from helpers import path_without, raybench

from raybench.errors import RaybenchError
from raybench.sandbox import Settings, places

pytestmark = pytest.mark.ray

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


def run_of(folder: Path) -> Path:
    (run,) = (folder / "runs" / "index").iterdir()
    return run


def results_of(folder: Path) -> Any:
    return json.loads((run_of(folder) / "results.json").read_text())


def journal_of(folder: Path) -> list[Any]:
    journals = folder.glob("runs/index/*/journal/units.jsonl")
    return [json.loads(line) for path in journals for line in path.read_bytes().splitlines()]


@pytest.mark.usefixtures("own_ray")
def test_walls_that_cannot_be_had_are_told_before_engines_come_up(ready: Path) -> None:
    path = path_without("bwrap", ready / "bin")
    done = raybench(*INDEX, "sandbox.backend=bubblewrap", cwd=ready, environment={"PATH": path})
    assert done.returncode == 1, done.stdout + done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("raybench: bubblewrap: ") and "apt-get install bubblewrap" in last
    assert "Traceback" not in done.stderr
    assert "starting" not in done.stderr
    assert journal_of(ready) == []


@pytest.mark.usefixtures("on_lasting_ray")
def test_no_walls_are_told_of_everywhere(ready: Path) -> None:
    command = (*INDEX, "limit=2", "sandbox.backend=unsafe", f"sandbox.python={_open_python()}")
    plan = run_command(*command, "dry_run=true", cwd=ready)
    assert plan.returncode == 0, plan.stderr
    assert "UNCONFINED" in plan.stdout
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
    assert "\n- Samples: " in table
    for unit in journal_of(ready):
        assert unit["details"]["backend"] == "unsafe"


def _open_python() -> str:
    """Return a Python that the user can reach as whom programs run."""
    for path in (sys.executable, "/usr/bin/python3.12", "/usr/bin/python3.11", "/usr/bin/python3"):
        with suppress(RaybenchError):
            places.start(Settings("unsafe", path), "plain").close()
            return path
    pytest.skip("no Python here that another user can reach")
