import json
import math
import os
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from ports import free_port
from statements import code, codes, values
from tracked import (
    MODELS,
    RESULTS,
    UNEXPECTED,
    children,
    client_of,
    contents,
    opened,
    told,
    wait_for,
)

from raybench.tracking.mlflow import killed, spool
from raybench.tracking.mlflow import store as mlflow_store
from raybench.tracking.mlflow.sender import Sender
from raybench.tracking.mlflow.writer import Writer
from raybench.tracking.uri import probe

pytestmark = pytest.mark.slow  # MLflow itself is imported


@pytest.fixture
def client(store: str) -> Callable[[], Any]:
    return lambda: client_of(store)


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
    tracker.finish(RESULTS, [page, run_dir / "missing.csv"], note="# The board")
    tracker.close()

    parent = client().get_run(tracker.run_id)
    assert parent.info.status == "FINISHED"
    assert parent.info.run_name == "run one"
    assert parent.data.params["seed"] == "1"
    assert parent.data.params["odd_name"] == "True"
    assert parent.data.tags["version"] == "0.1"
    assert parent.data.tags["simulated"] == "true"
    assert parent.data.tags["resumed"] == "false"
    assert parent.data.tags["mlflow.note.content"] == "# The board"
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
    beside = Path(store.removeprefix("sqlite:///")).parent / "mlartifacts"
    assert list(beside.rglob("report.html"))
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
        "demo/score/n": 12, "demo/score/stderr": 0.1,
        "demo/bounded/ci_low": 0.2, "demo/bounded/n": 3,
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
    first = opened(store, tmp_path)
    told(first, 3)
    first.interrupted("Ctrl-C")
    first.close()
    assert client().get_run(first.run_id).info.status == "KILLED"
    runs = children(tmp_path)

    again = opened(store, tmp_path, params={"seed": 2, "new": "yes"})
    assert (again.run_id, children(tmp_path)) == (first.run_id, runs)
    wait_for(lambda: client().get_run(again.run_id).info.status == "RUNNING", 60)
    wait_for(lambda: "new" in client().get_run(again.run_id).data.params, 60)
    parent = client().get_run(again.run_id)
    assert parent.data.tags["resumed"] == "true"
    assert "reason" not in parent.data.tags  # it was that of the first end
    assert (parent.data.params["seed"], parent.data.params["new"]) == ("1", "yes")
    told(again, 5)
    again.finish(RESULTS, [])
    again.finish(RESULTS, [])
    again.close()
    history = client().get_metric_history(runs["alpha"], "demo/score")
    assert sorted((m.step, m.value) for m in history) == [
        (0, 0.0), (1, 0.1), (2, 0.2), (3, 0.3), (4, 0.4), (4, 0.7),
    ]  # fmt: skip
    # Equal to its last step, so not written a second time.
    assert len(client().get_metric_history(runs["beta"], "demo/score")) == 5
    assert len(client().get_metric_history(again.run_id, "demo/spread")) == 5


def test_a_run_that_is_gone_on_with_under_another_address_is_there_whole(
    store: str, tmp_path: Path
) -> None:
    """It was a run of its own before, that began at zero."""
    run_dir, other = tmp_path / "run", f"sqlite:///{tmp_path}/other.db"
    run_dir.mkdir()
    first = opened(store, run_dir)
    told(first, 2)
    first.interrupted("Ctrl-C")
    first.close()
    again = opened(other, run_dir)
    told(again, 3)
    again.finish(RESULTS, [])
    again.close()
    assert spool.address(run_dir) == other
    (alpha,) = client_of(other).search_runs(["1"], "tags.model = 'alpha'")
    history = client_of(other).get_metric_history(alpha.info.run_id, "demo/spread")
    points = client_of(other).get_metric_history(alpha.info.run_id, "demo/score")
    assert [(m.step, m.value) for m in points][:3] == [(0, 0.0), (1, 0.1), (2, 0.2)]
    assert not history and alpha.info.status == "FINISHED"
    assert client_of(store).get_run(first.run_id).info.status == "KILLED"


