import json
import math
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from raybench.tracking import mlflow_store
from raybench.tracking.mlflow import Tracker

MODELS = {"alpha": {"temperature": 0.5}, "beta": {"weights": "x" * 9000}}
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


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/store/mlflow.db"


@pytest.fixture
def client(store: str) -> Callable[[], Any]:
    def make() -> Any:
        from mlflow import MlflowClient

        return MlflowClient(tracking_uri=store)

    return make


def opened(store: str, run_dir: Path, warnings: list[str] | None = None, **changes: Any) -> Tracker:
    said: list[str] = [] if warnings is None else warnings
    settings: dict[str, Any] = {
        "uri": store, "experiment": "demo", "run_dir": run_dir, "run_name": "run one",
        "models": MODELS, "params": {"seed": 1, "long": "x" * 9000, "odd@name": True},
        "tags": {"version": "0.1"}, "warn": said.append,
    }  # fmt: skip
    tracker = Tracker.open(**(settings | changes))
    if warnings is None:
        assert said == []
    return tracker


def children(run_dir: Path) -> dict[str, str]:
    stored = json.loads((run_dir / "mlflow.json").read_text())
    assert isinstance(stored["models"], dict)
    return stored["models"]


def test_a_run_with_a_child_per_model(
    store: str, tmp_path: Path, client: Callable[[], Any], capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    run_dir = tmp_path / "run"
    tracker = opened(store, run_dir)
    for step in range(3):
        tracker.log_step(
            {
                "alpha": {"demo/score": 0.6 + step / 10, "bad": math.nan},
                "beta": {"demo/score": 0.4},
            },
            {"demo/spread": 0.2, "worse": math.inf},
            step=step,
            timestamp_ms=1_000 + step,
        )
    page = run_dir / "report.html"
    page.write_text("<p>hello")
    tracker.finish(RESULTS, [page, run_dir / "missing.csv"])

    parent = client().get_run(tracker.run_id)
    assert parent.info.status == "FINISHED"
    assert parent.info.run_name == "run one"
    assert parent.data.params["seed"] == "1"
    assert parent.data.params["odd_name"] == "True"
    assert parent.data.tags["version"] == "0.1"
    assert parent.data.tags["simulated"] == "true"
    assert parent.data.metrics == {
        "demo/spread": 0.2,
        "agreement/a/b/kendall": 0.8,
        "agreement/a/b/kendall/ci_low": 0.6,
        "agreement/a/b/kendall/ci_high": 0.9,
        "agreement/a/b/kendall/n": 9,
        "agreement/a/b/kendall/stderr": 0.1,
        "fleet/requests": 12,
        "fleet/prefix_hit_rate": 0.25,  # and nothing for what no engine reports
    }
    (asked,) = parent.inputs.dataset_inputs
    assert (asked.dataset.name, asked.dataset.digest) == ("quiz", ("0123456789" * 7)[:36])
    assert json.loads(asked.dataset.source) == {"origin": "samples"}
    assert json.loads(asked.dataset.profile) == {"questions": 12}
    assert [file.path for file in client().list_artifacts(tracker.run_id)] == ["report.html"]
    # Files lie beside the database, and nothing of MLflow's litters the current folder.
    assert list((tmp_path / "store" / "mlartifacts").rglob("report.html"))
    assert {path.name for path in tmp_path.iterdir()} == {"run", "store"}

    alpha = client().get_run(children(run_dir)["alpha"])
    assert alpha.info.status == "FINISHED"
    assert alpha.data.tags["mlflow.parentRunId"] == tracker.run_id
    assert alpha.data.tags["model"] == "alpha"
    assert alpha.data.tags["demo.partial"] == "true"
    # Nodes may differ in their walls: all are told.
    places = {"sandbox.backend": "namespaces, unsafe", "sandbox.python": "3.12"}
    assert places.items() <= parent.data.tags.items() & alpha.data.tags.items()
    assert [asked.dataset.name for asked in alpha.inputs.dataset_inputs] == ["quiz"]
    assert alpha.data.params == {"temperature": "0.5"}
    assert alpha.data.metrics == {
        "demo/score": 0.7, "demo/score/ci_low": 0.5, "demo/score/ci_high": 0.9,
        "demo/score/n": 12, "demo/score/stderr": 0.1, "demo/refused/n": 1,
        "counts/ok": 11, "counts/truncated": 1,
    }  # fmt: skip
    # The headline is the metric's last word, written at the last step.
    history = client().get_metric_history(children(run_dir)["alpha"], "demo/score")
    assert max((m.step, m.timestamp, m.value) for m in history) == (2, 1_003, 0.7)
    written = capfd.readouterr()
    assert (written.out, written.err) == ("", "")


def test_a_resumed_run_goes_on_in_the_same_runs_and_doubles_nothing(
    store: str, tmp_path: Path, client: Callable[[], Any]
) -> None:
    def log(tracker: Tracker, steps: int) -> None:
        for step in range(steps):
            tracker.log_step(
                {"alpha": {"demo/score": step / 10}, "beta": {"demo/score": 0.4}},
                {"demo/spread": 0.2},
                step=step,
                timestamp_ms=1_000 + step,
            )

    first = opened(store, tmp_path)
    log(first, 3)
    first.interrupted("Ctrl-C")
    assert client().get_run(first.run_id).info.status == "KILLED"
    runs = children(tmp_path)

    again = opened(store, tmp_path, params={"seed": 2, "new": "yes"})
    assert (again.run_id, children(tmp_path)) == (first.run_id, runs)
    parent = client().get_run(again.run_id)
    assert parent.info.status == "RUNNING"
    assert parent.data.tags["resumed"] == "true"
    assert "reason" not in parent.data.tags  # it was that of the first end
    assert (parent.data.params["seed"], parent.data.params["new"]) == ("1", "yes")
    log(again, 5)
    again.finish(RESULTS, [])
    again.finish(RESULTS, [])
    history = client().get_metric_history(runs["alpha"], "demo/score")
    assert sorted((m.step, m.value) for m in history) == [
        (0, 0.0), (1, 0.1), (2, 0.2), (3, 0.3), (4, 0.4), (4, 0.7),
    ]  # fmt: skip
    # Equal to its last step, so not written a second time.
    assert len(client().get_metric_history(runs["beta"], "demo/score")) == 5
    assert len(client().get_metric_history(again.run_id, "demo/spread")) == 5


def test_runs_that_are_superseded_keep_what_they_said_and_are_marked(
    store: str, tmp_path: Path, client: Callable[[], Any]
) -> None:
    first = opened(store, tmp_path)
    first.finish(RESULTS, [])
    old = [first.run_id, *children(tmp_path).values()]

    again = opened(store, tmp_path, params={"seed": 2}, supersede=True)
    new = [again.run_id, *children(tmp_path).values()]
    assert not set(old) & set(new)
    refused = {"alpha": RESULTS["models"]["alpha"] | {"demo/score": {"value": None, "n": 12}}}
    again.finish(RESULTS | {"models": refused}, [])
    assert [client().get_run(run).data.tags.get("superseded") for run in old] == ["true"] * 3
    assert [client().get_run(run).data.tags.get("superseded") for run in new] == [None] * 3
    assert client().get_run(old[1]).data.metrics["demo/score"] == 0.7
    assert "demo/score" not in client().get_run(new[1]).data.metrics
    assert client().get_run(again.run_id).data.params["seed"] == "2"


@pytest.mark.parametrize("damage", ["store", "deleted", "file"])
def test_runs_that_are_gone_are_made_anew(
    store: str, tmp_path: Path, client: Callable[[], Any], damage: str
) -> None:
    first = opened(store, tmp_path)
    if damage == "deleted":
        client().delete_run(first.run_id)
    elif damage == "file":
        (tmp_path / "mlflow.json").write_text('{"run_id": ')
    else:
        store = f"sqlite:///{tmp_path}/elsewhere.db"
    second = opened(store, tmp_path)
    assert second.run_id not in (None, first.run_id)
    assert set(children(tmp_path)) == set(MODELS)


def test_a_failed_run_keeps_its_reason_and_its_artifacts(
    store: str, tmp_path: Path, client: Callable[[], Any]
) -> None:
    tracker = opened(store, tmp_path)
    folder = tmp_path / "journal"
    folder.mkdir()
    (folder / "units.jsonl").write_text("{}\n")
    tracker.fail("the engine died\x00", [folder])
    for run_id in [tracker.run_id, *children(tmp_path).values()]:
        run = client().get_run(run_id)
        assert run.info.status == "FAILED"
        assert run.data.tags["reason"].startswith("the engine died")
    assert [f.path for f in client().list_artifacts(tracker.run_id, "journal")] == [
        "journal/units.jsonl"
    ]


def test_steps_that_could_not_be_written_are_written_at_the_end(
    store: str, tmp_path: Path, client: Callable[[], Any]
) -> None:
    warnings: list[str] = []
    tracker = opened(store, tmp_path, warnings)
    # The real store refuses, as it would for want of room.
    refusal = "BEFORE INSERT ON metrics BEGIN SELECT RAISE(ABORT, 'disk full'); END"
    database = store.removeprefix("sqlite:///")
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(f"CREATE TRIGGER full {refusal}")
        connection.commit()
    for step in range(3):
        tracker.log_step({"alpha": {"demo/score": 0.5}}, {}, step=step, timestamp_ms=step)
    assert len(warnings) == 1
    assert "disk full" in warnings[0]
    assert str(tmp_path) in warnings[0]
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("DROP TRIGGER full")
        connection.commit()
    tracker.finish(RESULTS, [])
    assert "answers again" in warnings[1]
    history = client().get_metric_history(children(tmp_path)["alpha"], "demo/score")
    assert [m.step for m in history] == [0, 1, 2, 2]
    assert client().get_run(tracker.run_id).info.status == "FINISHED"


def test_a_server_that_is_not_there_costs_a_warning_and_no_time(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    warnings: list[str] = []
    began = time.monotonic()
    tracker = opened(f"http://me:pw@127.0.0.1:{port}", tmp_path, warnings)
    assert tracker.run_id is None
    tracker.log_step({"alpha": {"demo/score": 0.5}}, {}, step=0, timestamp_ms=0)
    tracker.finish(RESULTS, [tmp_path])
    tracker.interrupted("late")
    assert time.monotonic() - began < 10
    assert len(warnings) == 1
    assert "safe in" in warnings[0]
    assert "pw" not in warnings[0]


def test_a_database_that_cannot_be_opened_costs_a_warning_and_no_time(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file where the folder should be")
    (tmp_path / "text.db").write_text("what SQLite does not know " * 20)
    began = time.monotonic()
    for path in ("store/mlflow.db", "text.db"):
        warnings: list[str] = []
        tracker = opened(f"sqlite:///{tmp_path}/{path}", tmp_path, warnings)
        tracker.finish(RESULTS, [])
        assert tracker.run_id is None
        assert len(warnings) == 1
    assert time.monotonic() - began < 10


def test_a_server_that_accepts_and_never_answers_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("raybench.tracking.uri._PROBE_SECONDS", 0.2)
    warnings: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as mute:
        tracker = opened(f"http://127.0.0.1:{mute.getsockname()[1]}", tmp_path, warnings)
    assert tracker.run_id is None
    assert len(warnings) == 1


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Callable[[], None]]]:
    """A real tracking server, and how to kill it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["--backend-store-uri", f"sqlite:///{tmp_path}/server.db", "--workers", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "mlflow", "server", "--port", str(port), *command],
        cwd=tmp_path, env=os.environ | {"MLFLOW_DISABLE_TELEMETRY": "true"},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip

    def kill() -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=10)

    try:
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"http://127.0.0.1:{port}/health", timeout=5).is_success:
                    break
            except httpx.HTTPError:
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}", kill
    finally:
        kill()


@pytest.mark.slow
def test_a_server_that_dies_on_the_way(
    server: tuple[str, Callable[[], None]], tmp_path: Path, capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setattr("raybench.tracking.mlflow._FLUSH_SECONDS", 0.0)
    uri, kill = server
    warnings: list[str] = []
    page = tmp_path / "report.html"
    page.write_text("<p>hello")
    first = opened(uri, tmp_path / "first", warnings)
    first.log_step({"alpha": {"demo/score": 0.5}}, {}, step=0, timestamp_ms=1)
    first.finish(RESULTS, [page])
    run = first._client.get_run(first.run_id)
    assert run.info.status == "FINISHED"
    assert [file.path for file in first._client.list_artifacts(first.run_id)] == ["report.html"]
    assert warnings == []

    second = opened(uri, tmp_path / "second", warnings)
    kill()
    for step in range(3):
        second.log_step({"alpha": {"demo/score": 0.5}}, {}, step=step, timestamp_ms=1)
    second.finish(RESULTS, [page])
    assert len(warnings) == 1
    assert uri in warnings[0]
    assert capfd.readouterr() == ("", "")


_OPEN = """
import sys
from pathlib import Path
from raybench.tracking import mlflow_store
from raybench.tracking.mlflow import Tracker

uri, run_dir = sys.argv[1:]
tracker = Tracker.open(
    uri=uri, experiment="demo", run_dir=Path(run_dir), run_name="r", models={"a": {}, "b": {}},
    params={}, tags={}, warn=sys.exit,
)
tracker.log_step({"a": {"x": 1.0}}, {}, step=0, timestamp_ms=1)
tracker.finish({}, [])
"""


def test_many_processes_open_one_fresh_store_at_once(
    store: str, tmp_path: Path, client: Callable[[], Any]
) -> None:
    root = Path(__file__).parents[2]
    paths = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    crowd = [
        subprocess.Popen(
            [sys.executable, "-c", _OPEN, store, str(tmp_path / f"run{i}")],
            env=os.environ | {"PYTHONPATH": paths}, stderr=subprocess.PIPE, text=True,
        )
        for i in range(4)
    ]  # fmt: skip
    ends = [(process.communicate(timeout=120)[1], process.returncode) for process in crowd]
    assert ends == [("", 0)] * 4
    found = client().get_experiment_by_name("demo")
    runs = client().search_runs([found.experiment_id])
    assert len(runs) == 12
    assert {run.info.status for run in runs} == {"FINISHED"}


def test_importing_the_floor_is_light() -> None:
    code = (
        "import raybench.tracking.mlflow, raybench.tracking.report, raybench.tracking.plots, "
        "raybench.tracking.console, sys; "
        "print([m for m in ('mlflow', 'matplotlib', 'jinja2', 'rich', 'numpy', 'httpx', 'filelock')"
        " if m in sys.modules])"
    )
    paths = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60,
        env=os.environ | {"PYTHONPATH": paths},
    )  # fmt: skip
    assert done.stdout.strip() == "[]"


def test_a_run_in_which_a_model_failed_has_its_numbers_and_failed(
    store: str, tmp_path: Path, client: Callable[[], Any]
) -> None:
    tracker = opened(store, tmp_path / "run")
    tracker.finish({**RESULTS, "run": {"failed": {"beta": "no weights"}}}, [])
    parent = client().get_run(tracker.run_id)
    assert (parent.info.status, parent.data.tags["reason"]) == ("FAILED", "beta: no weights")
    assert parent.data.metrics["fleet/requests"] == 12
    runs = {name: client().get_run(run) for name, run in children(tmp_path / "run").items()}
    assert {name: run.info.status for name, run in runs.items()} == {
        "alpha": "FINISHED",
        "beta": "FAILED",
    }
    assert runs["beta"].data.tags["reason"] == "no weights"
    assert "reason" not in runs["alpha"].data.tags
    assert runs["alpha"].data.metrics["demo/score"] == 0.7


def test_who_outlives_a_killed_run_does_not_write_into_the_next_ones_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def run(command: list[str], **_: Any) -> None:
        made.append(command[-1])
        Path(command[-1].removeprefix("sqlite:///")).touch()

    monkeypatch.setattr(subprocess, "run", run)
    for pid in (1, 2):
        monkeypatch.setattr(os, "getpid", lambda pid=pid: pid)
        mlflow_store._create(tmp_path / "mlflow.db")
    assert made[0] != made[1]
    assert [path.name for path in tmp_path.iterdir()] == ["mlflow.db"]
