"""What tests of MLflow share: a run to tell of, a store's contents, a real server to kill."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from helpers import ROOT
from ports import free_port

from raybench.tracking.mlflow import Tracker

EXPERIMENT = "demo"
LIGHT = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
"""What keeps a server to itself, and from starting ten processes for jobs that nobody gives it."""
UNEXPECTED: list[str] = []
"""Warnings in tests that expect none (tests/tracking/mlflow/conftest.py looks at it)."""
MODELS: dict[str, dict[str, Any]] = {
    "alpha": {"temperature": 0.5},
    "beta": {"weights": "x" * 9000},
}
RESULTS: dict[str, Any] = {
    "run": {
        "data": {"quiz": {"origin": "samples", "digest": "0123456789" * 7, "questions": 12}},
        "concluded_with": {"demo.partial": True},
        "programs": {
            "ran": [
                {"backend": name, "python": "3.12", "kernel": "6.12", "programs": 6}
                for name in ("namespaces", "unsafe")
            ]
        },
    },
    "models": {
        "alpha": {
            "demo/score": {
                "value": 0.7, "stderr": 0.1, "ci95": [0.5, 0.9], "n": 12, "method": "t",
            },
            "demo/refused": {
                "value": None, "stderr": None, "ci95": None, "n": 1, "method": "too few",
            },
            "demo/bounded": {
                "value": None, "stderr": None, "ci95": [0.2, None], "n": 3, "method": "unbeaten",
            },
        },
        "beta": {"demo/score": {"value": 0.4, "stderr": None, "ci95": None, "n": 12, "method": ""}},
    },
    "counts": {"alpha": {"ok": 11, "truncated": 1}, "beta": {"ok": 12, "truncated": 0}},
    "agreement": {
        "a/b": {"kendall": {"value": 0.8, "ci95": [0.6, 0.9], "stderr": 0.1, "n": 9, "method": "τ"}}
    },
    "fleet": {
        "this_session": {
            "total": {"requests": 12, "prefix_hit_rate": 0.25, "cached_tokens": None},
            "models": {"alpha": {"requests": 12}},
        }
    },
    "simulated": True,
}  # fmt: skip


def opened(uri: str, run_dir: Path, warnings: list[str] | None = None, **changes: Any) -> Tracker:
    """Begin a run. Where no list takes warnings, there are to be none."""
    settings: dict[str, Any] = {
        "uri": uri, "experiment": EXPERIMENT, "run_dir": run_dir, "run_name": "run one",
        "models": MODELS, "params": {"seed": 1, "long": "x" * 9000, "odd@name": True},
        "tags": {"version": "0.1"},
        "warn": (UNEXPECTED if warnings is None else warnings).append,
    }  # fmt: skip
    return Tracker.open(**(settings | changes))


def told(tracker: Tracker, steps: int = 3) -> None:
    """Tell some steps of a series."""
    for step in range(steps):
        tracker.log_step(
            {"alpha": {"demo/score": step / 10}, "beta": {"demo/score": 0.4}},
            {"demo/spread": 0.2},
            step=step,
            timestamp_ms=1_000 + step,
        )


def whole_run(
    uri: str, run_dir: Path, warnings: list[str] | None = None, **changes: Any
) -> Tracker:
    """Begin a run, tell steps, results and files, and end it."""
    tracker = opened(uri, run_dir, warnings, **changes)
    told(tracker)
    (run_dir / "plots").mkdir(exist_ok=True)
    for name in ("report.html", "plots/one.svg"):
        (run_dir / name).write_text(f"<p>{name}")
    tracker.finish(RESULTS, [run_dir / "report.html", run_dir / "plots"], note="# Board")
    tracker.close()
    return tracker


def client_of(uri: str) -> Any:
    """Return a client of MLflow's own."""
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=uri)


def children(run_dir: Path) -> dict[str, str]:
    """Return the ids of a run's children, as its folder has them."""
    stored = json.loads((run_dir / "mlflow.json").read_text())
    assert isinstance(stored["models"], dict)
    return stored["models"]


def contents(uri: str, experiment: str = EXPERIMENT) -> list[dict[str, Any]]:
    """Return all that a store has of an experiment's runs, but for ids and keys."""
    client = client_of(uri)
    found = client.get_experiment_by_name(experiment)
    told = []
    for run in client.search_runs([found.experiment_id], max_results=1000) if found else ():
        tags = {
            key: value
            for key, value in run.data.tags.items()
            if key not in ("spool", "mlflow.parentRunId")
        }
        history = {
            key: sorted((m.step, m.value) for m in client.get_metric_history(run.info.run_id, key))
            for key in run.data.metrics
        }
        told.append(
            {
                "model": run.data.tags.get("model", ""),
                "status": run.info.status,
                "params": run.data.params,
                "tags": tags,
                "metrics": history,
                "inputs": [it.dataset.name for it in run.inputs.dataset_inputs],
                "files": sorted(_files(client, run.info.run_id)),
            }
        )
    return sorted(told, key=lambda run: str(run["model"]))


def _files(client: Any, run_id: str, folder: str | None = None) -> list[str]:
    found: list[str] = []
    for file in client.list_artifacts(run_id, folder):
        found += _files(client, run_id, file.path) if file.is_dir else [file.path]
    return found


class Server:
    """A real tracking server of this machine, started by `mlflow/serve.sh`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._port = free_port()
        self.uri = f"http://127.0.0.1:{self._port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> "Server":
        """Start it, and wait until it answers."""
        self._process = subprocess.Popen(
            [str(ROOT / "mlflow" / "serve.sh"), str(self.folder)],
            env={
                "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "PORT": str(self._port),
                "WORKERS": "1", "MLFLOW_DISABLE_TELEMETRY": "true",
            },
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        wait_for(self.answers, 280)
        return self

    def answers(self) -> bool:
        """Tell whether it answers."""
        with suppress(OSError), urlopen(f"{self.uri}/health", timeout=5) as answer:
            return bool(answer.status == 200)
        return False

    def kill(self) -> None:
        """Kill it and all that it has started."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(timeout=120)
            self._process = None


def wait_for(there: Callable[[], bool], seconds: float, *, every_s: float = 0.2) -> None:
    """Wait until something is so, which is looked for again and again."""
    deadline = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < deadline, f"not in {seconds} s"
        threading.Event().wait(every_s)  # for an event, so no sleep that a pure test may not do