def test_runs_that_are_superseded_keep_what_they_said_and_are_marked(
    store: str, tmp_path: Path, client: Callable[[], Any]
) -> None:
    first = opened(store, tmp_path)
    first.finish(RESULTS, [])
    first.close()
    old = [first.run_id, *children(tmp_path).values()]

    again = opened(store, tmp_path, params={"seed": 2}, supersede=True)
    refused = {"alpha": RESULTS["models"]["alpha"] | {"demo/score": {"value": None, "n": 12}}}
    again.finish(RESULTS | {"models": refused}, [])
    again.close()
    new = [again.run_id, *children(tmp_path).values()]
    assert not set(old) & set(new)
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
    told(first)
    first.close()
    if damage == "deleted":
        client().delete_run(first.run_id)
    elif damage == "file":
        (tmp_path / "mlflow.json").write_text('{"run_id": ')
    else:
        store = f"sqlite:///{tmp_path}/elsewhere.db"
    second = opened(store, tmp_path)
    second.close()
    # What is only no longer known here is found again, by what MLflow has.
    assert (second.run_id == first.run_id) == (damage == "file")
    assert set(children(tmp_path)) == set(MODELS)
    # All that was told before they were gone is there.
    history = client_of(store).get_metric_history(children(tmp_path)["alpha"], "demo/score")
    assert sorted((m.step, m.value) for m in history) == [(0, 0.0), (1, 0.1), (2, 0.2)]


def test_a_failed_run_keeps_its_reason_and_its_artifacts(
    store: str, tmp_path: Path, client: Callable[[], Any]
) -> None:
    tracker = opened(store, tmp_path)
    folder = tmp_path / "journal"
    folder.mkdir()
    (folder / "units.jsonl").write_text("{}\n")
    tracker.fail("memory\x00", [folder])
    tracker.close()
    for run_id in [tracker.run_id, *children(tmp_path).values()]:
        run = client().get_run(run_id)
        assert run.info.status == "FAILED"
        assert run.data.tags["reason"].startswith("memory")
    assert [f.path for f in client().list_artifacts(tracker.run_id, "journal")] == [
        "journal/units.jsonl"
    ]


def test_files_lie_in_mlflow_as_in_the_runs_folder_and_others_do_not(
    store: str, tmp_path: Path
) -> None:
    run, elsewhere = tmp_path / "run", tmp_path / "else" / "where.txt"
    names = ["report.html", "transcripts/chess.md", "transcripts/poker.md", "players/deep/a.json"]
    for path in [*(run / name for name in names), elsewhere]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.name)
    # What somebody else's folder names or has links to, be it by itself or in a folder.
    (run / "link.txt").symlink_to(elsewhere)
    (run / "players" / "deep" / "link").symlink_to(elsewhere.parent)
    said: list[str] = []
    tracker = opened(store, run, said)
    outside = [elsewhere, run / "link.txt", run / ".." / "else" / "where.txt"]
    tracker.finish(RESULTS, [*(run / name for name in names[:3]), run / "players/deep", *outside])
    tracker.close()
    (parent,) = [run for run in contents(store) if run["model"] == ""]
    assert parent["files"] == sorted(names)
    assert all(any(f"'{path}'" in it for it in said) for path in outside)
    assert len(said) == 4


def test_steps_that_could_not_be_written_are_written_at_the_end(
    store: str, tmp_path: Path, client: Callable[[], Any]
) -> None:
    warnings: list[str] = []
    tracker = opened(store, tmp_path, warnings)
    assert tracker.run_id
    # The real store refuses, as it would for want of room.
    refusal = "BEFORE INSERT ON metrics BEGIN SELECT RAISE(ABORT, 'disk full'); END"
    database = store.removeprefix("sqlite:///")
    with closing(sqlite3.connect(database, timeout=30)) as connection:
        connection.execute(f"CREATE TRIGGER full {refusal}")
        connection.commit()
    told(tracker)
    wait_for(lambda: bool(warnings), 60)
    assert "disk full" in warnings[0]
    assert f"raybench.tracking sync {tmp_path}" in warnings[0]
    with closing(sqlite3.connect(database, timeout=30)) as connection:
        connection.execute("DROP TRIGGER full")
        connection.commit()
    tracker.finish(RESULTS, [])
    tracker.close()
    assert len(warnings) == 2
    assert "answers again" in warnings[1]
    history = client().get_metric_history(children(tmp_path)["alpha"], "demo/score")
    assert sorted(m.step for m in history) == [0, 1, 2, 2]
    assert client().get_run(tracker.run_id).info.status == "FINISHED"
    assert tracker.complete


