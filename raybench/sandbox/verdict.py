"""From what a server says of a run to what came of it."""

import re
import signal
from typing import cast, get_args

from raybench.sandbox.outcome import Backend, Outcome, Status, Stream
from raybench.sandbox.supervise import Run
from raybench.statements import Statement

_OUT_OF_MEMORY = re.compile(r"^[\w.]*MemoryError\b", re.MULTILINE)
"""How a Python program ends that was refused memory: in the last line of its traceback."""
_LAST = 2000
_CPU_SLACK_S = 0.1
_DRAWN = " |+-^~"
"""What tracebacks are drawn with."""


def outcome(run: Run, *, backend: str, python: str, kernel: str) -> Outcome:
    """Return what came of a run."""
    out, err = (kept.bytes().decode("utf-8", "replace") for kept in (run.stdout, run.stderr))
    code, number = _end(run.status)
    status, reason = _status(run, code, number, err)
    return Outcome(
        status=status,
        reason=reason,
        exit_code=None if run.stopped else code,
        signal=None if run.stopped else number,
        cpu_s=round(run.cpu_s, 4),
        wall_s=round(run.wall_s, 4),
        memory_mb=round(run.memory_mb, 1),
        stdout=out,
        stderr=err,
        cut=tuple(name for name in get_args(Stream) if getattr(run, name).truncated),
        backend=cast(Backend, backend),
        python=python,
        kernel=kernel,
        limits=run.limits,
    )


def _end(status: int | None) -> tuple[int | None, int | None]:
    """Return the exit code or the signal that a wait status stands for."""
    if status is None:
        return None, None
    if status & 0x7F:
        return None, status & 0x7F
    return status >> 8, None


def _status(run: Run, code: int | None, number: int | None, err: str) -> tuple[Status, str]:
    limits = run.limits
    at_limit: dict[str, tuple[Status, str]] = {
        "wall": (
            "timeout",
            Statement("ended.wall", "still running after {seconds:g} s", seconds=limits.wall_s),
        ),
        "cpu": (
            "timeout",
            Statement(
                "ended.cpu", "used more than {seconds:g} s of CPU time", seconds=limits.cpu_s
            ),
        ),
        "idle": (
            "timeout",
            Statement(
                "ended.idle",
                "did nothing for {seconds:g} s, and was not kept from it",
                seconds=limits.idle_s or 0,
            ),
        ),
        "memory": (
            "memory",
            Statement("ended.memory", "used more than {mib:,} MiB of memory", mib=limits.memory_mb),
        ),
        "scattered": (
            "memory",
            Statement(
                "ended.scattered", "spread its memory so that nobody could tell how much it is"
            ),
        ),
        "disk": (
            "output",
            Statement(
                "ended.disk",
                "wrote more than {mib} MiB of files, or more than {files:,} of them",
                mib=limits.disk_mb,
                files=limits.files,
            ),
        ),
        "hidden": (
            "output",
            Statement(
                "ended.hidden", "hid what files it held, so that nobody could tell how large"
            ),
        ),
        "output": (
            "output",
            Statement("ended.output", "wrote more than {mib:g} MiB", mib=limits.output_killed_mb),
        ),
    }
    if run.stopped is not None:
        return at_limit[run.stopped]
    if number is not None:
        spent = run.cpu_s >= limits.cpu_s - _CPU_SLACK_S
        if spent and number in (signal.SIGXCPU, signal.SIGKILL):
            return at_limit["cpu"]
        name = _name(number)
        if number == signal.SIGKILL:
            return "killed", Statement(
                "ended.killed",
                "ended by {signal}: its own doing, or the machine was out of memory",
                signal=name,
            )
        return "error", Statement("ended.signal", "ended by {signal}", signal=name)
    if code == 0:
        return "ok", Statement("ended.by_itself", "ended by itself")
    if _OUT_OF_MEMORY.search(err[-_LAST:].rstrip().rpartition("\n")[2]):
        return "memory", Statement(
            "ended.memory_error",
            "ended with a MemoryError: it may use {mib:,} MiB",
            mib=limits.memory_mb,
        )
    exit_code = Statement("ended.exit", "exit code {code}", code=code)
    if not (said := _said(err)[:200]):
        return "error", exit_code
    return "error", Statement("ended.error", "{exit}: {said}", exit=exit_code, said=said)


def _said(err: str) -> str:
    """Return the line of stderr that tells most: an exception's first, else the last of all."""
    _, traceback, tail = err.rpartition("Traceback (most recent call last):\n")
    lines = tail.splitlines()
    told = [line for line in lines if traceback and line[:1].strip()]
    return next(iter(told or filter(None, (line.strip(_DRAWN) for line in reversed(lines)))), "")


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
