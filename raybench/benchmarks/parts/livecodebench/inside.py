"""What runs beside a candidate in the sandbox. Its text is sent there; nobody imports it here.

It knows no expected output and decides nothing: it gives inputs and tells what came of them.
Whatever a candidate does to it changes only what that candidate is seen to answer.
"""

import ast
import builtins
import contextlib
import importlib
import io
import json
import numbers
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import partial
from types import ModuleType
from typing import Any

STARRED = [
    *("string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random"),
    *("statistics", "itertools", "functools", "operator", "io", "sys", "json", "builtins"),
    "typing",
]
"""Modules all of whose names programs for the official harness find there, in its order."""
PRELUDE = "".join(
    [
        *(f"from {name} import *\n" for name in STARRED),
        *(f"import {name}\n" for name in STARRED if name not in ("builtins", "typing")),
        "sys.setrecursionlimit(50000)\n",
    ]
)
DIGITS = 50_000
"""Of the longest number that the official harness writes."""


def encoded(value: Any) -> Any:
    """Return a value as plain data that says what it was, by none of its own methods."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int.__index__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, list):
        return [encoded(part) for part in list.__iter__(value)]
    if isinstance(value, tuple):
        return {"tuple": [encoded(part) for part in tuple.__iter__(value)]}
    if isinstance(value, dict):
        return {"dict": [[encoded(key), encoded(held)] for key, held in dict.items(value)]}
    if type(value).__module__ == "numpy" and type(value).__name__ != "ndarray":
        return encoded(value.item())
    with contextlib.suppress(Exception):  # an infinite one has no ratio
        if isinstance(value, numbers.Number) and not isinstance(value, complex):
            return {"number": "{}/{}".format(*value.as_integer_ratio())}  # type: ignore[attr-defined]
    return {"other": type(value).__name__}


def apart() -> tuple[str, Callable[[Any], None]]:
    """Return all that came in, and how to tell what goes out, once: nothing else goes there."""
    with os.fdopen(os.dup(0), "rb") as stream:
        text = stream.read().decode()
    out, nothing = os.dup(1), os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        os.dup2(nothing, standard)
    write, leave, dumps = os.write, os._exit, json.dumps

    def tell(value: Any) -> None:
        data = memoryview(dumps(value).encode())
        while data:
            data = data[write(out, data) :]
        leave(0)

    return text, tell


def functional(code: str, name: str) -> None:
    """Call a program's function with the values that stand in the lines of the input."""
    text, tell = apart()
    arguments = [json.loads(line) for line in text.split("\n") if line.strip()]
    sys.set_int_max_str_digits(DIGITS)
    module = ModuleType("solution")
    sys.modules["solution"] = module
    exec(PRELUDE, module.__dict__)
    exec(compile(code, "<solution>", "exec"), module.__dict__)
    owner: Any = module
    if hasattr(module, "Solution") and hasattr(module.Solution, name):
        owner = module.Solution()
    tell(encoded(getattr(owner, name)(*arguments)))


# ------------------------------------------------------------------------- as the official harness


class TimeoutException(Exception):
    """The official harness' alarm went off: programs may catch it."""


class Buffer:
    """Its `sys.stdin.buffer`, which gives the first line however often it is asked for one."""

    def __init__(self, text: str) -> None:
        self.data = text.encode()

    def read(self, *_: Any) -> bytes:
        """Return everything."""
        return self.data

    def readline(self, *_: Any) -> bytes:
        """Return the first line."""
        return self.data.split(b"\n")[0] + b"\n"


class Stdin:
    """Its `sys.stdin`: a text whose lines have no ends, and that cannot be iterated over."""

    def __init__(self, text: str) -> None:
        lines = iter(text.split("\n"))
        self.buffer = Buffer(text)
        self.rest = io.StringIO(text)
        self.read = lambda *_: text
        self.readline = lambda *_: next(lines)
        self.readlines = lambda *_: text.split("\n")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rest, name)