def test_a_server_that_is_not_there_costs_one_warning_and_nothing_is_lost(tmp_path: Path) -> None:
    warnings: list[str] = []
    tracker = opened(f"http://me:s3cret@127.0.0.1:{free_port()}", tmp_path, warnings)
    assert tracker.run_id is None
    told(tracker)
    tracker.finish(RESULTS, [tmp_path])
    tracker.close()
    assert not tracker.complete
    assert len(warnings) == 1
    assert str(tmp_path) in warnings[0]
    written = "".join(path.read_text() for path in tmp_path.glob("*mlflow*"))
    assert "demo/score" in written
    assert "s3cret" not in warnings[0] + written


def test_a_database_that_cannot_be_opened_costs_one_warning(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file where the folder should be")
    (tmp_path / "text.db").write_text("what SQLite does not know " * 20)
    for number, path in enumerate(("store/mlflow.db", "text.db")):
        warnings: list[str] = []
        tracker = opened(f"sqlite:///{tmp_path}/{path}", tmp_path / f"run{number}", warnings)
        tracker.finish(RESULTS, [])
        tracker.close()
        assert tracker.run_id is None
        assert len(warnings) == 1


def test_a_server_that_accepts_and_never_answers_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("raybench.tracking.uri._PROBE_SECONDS", 0.2)
    warnings: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as mute:
        tracker = opened(f"http://127.0.0.1:{mute.getsockname()[1]}", tmp_path, warnings)
        assert tracker.run_id is None
        tracker.finish(RESULTS, [])
        tracker.close()
    assert len(warnings) == 1


def test_a_server_that_falls_silent_in_the_middle_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says that it is well, and to all else nothing: MLflow's own patience takes minutes."""
    monkeypatch.setattr("raybench.tracking.mlflow.sender._PATIENCE_S", 0.5)
    asked = []

    def serve(listening: socket.socket, held: list[socket.socket]) -> None:
        while True:
            with suppress(OSError):
                connection = listening.accept()[0]
                held.append(connection)
                line = connection.recv(1000).split(b"\r\n")[0]
                asked.append(line)
                if b"/health" in line:
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK")
                continue
            return

    warnings: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as mute:
        threading.Thread(target=serve, args=(mute, []), daemon=True).start()
        tracker = opened(f"http://127.0.0.1:{mute.getsockname()[1]}", tmp_path, warnings)
        wait_for(lambda: any(b"/api/" in line for line in asked), 60)
        assert tracker.run_id is None
        tracker.finish(RESULTS, [])
        tracker.close()
        (warning,) = warnings
        assert code(values(warning)["why"]) == "mlflow.no_answer"
        mute.shutdown(socket.SHUT_RDWR)


def test_a_folder_that_cannot_be_written_to_costs_one_warning(tmp_path: Path, store: str) -> None:
    (tmp_path / "run").write_text("a file where the folder should be")
    warnings: list[str] = []
    tracker = opened(store, tmp_path / "run", warnings)
    told(tracker)
    tracker.finish(RESULTS, [])
    tracker.close()
    assert tracker.run_id is None
    assert len(warnings) == 1


@contextmanager
def room_for(folder: Path, more: int) -> Iterator[None]:
    """Let the spool grow by so many bytes only, as on a disk that is full then."""
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (spool.size(folder) + more, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))


def kept(folder: Path) -> list[Any]:
    """Return what a spool has, but for times."""
    return [
        {name: it for name, it in entry.items() if name not in ("started_ms", "ended_ms", "key")}
        for entry, _ in spool.read(folder)
    ]


@pytest.mark.parametrize("more", [0, 1, 150, 400])
def test_what_a_full_disk_did_not_take_is_written_once_it_does(tmp_path: Path, more: int) -> None:
    whole = opened("http://127.0.0.1:1", tmp_path / "whole", send=False)
    told(whole, 6)
    whole.finish(RESULTS, [])
    whole.close()

    warnings: list[str] = []
    tracker = opened("http://127.0.0.1:1", tmp_path / "run", warnings, send=False)
    with room_for(tmp_path / "run", more):
        told(tracker, 5)
        assert spool.size(tmp_path / "run") > 0
    told(tracker, 6)
    tracker.finish(RESULTS, [])
    tracker.close()
    assert kept(tmp_path / "run") == kept(tmp_path / "whole")
    assert spool.whole_to(tmp_path / "run") == spool.size(tmp_path / "run")
    assert codes(warnings) == ["mlflow.in_memory"]


