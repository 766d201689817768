"""A process that is begun before it is known what it is to do.

It imports meanwhile what it will need, beside whoever begins it and imports much of the same.
"""

import atexit
import importlib
import multiprocessing
import multiprocessing.spawn
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any
from unittest.mock import patch

_AT_BIRTH = ("LD_PRELOAD", "OMP_", "GOMP_", "KMP_AFFINITY", "TORCHINDUCTOR_")
"""How the variables begin that are read before a process could be told of others."""


class HeadStart:
    """Such a process. It ends with whoever has begun it, or when it is not needed."""

    def __init__(self, modules: Sequence[str]) -> None:
        """Begin it, in this environment; it imports these, so far as there are such."""
        self._born = _birth()
        context = multiprocessing.get_context("spawn")
        its, self._tell = context.Pipe(duplex=False)
        self.process = context.Process(target=_begin, args=(its, [*modules]))
        self.process.start()
        its.close()
        atexit.register(self.close)  # multiprocessing waits for it then

    def does(self, what: dict[str, Any]) -> bool:
        """Have it do what a process of multiprocessing is told, and tell whether it does.

        It does not where it has something to do, one that begins now would be another, or what it
        is to do can only be handed over while a process begins (queues, locks).
        """
        if self._tell.closed or not self.process.is_alive() or self._born != _birth():
            return False
        try:
            self._tell.send((dict(os.environ), what["name"]))
            self._tell.send((what["target"], what["kwargs"]))
        except Exception:  # whoever begins it as usual finds out what is wrong with it
            return False
        finally:
            self.close()
        self.process.name = what["name"]
        return True

    def close(self) -> None:
        """End it where it has nothing to do."""
        self._tell.close()


def _birth() -> tuple[Any, dict[str, str]]:
    """Return what a process that begins now has for good."""
    given = {name: it for name, it in os.environ.items() if name.startswith(_AT_BIRTH)}
    return multiprocessing.spawn.get_executable(), given


def _begin(told: Connection, modules: Sequence[str]) -> None:
    """Be that process."""
    with suppress(ImportError):  # it finds its place by an environment that is as it was given
        from setproctitle import setproctitle

        setproctitle("raybench::head_start")
    beginning: list[tuple[dict[str, str], str]] = []

    def listen() -> None:
        try:
            beginning.append(told.recv())
        except EOFError:
            os._exit(0)  # nobody needs it, however far it is

    listening = threading.Thread(target=listen)
    listening.start()
    for module in modules:
        with suppress(ImportError):  # who needs it will say so
            importlib.import_module(module)
    listening.join()
    ((environment, name),) = beginning
    os.environ.clear()
    os.environ.update(environment)
    multiprocessing.current_process().name = name
    try:
        target, named = told.recv()  # what it imports finds that environment
    except EOFError:
        return  # it could not be handed over
    told.close()
    target(**named)


@contextmanager
def taken(early: HeadStart | None, module: ModuleType, function: str) -> Iterator[None]:
    """Have it be what is begun next by the context that this function of the module returns.

    Where it cannot be, it ends, and processes begin as usual.
    """
    if early is None:
        yield
        return
    usual = getattr(module, function)
    with patch.object(module, function, lambda: _Context(usual(), early)), closing(early):
        yield


class _Context:
    """A context of multiprocessing that has begun one of its processes before."""

    def __init__(self, usual: Any, early: HeadStart) -> None:
        self._usual, self._early = usual, early

    def __getattr__(self, name: str) -> Any:
        return getattr(self._usual, name)

    def Process(self, **what: Any) -> Any:
        """Return a process that can be started."""
        return _Process(self._usual.Process(**what), self._early, what)


class _Process:
    """A process of multiprocessing, which may have begun when it is started."""

    def __init__(self, usual: Any, early: HeadStart, what: dict[str, Any]) -> None:
        self._is, self._early, self._what = usual, early, what

    def __getattr__(self, name: str) -> Any:
        return getattr(self._is, name)

    def start(self) -> None:
        """Have the early one do what it is for; begin another where that does not."""
        if self._early.does(self._what):
            self._is = self._early.process
        else:
            self._early.close()  # at once: two that import take longer
            self._is.start()
