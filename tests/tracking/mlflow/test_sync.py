"""What was not sent is sent later: once, whoever was killed in between, and wherever to."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
from helpers import with_store
from hypothesis import given
from hypothesis import strategies as st
from mlflow.exceptions import MlflowException
from ports import free_port
from statements import the
from tracked import (
    EXPERIMENT,
    RESULTS,
    children,
    client_of,
    contents,
    opened,
    told,
    wait_for,
    whole_run,
)

from raybench.pipeline.store import deserted, open_run
from raybench.tracking.__main__ import main
from raybench.tracking.mlflow import killed, spool, sync
from raybench.tracking.mlflow import store as mlflow_store
from raybench.tracking.mlflow.writer import Writer

pytestmark = pytest.mark.slow  # MLflow itself is imported

ROOT = Path(__file__).parents[3]


def unreachable() -> str:
    """Return the address of a server that is down."""
    return f"http://127.0.0.1:{free_port()}"


def unsent(run_dir: Path) -> Path:
    """Make a run whose server was down all the time."""
    whole_run(unreachable(), run_dir, warnings=[])
    return run_dir


def meant_for(store: str, run_dir: Path) -> Path:
    """Make a run that is to go to a store, which was broken all the time, and is none any more."""
    database = Path(store.removeprefix("sqlite:///"))
    database.parent.mkdir(exist_ok=True)
    database.write_text("what SQLite does not know " * 20)
    whole_run(store, run_dir, [])
    database.unlink()
    return run_dir


_KILLED = """
import os, signal, sys
from pathlib import Path
from raybench.tracking.mlflow import sync, writer

folder, uri, calls, after = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4] == "after"
plain, made = writer.Writer._do, 0

def do(self, method, *args, **named):
    global made
    made += 1
    if made == calls and not after:
        os.kill(os.getpid(), signal.SIGKILL)
    found = plain(self, method, *args, **named)
    if made == calls and after:
        os.kill(os.getpid(), signal.SIGKILL)
    return found

writer.Writer._do = do
print(sync.send(folder, uri).did)
"""


PLACES = [*zip((2, 3, 4, 6, 7, 5, 5, 4), ("after", "before") * 4, strict=True)]
"""After how many writes to MLflow it is killed, and whether the last of them is done."""


def expected_of(folder: Path) -> list[dict[str, Any]]:
    """Return what a store has of a run that was sent in one go."""
    reference = f"sqlite:///{with_store(folder / 'reference')}/runs/mlflow.db"
    sync.send(unsent(folder / "whole"), reference)
    expected = contents(reference)
    assert [run["status"] for run in expected] == ["FINISHED"] * 3
    return expected


def killed_at(places: Sequence[tuple[int, str]], torn: Path, store: str) -> None:
    """Send a run by processes that are killed, until one gets to the end."""
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    kills = 0
    for calls, when in places:
        done = subprocess.run(
            [sys.executable, "-c", _KILLED, str(torn), store, str(calls), when],
            env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, timeout=120,
            check=False,
        )  # fmt: skip
        assert done.stderr == ""
        if done.returncode == 0:
            break
        assert done.returncode == -9
        kills += 1
    assert kills >= min(5, len(places))


@pytest.mark.process
def test_killed_between_two_writes_all_is_there_once(tmp_path: Path, store: str) -> None:
    torn = unsent(tmp_path / "torn")
    killed_at([(4, "after"), (5, "before")], torn, store)
    sync.send(torn, store)
    assert contents(store) == expected_of(tmp_path)


class Interrupted(BaseException):
    """The process ends here."""


def test_ended_between_any_two_writes_all_is_there_once(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where it is killed, without a process for each place."""
    torn, plain, made, ends = unsent(tmp_path / "torn"), Writer._do, 0, 0
    for calls, when in PLACES:

        def do(
            self: Writer, *args: Any, calls: int = calls, late: bool = when == "after", **named: Any
        ) -> Any:
            nonlocal made
            made += 1
            if made == calls and not late:
                raise Interrupted
            found = plain(self, *args, **named)
            if made == calls and late:
                raise Interrupted
            return found

        made = 0
        monkeypatch.setattr(Writer, "_do", do)
        try:
            sync.send(torn, store)
            break
        except Interrupted:
            ends += 1
    assert ends >= 5
    monkeypatch.undo()
    sync.send(torn, store)
    expected = expected_of(tmp_path)
    assert contents(store) == expected
    # Also where all that says how far it came is gone.
    (torn / spool.SENT).unlink()
    assert sync.send(torn, store).did == "sent"
    assert contents(store) == expected