def test_where_the_disk_stays_full_it_is_not_said_to_be_all_and_results_are_told_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Writer, "send", lambda self, over: True)
    warnings: list[str] = []
    run = tmp_path / "run"
    tracker = opened("http://127.0.0.1:1", run, warnings)
    wait_for(lambda: tracker.complete, 60)
    told(tracker)
    results = {**RESULTS, "run": {**RESULTS["run"], "finished": finished(0), "files": ["a.html"]}}
    (run / "results.json").write_text(json.dumps(results))
    (run / "leaderboard.md").write_text("# The board")
    with room_for(run, 100):
        tracker.finish(results, [run / "a.html", run / "results.json"], note="# The board")
        tracker.close()
    assert not tracker._sender._thread.is_alive()
    assert not tracker.complete
    assert codes(warnings) == ["mlflow.in_memory", "mlflow.rest_untold"]
    assert f"sync {run}" in warnings[1]

    whole = opened("http://127.0.0.1:1", tmp_path / "whole", send=False)
    told(whole)
    files = [tmp_path / "whole" / name for name in ("a.html", "results.json")]
    whole.finish(results, files, note="# The board")
    whole.close()
    assert killed.was(run)
    killed.tell(run)
    assert kept(run) == kept(tmp_path / "whole")


def finished(seconds: float) -> str:
    """Return when a run is over that is so many seconds from now, as its results say it."""
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat(timespec="seconds")


@pytest.mark.parametrize("supersede", [False, True])
@pytest.mark.parametrize(("seconds", "status"), [(5, "FINISHED"), (-5, "KILLED")])
def test_a_run_with_newer_results_was_not_killed(
    tmp_path: Path, seconds: float, status: str, *, supersede: bool
) -> None:
    for _ in range(2):
        tracker = opened("http://127.0.0.1:1", tmp_path, send=False, supersede=supersede)
        tracker.close()
    results = {**RESULTS, "run": {"finished": finished(seconds), "failed": {"beta": "gone"}}}
    (tmp_path / "results.json").write_text(json.dumps(results))
    (tmp_path / "leaderboard.md").touch()
    assert killed.was(tmp_path)
    # Who concludes it anew knows it, too, before other runs take the place of these.
    tracker = opened("http://127.0.0.1:1", tmp_path, send=False, supersede=True)
    tracker.close()
    *_, end, superseded, _ = (it for it in kept(tmp_path) if it["kind"] not in ("files", "tags"))
    assert (end["kind"], end["status"]) == ("end", status)
    assert ("beta" in end["failed"]) == (status == "FINISHED")
    assert superseded["kind"] == "superseded"


def test_what_somebody_else_sends_at_the_end_is_not_said_to_be_all(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Writer, "send", lambda self, over: True)
    tracker = opened(store, tmp_path)
    wait_for(lambda: tracker.complete, 60)
    with waited(tmp_path):
        tracker.close()
    assert not tracker.complete


@contextmanager
def waited(folder: Path) -> Iterator[None]:
    """Send a run's entries in the place of everybody else, as soon as nobody does."""
    while True:
        with spool.alone(folder) as alone:
            if alone:
                yield
                return


def test_a_run_that_is_closed_while_its_sender_looks_round_is_ended(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Writer, "send", lambda self, over: over)
    sender = Sender(tmp_path, store, warn=UNEXPECTED.append, say=UNEXPECTED.append)

    class Closing(threading.Event):
        def is_set(self) -> bool:
            found = super().is_set()
            if not found:  # right after the look it is closed
                self.set()
                sender.wake()
            return found

    monkeypatch.setattr(sender, "_closing", Closing())
    sender.start()
    sender._thread.join(10)
    assert not sender._thread.is_alive()
    assert sender.complete


def test_a_run_hangs_below_another_where_its_tags_say_so(
    store: str, tmp_path: Path, client: Callable[[], Any]
) -> None:
    suite = opened(store, tmp_path / "suite", models={})
    part = opened(
        store, tmp_path / "part", tags={"mlflow.parentRunId": suite.run_id or "", "version": "0.1"}
    )
    part.close()
    suite.close()
    above = {
        name: client().get_run(run).data.tags["mlflow.parentRunId"]
        for name, run in [("part", part.run_id), *children(tmp_path / "part").items()]
    }
    assert above == {"part": suite.run_id, "alpha": part.run_id, "beta": part.run_id}


