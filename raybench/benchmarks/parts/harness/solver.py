"""The end that runs the program. All of it may be changed by the program, and nothing rests on it.

Runs in the sandbox: the standard library only, Python 3.11 and 3.12.
"""

import json
import sys
import types
from collections.abc import Callable
from typing import Any

from raybench.benchmarks.parts.harness.channel import Channel, Ended
from raybench.benchmarks.parts.harness.codec import Decoder, Encoder, Known

_PROGRAM = "<program>"
_FRAMES = 50
"""How deep the program's calls begin: it shall have as many of its own as anywhere."""


def serve(channel: Channel) -> None:
    """Run the program that comes first, then call its function for whoever asks."""
    task = channel.receive()
    try:
        code = compile(task["program"], _PROGRAM, "exec")
    except SyntaxError as error:
        channel.send(["uncompiled", error.msg, error.lineno])
        return
    except Exception as error:  # deep nesting, a null character
        channel.send(["uncompiled", str(error), None])
        return
    try:
        function = _loaded(task["prompt"], code, task["name"])
    except Exception as error:
        channel.send(["failed", *_told(error), _line(error)])
        return
    channel.send(["ready" if callable(function) else "missing"])
    while True:
        try:
            number, request = channel.receive()
        except Ended:
            return
        channel.send([number, *_answer(function, request)])


def _loaded(prompt: str, code: types.CodeType, name: str) -> Any:
    """Run the program in a module of its own, after the prompt: that has imports and helpers."""
    module = types.ModuleType("solution")
    sys.modules["solution"] = module  # dataclasses and pickle look there
    sys.setrecursionlimit(sys.getrecursionlimit() + _FRAMES)
    exec(compile(prompt, "<prompt>", "exec"), module.__dict__)
    module.__dict__.pop(name, None)  # the prompt's is a shell
    exec(code, module.__dict__)
    return module.__dict__.get(name)


def _line(error: Exception) -> int | None:
    """Return the program's line that an exception came through last."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == _PROGRAM:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _answer(function: Callable[..., Any], request: Any) -> tuple[Any, Any]:
    """Return what the function answers, and what it did to its arguments."""
    known = Known()
    encoder = Encoder(known)
    positional, named = Decoder(known).decode(request)
    given = list(known.containers)
    before = [json.dumps(encoder.content(it)) for it in given]
    try:
        answer = ["returned", encoder.encode(function(*positional, **named))]
    except Exception as error:
        known.forget(len(given))
        answer = ["raised", *_told(error)]
    changes = []
    for number, container in enumerate(given):
        content = encoder.content(container)
        if json.dumps(content) != before[number]:
            changes.append([number, content])
    return answer, changes


def _told(error: BaseException) -> tuple[str, str, str]:
    """Return an exception's type, the builtin one that it is a kind of, and what it says."""
    kinds = [it.__name__ for it in type(error).__mro__ if it.__module__ == "builtins"]
    try:
        text = str(error)
    except Exception:
        text = ""
    return type(error).__name__[:100], kinds[0], text[:500]
