"""A process that starts early does its task once, as a process that starts then would."""

import multiprocessing
import multiprocessing.connection
import multiprocessing.spawn
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT

from raybench.fleet.on_cpu.early_process import EarlyProcess

PATIENCE_S = 60.0
pytestmark = pytest.mark.process


def report(file: str, task: str) -> None:
    """Write down what this process is like, as its task."""
    modules = {"tabnanny"} & sys.modules.keys()
    name = multiprocessing.current_process().name
    Path(file).write_text(
        f"{task} {os.getpid()} {name} {os.environ.get('GIVEN')} {sorted(modules)}"
    )


def put(queue: Any) -> None:
    """Put the id of this process into the queue."""
    queue.put(os.getpid())


@pytest.fixture
def early() -> Iterator[EarlyProcess]:
    """One that has started, and imports."""
    process = EarlyProcess(["tabnanny", "no_such_module"])
    yield process
    process.close()
    process.process.join(PATIENCE_S)


@pytest.fixture
def context(early: EarlyProcess) -> Any:
    """A context that starts processes, as vLLM's, and has the early one for its first."""
    return early.become_first(multiprocessing.get_context("spawn"))


def make(context: Any, file: Path, task: str) -> Any:
    kwargs = {"file": str(file), "task": task}
    return context.Process(target=report, name=f"Named-{task}", kwargs=kwargs)


def run(context: Any, file: Path, task: str) -> Any:
    process = make(context, file, task)
    process.start()
    process.join(PATIENCE_S)
    assert process.exitcode == 0
    return process


def test_it_does_the_task_of_the_first_process_and_no_other(
    early: EarlyProcess, context: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIVEN", "later")
    assert context.Queue  # all else is the usual context's
    first = run(context, tmp_path / "first", "one")
    second = run(context, tmp_path / "second", "two")
    pid = early.process.pid
    assert (tmp_path / "first").read_text() == f"one {pid} Named-one later ['tabnanny']"
    assert (tmp_path / "second").read_text() == f"two {second.pid} Named-two later []"
    assert (first.pid, first.name) == (pid, "Named-one") and second.pid != pid


def test_another_starts_if_the_environment_it_reads_at_its_start_has_changed(
    early: EarlyProcess, context: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    process = run(context, tmp_path / "first", "one")
    assert process.pid != early.process.pid
    early.process.join(PATIENCE_S)
    assert early.process.exitcode == 0, "it is not needed"


def test_another_starts_if_its_program_would_be_another(
    early: EarlyProcess, context: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As vLLM has one that binds what it starts to a node of the memory."""
    wrapped = tmp_path / "python"
    wrapped.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    wrapped.chmod(0o755)
    monkeypatch.setattr(multiprocessing.spawn, "_python_exe", os.fsencode(wrapped))
    assert run(context, tmp_path / "first", "one").pid != early.process.pid


def test_another_starts_if_it_has_died(early: EarlyProcess, context: Any, tmp_path: Path) -> None:
    early.process.kill()
    early.process.join(PATIENCE_S)
    run(context, tmp_path / "first", "one")
    assert (tmp_path / "first").read_text().startswith("one ")


def test_another_starts_if_the_task_can_only_be_sent_at_a_start(
    early: EarlyProcess, context: Any
) -> None:
    queue = context.Queue()
    process = context.Process(target=put, name="one", kwargs={"queue": queue})
    process.start()
    assert queue.get(timeout=PATIENCE_S) == process.pid != early.process.pid
    process.join(PATIENCE_S)


def test_it_becomes_the_first_to_start_of_several_that_are_made(
    early: EarlyProcess, context: Any, tmp_path: Path
) -> None:
    made = [make(context, tmp_path / task, task) for task in ("one", "two")]
    for process in made:
        process.start()
    for process in made:
        process.join(PATIENCE_S)
    assert [process.exitcode for process in made] == [0, 0]
    assert made[0].pid == early.process.pid != made[1].pid
    assert (tmp_path / "two").read_text().startswith("two ")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, None])
def test_it_ends_with_its_parent(how: signal.Signals | None, tmp_path: Path) -> None:
    """However much it has still to import."""
    (tmp_path / "endless.py").write_text("import time\ntime.sleep(600)\n")
    script = (
        "from raybench.fleet.on_cpu.early_process import EarlyProcess\n"
        "print(EarlyProcess(['endless']).process.pid, flush=True)\n"
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