@pytest.mark.process
@pytest.mark.long(
    short="tests/tracking/mlflow/test_sync.py::test_killed_between_two_writes_all_is_there_once"
)
def test_killed_again_and_again_between_two_writes_all_is_there_once(
    tmp_path: Path, store: str
) -> None:
    torn = unsent(tmp_path / "torn")
    killed_at(PLACES, torn, store)
    sync.send(torn, store)
    assert contents(store) == expected_of(tmp_path)


def test_sent_twice_is_sent_once_and_to_another_server_too(
    tmp_path: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = unsent(tmp_path / "run")
    assert main(["sync", str(run), "--uri", store]) == 0
    first, ids = contents(store), children(run)
    assert {run["status"] for run in first} == {"FINISHED"}
    (parent,) = [run for run in first if run["model"] == ""]
    assert parent["files"] == ["plots/one.svg", "report.html"]
    assert main(["sync", str(run), "--uri", store]) == 0
    sent, nothing = capsys.readouterr().out.splitlines()
    assert f"{run}: sent to {store}" in sent
    assert nothing.startswith(f"{run}: nothing ")

    elsewhere = f"sqlite:///{with_store(tmp_path / 'elsewhere')}/runs/mlflow.db"
    assert main(["sync", str(run), "--uri", elsewhere]) == 0
    assert contents(elsewhere) == first
    assert children(run) != ids
    # What the first one has is still known.
    assert main(["sync", str(run), "--uri", store]) == 0
    assert contents(store) == first


def test_sent_twice_is_as_if_sent_as_it_went(tmp_path: Path, store: str) -> None:
    whole_run(store, tmp_path / "run")
    late = f"sqlite:///{with_store(tmp_path / 'store of late')}/runs/mlflow.db"
    sync.send(unsent(tmp_path / "late"), late)
    assert contents(late) == contents(store)


def test_a_run_whose_first_session_had_no_server(tmp_path: Path, store: str) -> None:
    run = tmp_path / "run"
    first = opened(unreachable(), run, [])
    told(first, 2)
    first.interrupted("Ctrl-C")
    first.close()
    assert not (run / spool.SENT).exists()

    again = opened(store, run)
    told(again, 3)
    again.finish(RESULTS, [])
    again.close()
    found = {run["model"]: run for run in contents(store)}
    assert found[""]["tags"]["resumed"] == "true"
    assert found[""]["status"] == "FINISHED"
    assert "reason" not in found[""]["tags"]
    steps = found["alpha"]["metrics"]["demo/score"]
    assert steps == [(0, 0.0), (1, 0.1), (2, 0.2), (2, 0.7)]


def test_numbers_that_were_never_sent_are_superseded_all_the_same(
    tmp_path: Path, store: str
) -> None:
    run = unsent(tmp_path / "run")
    again = opened(store, run, supersede=True)
    again.finish({**RESULTS, "models": {}}, [run / "report.html"])
    again.close()
    found = contents(store)
    old = [it for it in found if "superseded" in it["tags"]]
    new = [it for it in found if "superseded" not in it["tags"]]
    assert [it["model"] for it in old] == [it["model"] for it in new] == ["", "alpha", "beta"]
    assert old[1]["metrics"]["demo/score"][-1] == (2, 0.7)
    assert "demo/score" not in new[1]["metrics"]
    # The folder has the newer report, which is none of the older run's.
    assert (old[0]["files"], new[0]["files"]) == ([], ["report.html"])


def test_a_run_that_is_to_be_sent_later_is_sent_by_another(tmp_path: Path, store: str) -> None:
    runs = tmp_path / "runs"
    tracker = whole_run(store, runs / "demo" / "one", send=False)
    assert (tracker.run_id, tracker.complete) == (None, False)
    assert contents(store) == []
    said: list[str] = []
    whole_run(store, runs / "demo" / "two", runs_dir=runs, say=said.append)
    assert the("mlflow.sent_earlier", said)["number"] == len(said) == 1
    assert [run["status"] for run in contents(store)] == ["FINISHED"] * 6


def test_the_next_run_sends_what_earlier_ones_could_not(tmp_path: Path, store: str) -> None:
    runs = tmp_path / "runs"
    for name in ("one", "two"):
        meant_for(store, runs / "demo" / name)
    elsewhere = unsent(runs / "demo" / "meant for another")

    said: list[str] = []
    whole_run(store, runs / "demo" / "three", runs_dir=runs, say=said.append)
    assert the("mlflow.sent_earlier", said)["number"] == 2
    found = contents(store)
    assert [run["status"] for run in found] == ["FINISHED"] * 9
    assert not (elsewhere / spool.SENT).exists()
    whole_run(store, runs / "demo" / "four", runs_dir=runs, say=said.append)
    assert len(said) == 1


def test_a_run_that_may_not_be_read_holds_up_no_others(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("closed", "open"):
        run = tmp_path / "demo" / name
        run.mkdir(parents=True)
        told(opened(store, run, send=False))
    real = spool.size

    def size(folder: Path) -> int:
        if folder.name == "closed":
            raise PermissionError(13, "Permission denied")
        return real(folder)

    monkeypatch.setattr(spool, "size", size)
    found = [*sync.waiting(tmp_path, store, but=tmp_path / "demo" / "own")]
    assert found == [tmp_path / "demo" / "open"]


def test_mistakes_are_told_in_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)

    def said(*arguments: str) -> tuple[int, str]:
        code = main(["sync", *arguments])
        return code, capsys.readouterr().err

    code, err = said(str(tmp_path / "nowhere"))
    assert (code, "nowhere" in err) == (2, True)
    code, err = said(str(tmp_path))
    assert (code, spool.SPOOL in err) == (2, True)
    run = unsent(tmp_path / "runs" / "demo" / "one")
    code, err = said(str(run), "--uri", "host:5000")
    assert (code, "http://host:5000" in err) == (2, True)
    unsent(tmp_path / "runs" / "demo" / "two")
    code, err = said(str(tmp_path / "runs"), "--uri", f"http://me:s3cret@127.0.0.1:{free_port()}")
    assert code == 1
    assert "2 of 2 runs" in err
    assert "s3cret" not in err
    assert "Traceback" not in err
    with pytest.raises(SystemExit) as ended:
        main(["sync"])
    assert ended.value.code == 2


def test_a_run_that_fails_is_named_and_holds_up_only_those_for_its_server(
    tmp_path: Path, store: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    runs, dead = tmp_path / "runs" / "demo", unreachable()
    for name in ("1 down", "2 down"):
        whole_run(dead, runs / name, [])
    whole_run(f"http://me:s3cret@127.0.0.1:{free_port()}", runs / "3 password", [])
    (meant_for(store, runs / "4 broken") / ".mlflow.lock").unlink()
    (runs / "4 broken" / ".mlflow.lock").mkdir()
    (runs / "5 changed").mkdir()
    (runs / "5 changed" / spool.SPOOL).write_text("{}\n")
    meant_for(store, runs / "6 sound")
    assert main(["sync", str(tmp_path / "runs")]) == 1
    captured = capsys.readouterr()
    assert [line.partition(": ")[0] for line in captured.out.splitlines()] == [
        str(runs / "6 sound")
    ]
    assert {run["status"] for run in contents(store)} == {"FINISHED"}
    head, *told, _ = captured.err.splitlines()
    assert "5 of 6 runs" in head
    assert [line.partition(": ")[0].rpartition("/")[2] for line in told] == [
        "1 down", "2 down", "3 password", "4 broken", "5 changed",
    ]  # fmt: skip
    assert dead in told[0] and "not tried" not in told[0]
    assert f"{dead}: not tried" in told[1]
    assert "MLFLOW_TRACKING_URI" in told[2]
    assert "s3cret" not in captured.err


def test_a_run_that_its_server_will_not_take_holds_up_no_others(
    tmp_path: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs" / "demo"
    client = client_of(store)
    client.delete_experiment(client.create_experiment("deleted"))
    whole_run(store, runs / "1 gone", send=False, experiment="deleted")
    whole_run(store, runs / "2 sound", send=False)
    assert main(["sync", str(runs)]) == 1
    captured = capsys.readouterr()
    assert captured.out.startswith(f"{runs / '2 sound'}: sent to {store}")
    assert "1 of 2 runs" in captured.err
    assert f"{runs / '1 gone'}: {store}: MlflowException" in captured.err


def _chained(*kinds: type[Exception]) -> Exception:
    """Return an error of the last kind, which the ones before led to, as MLflow wraps them."""
    error = None
    for kind in kinds:
        wrapped = kind("it failed")
        wrapped.__context__, error = error, wrapped
    assert error is not None
    return error


@pytest.mark.parametrize(
    ("kinds", "down"),
    [
        ((ConnectionRefusedError,), True),
        ((requests.ConnectionError, MlflowException), True),
        ((requests.Timeout, MlflowException), True),
        ((sqlite3.OperationalError, MlflowException), True),
        ((sqlite3.DatabaseError,), True),  # the file is no database
        ((sqlite3.IntegrityError, MlflowException), False),
        ((requests.exceptions.RetryError, MlflowException), False),  # it answered, with 500
        ((MlflowException,), False),
        ((KeyError,), False),
    ],
)
def test_a_server_is_down_that_is_not_reached_and_not_one_that_says_no(
    kinds: tuple[type[Exception], ...], down: bool
) -> None:
    assert mlflow_store.is_down(_chained(*kinds)) == down


def test_an_address_that_is_gone_is_given_up_once_another_has_all(
    tmp_path: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    dead, runs = unreachable(), tmp_path / "runs"
    run = runs / "demo" / "one"
    whole_run(dead, run, [])
    with pytest.raises(SystemExit) as ended:
        main(["sync", str(run), "--instead"])
    assert ended.value.code == 2
    # A copy elsewhere is no reason to give it up, nor is an address that fails as well.
    assert main(["sync", str(run), "--uri", store]) == 0
    assert main(["sync", str(run), "--uri", unreachable(), "--instead"]) == 1
    assert spool.address(run) == dead
    assert list(sync.waiting(runs, dead, but=tmp_path / "mine")) == [run]

    assert main(["sync", str(run), "--uri", store, "--instead"]) == 0
    ids = children(run)
    assert list(sync.waiting(runs, dead, but=tmp_path / "mine")) == []
    capsys.readouterr()
    assert main(["sync", str(runs)]) == 0
    assert f"{run}: nothing " in capsys.readouterr().out
    assert children(run) == ids

    # What is told later goes there too.
    again = opened(dead, run, [])
    again.finish(RESULTS, [])
    again.close()
    assert main(["sync", str(runs)]) == 0
    assert {it["tags"]["resumed"] for it in contents(store)} == {"true"}


def test_a_run_that_was_killed_is_said_to_be_until_it_is_gone_on_with(
    tmp_path: Path, store: str
) -> None:
    runs = tmp_path / "runs"
    with open_run(runs, "demo", {"seed": 1}) as run:
        tracker = opened(store, run.folder)
        told(tracker)
        tracker.close()  # as much was sent as if it had been killed now
        # Whoever works on it is not said to be killed.
        assert sync.send(run.folder, store).did == "nothing"
        assert list(sync.waiting(runs, store, but=tmp_path)) == []
        assert {it["status"] for it in contents(store)} == {"RUNNING"}
    os.utime(run.folder / spool.SPOOL, (2e9, 2e9))
    assert list(sync.waiting(runs, store, but=tmp_path / "mine")) == [run.folder]
    assert sync.send(run.folder, store).did == "sent"
    assert sync.send(run.folder, store).did == "nothing"
    assert list(sync.waiting(runs, store, but=tmp_path / "mine")) == []
    for found in contents(store):
        assert found["status"] == "KILLED"
        assert found["tags"]["reason"].startswith("killed: ")
    (parent,) = [it for it in every_run(store) if "model" not in it.data.tags]
    assert parent.info.end_time == 2_000_000_000_000  # when it was last heard of

    with open_run(runs, "demo", {"seed": 1}) as again:
        assert again.folder == run.folder
        tracker = opened(store, again.folder)
        tracker.finish(RESULTS, [])
        tracker.close()
    for found in contents(store):
        assert found["status"] == "FINISHED"
        assert "reason" not in found["tags"]


def left_by_a_kill(runs: Path) -> Path:
    """Make a run whose process is gone, and that has not said how it ended."""
    with open_run(runs, "demo", {"seed": 1}) as run:
        tracker = opened(unreachable(), run.folder, send=False)
        told(tracker)
        tracker.close()
        return run.folder


def between_look_and_lock(monkeypatch: pytest.MonkeyPatch, done: Callable[[], None]) -> None:
    """Do something when who tells that a run was killed has read all and takes its lock."""
    looks = []

    @contextmanager
    def watched(folder: Path) -> Iterator[bool]:
        looks.append(folder)
        if len(looks) == 2:  # the first only looks whether anybody works on it
            done()
        with deserted(folder) as alone:
            yield alone

    monkeypatch.setattr(killed, "deserted", watched)


def test_nothing_is_read_while_who_goes_on_with_a_killed_run_waits_for_its_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = left_by_a_kill(tmp_path)
    file = run / spool.SPOOL
    *_, points = (line for line in file.read_bytes().splitlines(True) if b'"points"' in line)
    with file.open("ab") as more:
        more.write(points * (5 * 2**20 // len(points)) + b'{"kind": "torn')
    taken = False

    def no_longer(folder: Path, start: int) -> Any:
        assert not taken, "it reads its spool under the lock"
        return plain(folder, start)

    def take() -> None:
        nonlocal taken
        taken = True

    plain = spool._whole_lines
    monkeypatch.setattr(spool, "_whole_lines", no_longer)
    between_look_and_lock(monkeypatch, take)
    killed.tell(run)
    monkeypatch.undo()
    assert taken
    *_, tags, end = spool.read(run)
    assert {*tags[0]["tags"]} == {"", "alpha", "beta"}
    assert (end[0]["status"], end[1]) == ("KILLED", spool.size(run))
    assert spool.whole_to(run) == spool.size(run)
    assert b'"torn' not in file.read_bytes()


def test_a_run_that_is_gone_on_with_since_the_look_is_not_said_to_be_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = left_by_a_kill(tmp_path)

    def go_on() -> None:
        tracker = opened(unreachable(), run, send=False)
        tracker.finish(RESULTS, [])
        tracker.close()

    between_look_and_lock(monkeypatch, go_on)
    killed.tell(run)
    kinds = [entry.get("status", entry["kind"]) for entry, _ in spool.read(run)]
    assert "KILLED" not in kinds and "FINISHED" in kinds


def test_a_finished_run_that_is_killed_while_it_is_concluded_anew_is_said_to_be(
    tmp_path: Path,
) -> None:
    run = left_by_a_kill(tmp_path)
    tracker = opened(unreachable(), run, send=False)
    tracker.finish(RESULTS, [])
    tracker.close()
    (run / "results.json").write_text("{}")
    assert not killed.was(run)
    again = opened(unreachable(), run, send=False)
    again.close()
    assert killed.was(run)
    killed.tell(run)
    assert not killed.was(run)
    *_, (last, _) = spool.read(run)
    assert (last["kind"], last["status"]) == ("end", "KILLED")


@given(st.lists(st.sampled_from(["open", "again", "end", "points", "files"])), st.integers(0, 400))
def test_whether_runs_are_over_is_known_however_much_of_the_end_is_looked_at(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[str], tail: int
) -> None:
    folder = tmp_path_factory.mktemp("spool")
    (folder / spool.SPOOL).write_text("".join(f'{{"kind": "{kind}"}}\n' for kind in kinds))
    bounds = [kind for kind in kinds if kind in ("open", "again", "end")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spool, "_TAIL", tail)
        assert spool.ended(folder) == (not bounds or bounds[-1] == "end")


def every_run(uri: str) -> list[Any]:
    """Return an experiment's runs as MLflow has them."""
    client = client_of(uri)
    found: list[Any] = client.search_runs([client.get_experiment_by_name(EXPERIMENT).experiment_id])
    return found


def test_a_run_is_not_taken_for_busy_by_who_goes_on_with_it_while_somebody_looks(
    tmp_path: Path,
) -> None:
    with open_run(tmp_path, "demo", {"seed": 1}) as run:
        pass
    looking, seen = threading.Event(), threading.Event()

    def look() -> None:
        with deserted(run.folder) as alone:
            assert alone
            looking.set()
            seen.wait(0.05)  # `open_run` waits for whoever only looks

    looker = threading.Thread(target=look)
    looker.start()
    assert looking.wait(10)
    with open_run(tmp_path, "demo", {"seed": 1}) as again:
        assert (again.folder, again.passed) == (run.folder, [])
    looker.join(10)


def test_a_password_is_asked_for_and_never_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    uri = f"http://me:s3cret@127.0.0.1:{free_port()}"
    whole_run(uri, tmp_path, [])
    assert main(["sync", str(tmp_path)]) == 2
    assert "MLFLOW_TRACKING_URI" in capsys.readouterr().err
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    assert main(["sync", str(tmp_path)]) == 1  # it is down
    assert "s3cret" not in capsys.readouterr().err
    assert not any(b"s3cret" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_run_that_somebody_else_sends_is_left_to_them(tmp_path: Path, store: str) -> None:
    run = unsent(tmp_path / "run")
    with spool.alone(run) as alone:
        assert alone
        assert sync.send(run, store).did == "busy"
    assert sync.send(run, store).did == "sent"


def test_a_line_that_was_cut_off_or_changed_is_no_reason_to_lose_the_rest(
    tmp_path: Path, store: str
) -> None:
    run = tmp_path / "run"
    first = opened(unreachable(), run, [])
    told(first)
    first.close()
    file = run / spool.SPOOL
    file.write_bytes(file.read_bytes() + b"{}\nnot json\n" + b'{"kind": "points", "poi')
    again = opened(store, run)
    again.finish(RESULTS, [])
    again.close()
    found = {run["model"]: run for run in contents(store)}
    assert found[""]["status"] == "FINISHED"
    assert len(found["alpha"]["metrics"]["demo/score"]) == 4
    assert all(json.loads(line) for line in file.read_text().splitlines() if line[0] == "{"
               and line != "{}")  # fmt: skip


def test_runs_are_found_below_their_folder(tmp_path: Path) -> None:
    for name in ("runs/games/one", "runs/index/two", "runs/mlartifacts/deep/er/down"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / spool.SPOOL).touch()
    both = [tmp_path / "runs" / name for name in ("games/one", "index/two")]
    assert sync.runs(tmp_path / "runs") == both
    assert sync.runs(tmp_path / "runs" / "games") == both[:1]
    assert sync.runs(both[1]) == both[1:]


def test_parts_of_a_run_are_found_after_the_whole(tmp_path: Path) -> None:
    for name in ("suite/one", "suite/one/parts/hle/two", "suite/none/parts/hle/three"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / spool.SPOOL).touch()
    # What lies in suite/none is no part of a run, whatever it is.
    both = [tmp_path / "suite/one", tmp_path / "suite/one/parts/hle/two"]
    assert sync.runs(tmp_path) == both
    assert sync.runs(both[0]) == both
    assert sync.runs(both[1]) == both[1:]
    assert list(sync.waiting(tmp_path, unreachable(), but=both[0])) == []


@pytest.mark.parametrize("folder", ["/", "/run", "/r/run", "/parts/demo/run"])
def test_a_shallow_folder_is_part_of_nothing(folder: str) -> None:
    assert spool.above(Path(folder)) is None


def above(uri: str, run_dir: Path) -> list[str | None]:
    """Return what a run and then its models stand below."""
    first = spool.sent_to(run_dir, uri).run_id
    runs = [client_of(uri).get_run(it) for it in (first, *children(run_dir).values())]
    return [run.data.tags.get("mlflow.parentRunId") for run in runs]


def test_parts_that_could_not_be_sent_are_sent_and_stand_below_the_whole(
    tmp_path: Path, store: str
) -> None:
    suite = unsent(tmp_path / "runs" / "suite" / "one")
    part = unsent(suite / "parts" / "demo" / "two")
    assert main(["sync", str(tmp_path / "runs"), "--uri", store]) == 0
    top = spool.sent_to(suite, store).run_id
    own = spool.sent_to(part, store).run_id
    assert above(store, part) == [top, own, own]


def test_a_part_that_was_sent_alone_stands_below_the_whole_once_that_is_sent(
    tmp_path: Path, store: str
) -> None:
    suite = unsent(tmp_path / "suite" / "one")
    part, gone = (unsent(suite / "parts" / "demo" / name) for name in ("two", "three"))
    for each in (part, gone):
        assert sync.send(each, store).did == "sent"
    client_of(store).delete_run(spool.sent_to(gone, store).run_id)
    own = spool.sent_to(part, store).run_id
    assert above(store, part) == [None, own, own]
    sent = sync.send(suite, store)
    assert (sent.did, list(sent.refused)) == ("sent", [])
    assert above(store, part) == [sent.run_id, own, own]


def test_the_whole_sends_at_its_end_what_its_parts_could_not(tmp_path: Path, store: str) -> None:
    runs = tmp_path / "runs"
    folder = runs / "suite" / "one"
    part = meant_for(store, folder / "parts" / "demo" / "two")
    said: list[str] = []
    suite = whole_run(store, folder, runs_dir=runs, say=said.append)
    assert the("mlflow.sent_earlier", said)["number"] == len(said) == 1
    own = spool.sent_to(part, store).run_id
    assert above(store, part) == [suite.run_id, own, own]
    # A part that is gone on with takes no model's run out of its own.
    again = opened(store, part, tags={"mlflow.parentRunId": suite.run_id or ""})
    again.close()
    assert above(store, part) == [suite.run_id, own, own]


def test_what_is_told_while_a_server_is_down_costs_the_run_no_time(tmp_path: Path) -> None:
    tracker = opened(unreachable(), tmp_path, [])
    wait_for(lambda: (tmp_path / spool.SPOOL).exists(), 10)
    tracker.log_step({"alpha": {"a": 1.0}}, {}, step=1, timestamp_ms=1)
    before = (tmp_path / spool.SPOOL).stat().st_size
    tracker.log_step({"alpha": {"a": 1.0}}, {}, step=1, timestamp_ms=1)
    assert (tmp_path / spool.SPOOL).stat().st_size == before  # told again is not told
    tracker.close()


def test_a_run_that_was_deleted_in_mlflow_stays_deleted_until_there_is_more(
    tmp_path: Path, store: str
) -> None:
    tracker = whole_run(store, tmp_path / "run")
    client = client_of(store)
    client.delete_run(tracker.run_id)
    assert sync.send(tmp_path / "run", store).did == "nothing"
    found = client.get_experiment_by_name(EXPERIMENT)
    assert len(client.search_runs([found.experiment_id])) == 2
