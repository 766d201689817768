"""The program that runs in the sandbox: the candidate's code in one process, the judge in another.

It reads two parts from its input. The first is the candidate's: its code, and what the test cases
do beside it. Only after the candidate has a process of its own, with nothing of this one but a pipe
to write to, the second part is read: targets and assertions. What comes through the pipe is data
(codec.py); whatever the candidate's process does to itself, numpy and the comparisons here stay as
they were installed. One line of JSON tells what came of it.

This file's text is run after those of codec.py and compare.py, by Python 3.12 without this package.
"""

import builtins
import contextlib
import ctypes
import json
import os
import signal
import sys
import time
import types
from typing import Any, NoReturn

from raybench.benchmarks.parts.scicode.codec import decode, encode
from raybench.benchmarks.parts.scicode.compare import are_dicts_close, cmp_tuple_or_list, hollow

_SET_DUMPABLE = 4  # prctl's
_LONGEST = 1 << 30
"""Bytes of a message; a candidate that sends more is no longer listened to."""
_SHOWN = 300
_BY = {signal.SIGXCPU: " (it took too long)", signal.SIGKILL: " (a limit, or itself)"}
_EARLY = "it ended before its tests did"


def main() -> None:
    """Run one step's code against its test cases."""
    # Nobody reads this process's memory or descriptors by /proc, whoever it belongs to.
    prctl = ctypes.CDLL(None).prctl
    prctl(_SET_DUMPABLE, 0, 0, 0, 0)
    candidate = json.loads(_part())
    library: dict[str, Any] = {}
    try:
        exec(candidate["dependencies"], library)  # imports, of the dataset's
    except ImportError as error:
        fault = _verdict(fault=f"the dependencies cannot be imported: {error}")
        print(json.dumps(fault | {"word": json.loads(_part())["word"]}))
        return
    receive, send = os.pipe()
    # Who ends the judge shall be seen to, also who does it as soon as there is somebody to do it.
    interrupted = signal.signal(signal.SIGINT, signal.SIG_DFL)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, interrupted)
        prctl(_SET_DUMPABLE, 1, 0, 0, 0)
        _run(candidate, send)
    os.close(send)
    judge = json.loads(_part())
    try:
        verdict = _judge(judge, library, receive)
        if verdict["reason"].endswith(_EARLY):
            verdict["reason"] += _how(child)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    print(json.dumps(verdict | {"word": judge["word"]}))


def _part() -> bytes:
    """Read the next part of the input, and not a byte more: its length, a line's end, the part."""
    length = b""
    while (digit := os.read(0, 1)) not in (b"\n", b""):
        length += digit
    return _exactly(0, int(length))


def _exactly(descriptor: int, length: int) -> bytes:
    parts = []
    while length > 0:
        part = os.read(descriptor, min(length, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


# ------------------------------------------------------------------------ the candidate's process


def _run(candidate: dict[str, Any], send: int) -> NoReturn:
    """Run code and test cases in a module of its own; hand over what is asked for."""
    try:
        os.setpgid(0, 0)
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        os.dup2(send, 3)
        os.closerange(4, 1 << 16)
        _send({"error": _ran(candidate, 3)}, 3)
    finally:
        os._exit(0)


def _ran(candidate: dict[str, Any], send: int) -> str | None:
    """Return what stopped the code; None where it came to its end."""
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.argv = ["solution.py"]
    space = module.__dict__
    space["__file__"] = sys.argv[0]
    try:
        with open(sys.argv[0], "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write(candidate["code"])  # for `inspect`, as when it is a script
        exec(compile(candidate["code"], sys.argv[0], "exec"), space)
        for number, case in enumerate(candidate["cases"], start=1):
            place = f"test case {number}"
            for step in case:
                if "run" in step:
                    exec(compile(step["run"], place, "exec"), space)
                else:
                    # One by one: the code behind the next may change what this one gave.
                    codes = (compile(it, place, "eval") for it in step["ship"])
                    _send({"values": [encode(eval(it, space)) for it in codes]}, send)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"[:_SHOWN]
    return None


def _send(message: dict[str, Any], descriptor: int) -> None:
    data = json.dumps(message).encode()
    data = len(data).to_bytes(8, "big") + data
    while data:
        data = data[os.write(descriptor, data) :]


# -------------------------------------------------------------------------------- the judge's own


def _judge(judge: dict[str, Any], library: dict[str, Any], receive: int) -> dict[str, Any]:
    """Evaluate the assertions with what the candidate hands over; return the verdict."""
    space = {
        **library,
        "__builtins__": builtins,
        "cmp_tuple_or_list": cmp_tuple_or_list,
        "are_dicts_close": are_dicts_close,
    }
    for number, (case, target) in enumerate(
        zip(judge["cases"], judge["targets"], strict=True), start=1
    ):
        space["target"] = decode(target)
        for step in case:
            if "run" in step:
                try:
                    exec(step["run"], space)
                except Exception as error:
                    return _verdict(fault=f"test case {number}: {type(error).__name__}: {error}")
                continue
            try:
                values = _received(receive)["values"] if step["values"] else []
                decoded = [decode(value) for value in values]
            except Exception as error:  # whatever it hands over, it is no fault of ours
                return _verdict(number=number, reason=f"wrong: {error}"[:_SHOWN])
            space |= {f"_{place}": value for place, value in enumerate(decoded)}
            if any(hollow(check, space) for check in step["checks"]):
                return _verdict(number=number, reason="wrong: empty where something is expected")
            try:
                exec(step["judge"], space)
            except AssertionError:
                return _verdict(number=number, reason="wrong: not what is expected")
            except Exception as error:  # shapes that do not go together, objects, …
                reason = f"wrong: cannot be compared: {type(error).__name__}: {error}"
                return _verdict(number=number, reason=reason[:_SHOWN])
    try:
        _received(receive, last=True)
    except (_Ended, ValueError) as error:
        return _verdict(number=len(judge["cases"]), reason=f"wrong: {error}"[:_SHOWN])
    return _verdict(correct=True, reason="right")


def _how(child: int) -> str:
    """Return what ended the candidate's process, where a signal did."""
    for _ in range(20):  # it may have closed the pipe and live on
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            ended = signal.Signals(os.WTERMSIG(status)) if os.WIFSIGNALED(status) else None
            return f", by {ended.name}" + _BY.get(ended, "") if ended else ""
        time.sleep(0.05)
    return ""


class _Ended(Exception):
    """The candidate's process says no more."""


def _received(receive: int, *, last: bool = False) -> dict[str, Any]:
    """Return the candidate's next message; raise _Ended where it ended, or should have not."""
    try:
        length = int.from_bytes(_exactly(receive, 8), "big")
        if length > _LONGEST:
            raise _Ended(f"its values take {length:,} bytes")
        message = json.loads(_exactly(receive, length))
    except EOFError:
        raise _Ended(_EARLY) from None
    except RecursionError:
        raise _Ended("its values are nested too deep") from None
    if not isinstance(message, dict) or ("error" not in message and "values" not in message):
        raise _Ended("what it hands over is none of ours")
    if "error" in message and (message["error"] is not None or not last):
        raise _Ended(str(message["error"] or _EARLY)[:_SHOWN])
    if last and "error" not in message:
        raise _Ended("it hands over more than it is asked for")
    return message


def _verdict(
    *, correct: bool = False, reason: str = "", number: int | None = None, fault: str | None = None
) -> dict[str, Any]:
    return {"correct": correct, "reason": reason, "case": number, "fault": fault}
