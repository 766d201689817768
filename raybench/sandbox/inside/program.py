"""Running a program as Python itself would run it, in a process that has done nothing else."""

import atexit
import builtins
import contextlib
import importlib
import linecache
import os
import sys
import threading
import traceback
import types
from collections.abc import Callable, Sequence
from typing import Any

NAME = "main.py"
_EXACT = 1 << 63
_MARK = "\ufeff"
"""What some editors begin a file with: Python leaves it out."""


def run(source: bytes) -> int:
    """Run a program as `__main__` to its very end, and return its exit code."""
    main = types.ModuleType("__main__")
    main.__dict__.update(__builtins__=builtins, __file__=NAME, __cached__=None)
    sys.modules["__main__"] = main
    sys.argv = [NAME]
    sys.path.insert(0, os.getcwd())  # its files may be modules, as those beside a script are
    code = _ended(lambda: _execute(source, main.__dict__))
    for last in (_threads, atexit._run_exitfuncs):
        _ended(last)  # what goes wrong there is shown and changes nothing, as in Python
    if not _flushed(sys.stdout, sys.stderr):
        code = code or 120  # as Python says of output that it could not write
    _forget(main.__dict__)
    _flushed(sys.__stdout__, sys.__stderr__)
    return code & 0xFF


def _execute(source: bytes, space: dict[str, Any]) -> None:
    text = source.decode("utf-8", "surrogatepass").removeprefix(_MARK)
    # Tracebacks show the program's lines, though it lies in no file.
    linecache.cache[NAME] = (len(text), None, text.splitlines(keepends=True), NAME)
    exec(compile(text, NAME, "exec", dont_inherit=True), space)


def _ended(work: Callable[[], None]) -> int:
    """Return the exit code that a piece of work stands for."""
    try:
        work()
    except SystemExit as ended:
        if ended.code is None:
            return 0
        if isinstance(ended.code, int):  # by none of its own methods
            code = int.__index__(ended.code)
            return code if -_EXACT <= code < _EXACT else -1
        print(ended.code, file=sys.stderr)
        return 1
    except BaseException as error:
        _show(error)
        return 1
    return 0


def _flushed(*streams: Any) -> bool:
    """Tell whether all that was written has gone out, as far as there was a way."""
    gone = True
    for stream in streams:
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except BaseException:
            gone = False
    return gone


def _forget(space: dict[str, Any]) -> None:
    """Let go of what a program has made, for some of it has something to do at its end."""
    for own in (True, False):  # Python's order: what begins with an underscore goes first
        for name in [name for name in space if str(name).startswith("_") is own]:
            if name != "__builtins__":
                with contextlib.suppress(BaseException):
                    space[name] = None


def _show(error: BaseException) -> None:
    """Print what went wrong, from the program's own first line on."""
    mine = error.__traceback__
    while mine is not None and mine.tb_frame.f_code.co_filename != NAME:
        mine = mine.tb_next
    kind, hook = type(error), sys.excepthook
    try:
        if hook is not sys.__excepthook__:
            hook(kind, error, mine)
        else:
            traceback.print_exception(kind, error, mine)
    except BaseException:
        print(f"{kind.__name__}, which could not be shown", file=sys.__stderr__)


def _threads() -> None:
    getattr(threading, "_shutdown")()  # noqa: B009 - there is no public name for waiting for all


def fresh() -> None:
    """Leave nothing that all runs of a server would have in common."""
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.seed()  # `random` does so by itself after a fork


def open_streams() -> None:
    """Make the standard streams as Python makes them."""
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", newline="\n", closefd=False)
    sys.stdout = open(
        1, "w", encoding="utf-8", errors="surrogateescape", closefd=False, buffering=-1
    )
    sys.stderr = open(
        2, "w", encoding="utf-8", errors="backslashreplace", closefd=False, buffering=1
    )
    for name in ("stdin", "stdout", "stderr"):
        setattr(sys, f"__{name}__", getattr(sys, name))


def import_all(names: Sequence[str]) -> None:
    """Import what programs are likely to, so that it is there already."""
    for name in names:
        importlib.import_module(name)
    import site

    # `exit` and its like, without the folders of packages that `site` would add as well.
    site.setquit()
    site.setcopyright()
    site.sethelper()
    with contextlib.suppress(ImportError):
        importlib.import_module("encodings.idna")
    os.environ.setdefault("HOME", "/tmp")
