"""What MLflow is to have of a run, of whatever experiment: held against what its folder has."""

import json
import shutil
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT, last_run
from tracked import client_of

from raybench.tracking.mlflow import entries, sync

SERIES = ("/iteration_score", "/running_score", "/running_weight", "/running_rating")
"""The only metrics that are no results: they show how results came about."""
TAGS = {
    "config_hash", "config_sha256", "experiment", "mlflow.source.name", "mlflow.source.type",
    "mlflow.user", "raybench", "resumed", "roster", "run", "simulated", "spool",
}  # fmt: skip
KEPT = {
    "report.html", "leaderboard.md", "leaderboard.csv", "failures.jsonl", "config.yaml",
    "journal.json", "results.json", "requirements.txt",
}  # fmt: skip


def commit() -> str:
    """Return which commit this checkout is of; '' where git does not say."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        return ""
    asked = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    said = subprocess.run(asked, capture_output=True, text=True, check=False)
    return said.stdout.strip() if said.returncode == 0 else ""


def expected(results: dict[str, Any], model: str) -> dict[str, float]:
    """Return what a child is to have: each number, and its interval's ends where they are known."""
    found: dict[str, Any] = {}
    for key, of in results["models"][model].items():
        low, high = of["ci95"] or (None, None)
        known = {of["value"], low, high} != {None}
        found |= {
            key: of["value"],
            f"{key}/ci_low": low,
            f"{key}/ci_high": high,
            f"{key}/n": of["n"] if known else None,
            f"{key}/stderr": of["stderr"],
        }
    found |= {f"counts/{name}": count for name, count in results["counts"].get(model, {}).items()}
    return {entries.key(key): value for key, value in found.items() if value is not None}


def check(folder: Path, experiment: str) -> dict[str, str]:
    """Hold what MLflow has of the last run below a folder against it; return the run's inputs.

    A run that left MLflow for later is sent first.
    """
    run = last_run(folder, experiment)
    results = json.loads((run / "results.json").read_text())
    uri = f"sqlite:///{folder}/runs/mlflow.db"
    later = sync.send(run, uri).did == "sent"
    client = client_of(uri)
    every = client.search_runs([client.get_experiment_by_name("raybench").experiment_id])
    found = [it for it in every if it.data.tags["run"] == run.name]
    children = {it.data.tags["model"]: it for it in found if "model" in it.data.tags}
    (parent,) = [it for it in found if "model" not in it.data.tags]
    known = results["run"]["mlflow_run_id"]  # as long as it was sent while it went on
    assert known == parent.info.run_id or (known is None and later)
    assert set(results["models"]) <= set(children)
    assert all(it.data.tags["mlflow.parentRunId"] == parent.info.run_id for it in children.values())
    assert {it.info.status for it in found} == {"FINISHED"}
    for model in results["models"]:
        wanted, metrics = expected(results, model), children[model].data.metrics
        over = {key for key in metrics if key.endswith(SERIES)}
        assert set(metrics) == {*wanted, *over}, model
        assert {key: metrics[key] for key in wanted} == pytest.approx(wanted)

    about = results["run"]
    read = {name: of["digest"] for name, of in about.get("data", {}).items()}
    read |= about.get("inputs", {})
    assert read, "nothing says what was asked"
    for it in found:
        assert set(it.data.tags) >= TAGS
        assert it.data.tags["config_hash"] == run.name.rpartition("-")[2]
        assert it.data.tags["ray"] == metadata.version("ray")
        assert it.data.tags.get("mlflow.source.git.commit", "") == commit()
        assert (it.data.tags["resumed"], it.data.tags["simulated"]) == ("false", "true")
        inputs = {each.dataset.name: each.dataset.digest for each in it.inputs.dataset_inputs}
        assert inputs == {name: digest[:36] for name, digest in read.items()}
    # Repeats are told apart in a list of runs: each is called by when it began.
    began = "-".join(run.name.split("-")[:2])
    assert parent.info.run_name == f"{about['experiment']} {about['roster']} {began}"
    # The run's page shows the leaderboard, as its description.
    board = (run / "leaderboard.md").read_text().splitlines()[0]
    assert parent.data.tags["mlflow.note.content"].splitlines()[0] == board
    kept = {file.path for file in client.list_artifacts(parent.info.run_id)}
    assert kept >= KEPT
    plots = client.list_artifacts(parent.info.run_id, "plots")
    assert len(plots) == (run / "report.html").read_text().count("<svg role")
    return read
