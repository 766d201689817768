"""A process that is begun early does what it is told, once, as one that is begun then would."""

import multiprocessing
import multiprocessing.connection
import multiprocessing.spawn
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from helpers import ROOT

from raybench.fleet.head_start import HeadStart, taken

PATIENCE_S = 60.0
pytestmark = pytest.mark.process


def told(file: str, what: str) -> None:
    """Write down who and where one is, as the process that does it."""
    modules = {"tabnanny"} & sys.modules.keys()
    name = multiprocessing.current_process().name
    Path(file).write_text(f"{what} {os.getpid()} {name} {os.environ.get('TOLD')} {sorted(modules)}")


def put(queue: Any) -> None:
    """Tell who it is that has this queue."""
    queue.put(os.getpid())


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


def test_of_several_that_are_made_the_first_to_start_is_it(
    early: HeadStart, beginner: Any, tmp_path: Path
) -> None:
    with taken(early, beginner, "context"):
        made = [
            beginner.context().Process(
                target=told, name=what, kwargs={"file": str(tmp_path / what), "what": what}
            )
            for what in ("one", "two")
        ]
        for process in made:
            process.start()
    for process in made:
        process.join(PATIENCE_S)
    assert [it.exitcode for it in made] == [0, 0]
    assert made[0].pid == early.process.pid != made[1].pid
    assert (tmp_path / "two").read_text().startswith("two ")


def test_what_can_only_be_handed_over_at_the_beginning_is(
    early: HeadStart, beginner: Any, tmp_path: Path
) -> None:
    with taken(early, beginner, "context"):
        context = beginner.context()
        queue = context.Queue()
        process = context.Process(target=put, name="one", kwargs={"queue": queue})
        process.start()
        assert queue.get(timeout=PATIENCE_S) == process.pid != early.process.pid
        process.join(PATIENCE_S)


def test_it_is_not_taken_where_another_program_would_begin(
    early: HeadStart, beginner: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As vLLM has one that binds what it begins to a node of the memory."""
    wrapped = tmp_path / "python"
    wrapped.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    wrapped.chmod(0o755)
    monkeypatch.setattr(multiprocessing.spawn, "_python_exe", os.fsencode(wrapped))
    with taken(early, beginner, "context"):
        assert done(beginner, tmp_path / "first", "one").pid != early.process.pid


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
def test_it_ends_with_who_has_begun_it(how: signal.Signals | None, tmp_path: Path) -> None:
    """However much it has still to import."""
    (tmp_path / "endless.py").write_text("import time\ntime.sleep(600)\n")
    script = (
        "from raybench.fleet.head_start import HeadStart\n"
        "print(HeadStart(['endless']).process.pid, flush=True)\n"
        "input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": f"{ROOT}:{tmp_path}"},
    ) as process:  # fmt: skip
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
