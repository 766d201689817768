"""A process that is begun early does what it is told, once, as one that is begun then would."""

import multiprocessing
import multiprocessing.connection
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from raybench.fleet.head_start import HeadStart, taken

PATIENCE_S = 60.0


def told(file: str, what: str) -> None:
    """Write down who and where one is, as the process that does it."""
    modules = {"tabnanny"} & sys.modules.keys()
    name = multiprocessing.current_process().name
    Path(file).write_text(f"{what} {os.getpid()} {name} {os.environ.get('TOLD')} {sorted(modules)}")


@pytest.fixture
def beginner() -> ModuleType:
    """Begins processes, as vLLM does."""
    module = ModuleType("beginner")
    module.context = lambda: multiprocessing.get_context("spawn")  # type: ignore[attr-defined]
    return module


@pytest.fixture
def early() -> Iterator[HeadStart]:
    """Begun, and importing."""
    process = HeadStart(["tabnanny", "no_such_module"])
    yield process
    process.close()
    process.process.join(PATIENCE_S)


def done(beginner: Any, file: Path, what: str) -> Any:
    process = beginner.context().Process(
        target=told, name=f"Named-{what}", kwargs={"file": str(file), "what": what}
    )
    process.start()
    process.join(PATIENCE_S)
    assert process.exitcode == 0
    return process


def test_it_does_what_the_next_process_would(
    early: HeadStart, beginner: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOLD", "later")
    usual = beginner.context
    with taken(early, beginner, "context"):
        assert beginner.context().Queue  # all else is the context's
        first = done(beginner, tmp_path / "first", "one")
        second = done(beginner, tmp_path / "second", "two")
    pid = early.process.pid
    assert (tmp_path / "first").read_text() == f"one {pid} Named-one later ['tabnanny']"
    assert (tmp_path / "second").read_text() == f"two {second.pid} Named-two later []"
    assert (first.pid, first.name) == (pid, "Named-one") and second.pid != pid
    assert beginner.context is usual


def test_it_is_not_taken_where_one_would_be_another(
    early: HeadStart, beginner: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # is read before it could be told
    with taken(early, beginner, "context"):
        process = done(beginner, tmp_path / "first", "one")
    assert process.pid != early.process.pid
    early.process.join(PATIENCE_S)
    assert early.process.exitcode == 0, "nobody needs it"


def test_nothing_is_changed_where_none_has_begun(beginner: ModuleType) -> None:
    usual = beginner.context
    with taken(None, beginner, "context"):
        assert beginner.context is usual


def test_it_that_has_died_is_not_taken(
    early: HeadStart, beginner: ModuleType, tmp_path: Path
) -> None:
    early.process.kill()
    early.process.join(PATIENCE_S)
    with taken(early, beginner, "context"):
        done(beginner, tmp_path / "first", "one")
    assert (tmp_path / "first").read_text().startswith("one ")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, None])
def test_it_ends_with_who_has_begun_it(how: signal.Signals | None) -> None:
    script = (
        "from raybench.fleet.head_start import HeadStart\n"
        "print(HeadStart([]).process.pid, flush=True)\n"
        "input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        waiting = os.pidfd_open(int(process.stdout.readline()))
        if how:
            process.send_signal(how)
        else:
            process.stdin.write("\n")
            process.stdin.flush()
        assert process.wait(PATIENCE_S) == (-how if how else 0)
    (ended,) = multiprocessing.connection.wait([waiting], PATIENCE_S)
    os.close(waiting)
    assert ended == waiting
