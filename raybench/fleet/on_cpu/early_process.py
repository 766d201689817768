"""A process that starts before it is known what it will do, and imports modules meanwhile."""

import atexit
import importlib
import multiprocessing
import multiprocessing.spawn
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

_READ_AT_START = ("LD_PRELOAD", "OMP_", "GOMP_", "KMP_AFFINITY", "TORCHINDUCTOR_")
"""Prefixes of the variables that a process reads before it could be given others."""
began_early = False
"""This process is such a one."""


class EarlyProcess:
    """A process that waits for its task. It ends with its parent, or when it is not needed."""

    def __init__(self, modules: Sequence[str]) -> None:
        """Start it in this environment; it imports the modules, as far as they exist."""
        self._start = _start_conditions()
        context = multiprocessing.get_context("spawn")
        task, self._task = context.Pipe(duplex=False)
        self.process = context.Process(target=_run, args=(task, [*modules]))
        self.process.start()
        task.close()
        atexit.register(self.close)  # multiprocessing waits for the process then

    def run(self, arguments: dict[str, Any]) -> bool:
        """Have it do what `multiprocessing.Process` is given, and return whether it does.

        It does not if it has a task, if a process that starts now would differ from it, or if the
        task can only be sent while a process starts (queues, locks).
        """
        is_like_new = self._start == _start_conditions()
        if self._task.closed or not self.process.is_alive() or not is_like_new:
            return False
        try:
            self._task.send((dict(os.environ), arguments["name"]))
            self._task.send((arguments["target"], arguments["kwargs"]))
        except Exception:  # the process that starts in its place raises what is wrong
            return False
        finally:
            self.close()
        self.process.name = arguments["name"]
        return True

    def close(self) -> None:
        """End it if it has no task."""
        self._task.close()

    def become_first(self, context: Any) -> Any:
        """Return a multiprocessing context whose first process to start is this one, if it can."""
        return _Context(context, self)


def _start_conditions() -> tuple[Any, dict[str, str]]:
    """Return what a process that starts now keeps until its end."""
    variables = {
        name: value for name, value in os.environ.items() if name.startswith(_READ_AT_START)
    }
    return multiprocessing.spawn.get_executable(), variables


def _run(task: Connection, modules: Sequence[str]) -> None:
    """Be that process."""
    global began_early
    began_early = True
    with suppress(ImportError):  # its title takes the place of the environment that it was given
        from setproctitle import setproctitle

        setproctitle("raybench::early_process")
    received: list[tuple[dict[str, str], str]] = []

    def receive() -> None:
        try:
            received.append(task.recv())
        except EOFError:
            os._exit(0)  # it is not needed, however much it has still to import

    receiving = threading.Thread(target=receive)
    receiving.start()
    for module in modules:
        with suppress(ImportError):  # the task says so if it needs the module
            importlib.import_module(module)
    receiving.join()
    ((environment, name),) = received
    os.environ.clear()
    os.environ.update(environment)
    multiprocessing.current_process().name = name
    try:
        target, kwargs = task.recv()  # what this imports finds the new environment
    except EOFError:
        return  # the task could not be sent
    task.close()
    target(**kwargs)


class _Context:
    """A multiprocessing context that has one of its processes already."""

    def __init__(self, usual: Any, early: EarlyProcess) -> None:
        self._usual, self._early = usual, early

    def __getattr__(self, name: str) -> Any:
        return getattr(self._usual, name)

    def Process(self, **arguments: Any) -> Any:
        """Return a process that can be started."""
        return _Process(self._usual.Process(**arguments), self._early, arguments)


class _Process:
    """A `multiprocessing.Process` that becomes the early one when it is started."""

    def __init__(self, usual: Any, early: EarlyProcess, arguments: dict[str, Any]) -> None:
        self._process, self._early, self._arguments = usual, early, arguments

    def __getattr__(self, name: str) -> Any:
        return getattr(self._process, name)

    def start(self) -> None:
        """Give the early process its task; start another if it does not take it."""
        if self._early.run(self._arguments):
            self._process = self._early.process
        else:
            self._early.close()  # at once: two that import take longer
            self._process.start()