def official(seconds: int) -> None:
    """Give a program all inputs in one process, as the official harness does; tell what it gave.

    What is told of a test is its result, or why there is none, which is the last one then.
    """
    text, tell = apart()
    asked = json.loads(text)
    code, name, inputs = asked["code"], asked["function"], asked["inputs"]
    sys.set_int_max_str_digits(DIGITS)
    signal.signal(signal.SIGALRM, _rung)
    sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY))  # for programs that take it early
    with contextlib.suppress(ImportError):  # it is there before anything is taken away
        importlib.import_module("numpy")
    _disarm()
    try:
        values = [[json.loads(line) for line in one.split("\n")] for one in inputs] if name else []
        method = _method(code, name, seconds)
    except Exception as error:
        tell([{"error": _words(error)}])
        return
    if name:
        tests = [partial(_returned, method, each) for each in values]
    else:
        tests = [partial(_written, method, each) for each in inputs]
    tell(_results(tests, seconds))


def _results(tests: Iterable[Callable[[], Any]], seconds: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for test in tests:
        signal.alarm(seconds)
        try:
            found.append({"gave": test()})
        except Exception as error:
            late = "timeoutexception" in repr(error).lower()
            found.append({"error": "time limit" if late else _words(error)})
            break
        finally:
            signal.alarm(0)
    return found


def _method(code: str, name: str | None, seconds: int) -> Callable[..., Any]:
    code = f"{PRELUDE}\n\n{code}" if name else _as_function(code)
    signal.alarm(seconds)
    try:
        module = ModuleType("tmp_sol", "")
        exec(code, module.__dict__)
        owner: Any = module.Solution() if "class Solution" in code else module
    finally:
        signal.alarm(0)
    method: Callable[..., Any] = getattr(owner, name or "wrapped_function")
    return method


def _as_function(code: str) -> str:
    """Return a program that reads and writes as a function without arguments.

    Imports stay outside of it, and what the last statement does in the main program is all done.
    """
    try:
        last = ast.parse(code).body[-1]
        if isinstance(last, ast.If) and ast.unparse(last.test) == "__name__ == '__main__'":
            body = [*ast.parse(code).body[:-1], *last.body]
            code = "\n".join(ast.unparse(statement) for statement in body)
    except Exception:  # the code is told of where it is run
        pass
    try:
        statements = ast.parse(code).body
        outside = [each for each in statements if isinstance(each, ast.Import | ast.ImportFrom)]
        within = [each for each in statements if each not in outside]
        nothing = ast.arguments([], [], None, [], [], None, [])
        function = ast.FunctionDef("wrapped_function", nothing, within, [], lineno=-1)
        parts = (*map(ast.unparse, outside), ast.unparse(function))
        return PRELUDE + "\n" + "\n".join(parts)
    except Exception:
        return code


def _returned(method: Callable[..., Any], values: list[Any]) -> Any:
    """Return what a function gives for some values."""
    return encoded(method(*values))


def _written(method: Callable[[], Any], text: str) -> str:
    """Return what a program prints when it is given a text."""
    stdin, stdout, opened = sys.stdin, sys.stdout, builtins.open
    written: Any = io.StringIO()
    written.close = lambda x: 1
    given: Any = Stdin(text)
    sys.stdin, sys.stdout = given, written
    setattr(builtins, "open", lambda *_, **__: io.StringIO(text))  # noqa: B010
    try:
        with contextlib.suppress(SystemExit):
            method()
    finally:
        sys.stdin, sys.stdout, builtins.open = stdin, stdout, opened
    return str(written.getvalue())


def _rung(*_: Any) -> None:
    raise TimeoutException


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _disarm() -> None:
    """Take away what programs do not find in the official harness."""
    os.environ["OMP_NUM_THREADS"] = "1"
    owners: dict[Any, str] = {
        os: "kill system putenv remove removedirs rmdir fchdir setuid fork forkpty killpg rename "
        "renames truncate replace unlink fchmod fchown chmod chown chroot lchflags lchmod lchown "
        "getcwd chdir",
        shutil: "rmtree move chown",
        subprocess: "Popen",
        builtins: "quit help",
    }
    for owner, names in owners.items():
        for name in names.split():
            setattr(owner, name, None)
    for name in ("ipdb", "joblib", "resource", "psutil", "tkinter"):
        sys.modules[name] = None  # type: ignore[assignment]