_OPEN = """
import sys
from pathlib import Path
from raybench.tracking.mlflow import store as mlflow_store
from raybench.tracking.mlflow import Tracker

uri, run_dir = sys.argv[1:]
tracker = Tracker.open(
    uri=uri, experiment="demo", run_dir=Path(run_dir), run_name="r", models={"a": {}, "b": {}},
    params={}, tags={}, warn=sys.exit,
)
tracker.log_step({"a": {"x": 1.0}}, {}, step=0, timestamp_ms=1)
tracker.finish({}, [])
tracker.close()
"""


@pytest.mark.process
@pytest.mark.parametrize(
    "processes",
    [
        2,
        pytest.param(
            4,
            marks=pytest.mark.long(
                short="tests/tracking/mlflow/test_tracker.py"
                "::test_many_processes_open_one_fresh_store_at_once[2]"
            ),
        ),
    ],
)
def test_many_processes_open_one_fresh_store_at_once(
    tmp_path: Path, unmade: str, processes: int
) -> None:
    root = Path(__file__).parents[3]
    paths = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    crowd = [
        subprocess.Popen(
            [sys.executable, "-c", _OPEN, unmade, str(tmp_path / f"run{i}")],
            env=os.environ | {"PYTHONPATH": paths}, stderr=subprocess.PIPE, text=True,
        )
        for i in range(processes)
    ]  # fmt: skip
    ends = [(process.communicate(timeout=250)[1], process.returncode) for process in crowd]
    assert ends == [("", 0)] * processes
    found = client_of(unmade).get_experiment_by_name("demo")
    runs = client_of(unmade).search_runs([found.experiment_id])
    assert len(runs) == 3 * processes
    assert {run.info.status for run in runs} == {"FINISHED"}


@pytest.mark.process
def test_importing_the_floor_is_light() -> None:
    code = (
        "import raybench.tracking.mlflow, raybench.tracking.report, raybench.tracking.plots, "
        "raybench.tracking.console, sys; "
        "print([m for m in ('mlflow', 'matplotlib', 'jinja2', 'rich', 'numpy', 'httpx', 'filelock')"
        " if m in sys.modules])"
    )
    paths = os.pathsep.join([str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=280,
        env=os.environ | {"PYTHONPATH": paths},
    )  # fmt: skip
    assert done.stdout.strip() == "[]"


def test_a_run_in_which_a_model_failed_has_its_numbers_and_failed(
    store: str, tmp_path: Path, client: Callable[[], Any]
) -> None:
    tracker = opened(store, tmp_path / "run")
    tracker.finish({**RESULTS, "run": {"failed": {"beta": "weights"}}}, [])
    tracker.close()
    parent = client().get_run(tracker.run_id)
    assert (parent.info.status, parent.data.tags["reason"]) == ("FAILED", "beta: weights")
    assert parent.data.metrics["fleet/requests"] == 12
    runs = {name: client().get_run(run) for name, run in children(tmp_path / "run").items()}
    assert {name: run.info.status for name, run in runs.items()} == {
        "alpha": "FINISHED",
        "beta": "FAILED",
    }
    assert runs["beta"].data.tags["reason"] == "weights"
    assert "reason" not in runs["alpha"].data.tags
    assert runs["alpha"].data.metrics["demo/score"] == 0.7


@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.process
def test_a_store_is_made_aside_also_where_an_empty_file_is_in_its_place(
    unmade: str, monkeypatch: pytest.MonkeyPatch, *, empty: bool
) -> None:
    path = Path(unmade.removeprefix("sqlite:///"))
    if empty:
        path.parent.mkdir()
        path.touch()

    class Aside(Exception):
        pass

    def create(path: Path) -> None:
        assert path.exists() is empty
        raise Aside

    monkeypatch.setattr(mlflow_store, "_create", create)
    probe(unmade)
    with pytest.raises(Aside):
        mlflow_store.client(unmade)


_MAKE = """
import signal, sys
from raybench.tracking.mlflow import store
signal.signal(signal.SIGTERM, lambda *_: None)
store.client(sys.argv[1])
"""


@pytest.mark.process
def test_a_signal_to_the_whole_process_group_does_not_end_the_making_of_a_store(
    unmade: str,
) -> None:
    path = Path(unmade.removeprefix("sqlite:///"))
    paths = os.pathsep.join([str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-c", _MAKE, unmade], stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": paths}, start_new_session=True,
    )  # fmt: skip
    wait_for(lambda: path.exists() or any(path.parent.glob(".mlflow.db.*.new")), 250)
    os.killpg(process.pid, signal.SIGTERM)
    assert (process.communicate(timeout=250)[1], process.returncode) == ("", 0)
    assert path.stat().st_size


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
