"""A process that is begun before it is known what it is to do.

It imports meanwhile what it will need, beside whoever begins it and imports much of the same.
"""

import atexit
import importlib
import multiprocessing
import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from types import ModuleType
from typing import Any
from unittest.mock import patch

_AT_BIRTH = ("LD_PRELOAD", "OMP_", "GOMP_", "KMP_AFFINITY")
"""How the variables begin that are read before a process could be told of others."""


class HeadStart:
    """Such a process. It ends with whoever has begun it, or when it is not needed."""

    def __init__(self, modules: Sequence[str]) -> None:
        """Begin it, in this environment; it imports these, so far as there are such."""
        context = multiprocessing.get_context("spawn")
        self._born_with = _at_birth()
        mine, its = context.Pipe(duplex=False)[::-1]
        self._tell = mine
        self.process = context.Process(target=_wait, args=(its, [*modules]))
        self.process.start()
        its.close()
        atexit.register(self.close)  # multiprocessing waits for it then

    @property
    def fits(self) -> bool:
        """Tell whether it is free, and one that begins now would be no other."""
        free = not self._tell.closed and self.process.is_alive()
        return free and self._born_with == _at_birth()

    def do(self, target: Callable[..., object], name: str, named: Mapping[str, Any]) -> None:
        """Have it do this, under this name and in the environment that there is now."""
        self.process.name = name
        self._tell.send_bytes(ForkingPickler.dumps((dict(os.environ), name, target, dict(named))))
        self._tell.close()

    def close(self) -> None:
        """End it where it has nothing to do yet."""
        self._tell.close()


def _at_birth() -> dict[str, str]:
    return {name: it for name, it in os.environ.items() if name.startswith(_AT_BIRTH)}


def _wait(told: Connection, modules: Sequence[str]) -> None:
    """Be that process."""
    with suppress(ImportError):  # it finds its place by an environment that is as it was given
        from setproctitle import setproctitle

        setproctitle("raybench::head_start")
    for module in modules:
        with suppress(ImportError):  # who needs it will say so
            importlib.import_module(module)
    try:
        environment, name, target, named = pickle.loads(told.recv_bytes())
    except EOFError:
        return
    told.close()
    os.environ.clear()
    os.environ.update(environment)
    multiprocessing.current_process().name = name
    target(**named)


@contextmanager
def taken(early: HeadStart | None, module: ModuleType, function: str) -> Iterator[None]:
    """Have it be what is begun next by the context that this function of the module returns.

    Where it does not fit, it ends, and processes begin as usual.
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

    def Process(
        self, *, target: Callable[..., object], name: str, kwargs: Mapping[str, Any]
    ) -> Any:
        """Return a process that can be started."""
        if self._early.fits:
            return _Begun(self._early, target, name, kwargs)
        return self._usual.Process(target=target, name=name, kwargs=kwargs)


class _Begun:
    """A process of multiprocessing that has begun when it is started."""

    def __init__(self, early: HeadStart, *what: Any) -> None:
        self._early, self._what = early, what

    def __getattr__(self, name: str) -> Any:
        return getattr(self._early.process, name)

    def start(self) -> None:
        """Have it do what it is for."""
        self._early.do(*self._what)
