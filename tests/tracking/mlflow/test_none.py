"""tracking=none: a run of which MLflow is told nothing."""

import json
from pathlib import Path

import pytest
from in_process import run_here

pytestmark = pytest.mark.slow


def test_a_run_without_tracking_leaves_all_but_what_mlflow_has(tmp_path: Path) -> None:
    done = run_here(
        "+experiment=autobench", "roster=simulated", "iterations=2", "tracking=none", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    (run,) = (tmp_path / "runs" / "autobench").iterdir()
    assert [it.name for it in (tmp_path / "runs").iterdir()] == ["autobench"]
    assert json.loads((run / "results.json").read_text())["run"]["mlflow_run_id"] is None
    assert (run / "report.html").exists()
    assert not [path for path in run.rglob("*") if "mlflow" in path.name]
    assert "mlflow" not in (done.stdout + done.stderr).lower()
