"""One run from its start to its end, as its client sees to it: take output, stop at limits.

All this happens here and not in the server, which is to know nothing of one program when it forks
the next one off.
"""

import contextlib
import json
import math
import os
import select
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import FileIO
from typing import Any

from raybench.sandbox.inside.watch import Held, Proc
from raybench.sandbox.outcome import Limits
from raybench.sandbox.output import Kept

_MB = 1 << 20
_LOOK_EVERY_S = 0.03
_CHUNK = 1 << 18
_BEGIN_S, _END_S = 60.0, 15.0
"""How long a run's walls may take to stand, and its processes to end when they are to."""
_TO_WRITE = 0o622
"""Who opens /dev/stdout may be another user than who made the pipe."""
_BEGIN_CPU_S = 0.25
_HIDDEN_S = 0.5
_SOCKET_MB = 0.21
"""What a Unix socket may hold that nobody has read, by Linux' defaults: in no process's memory."""


class StuckError(Exception):
    """A run that goes neither on nor away."""


@dataclass
class Run:
    """What is known of a run."""

    limits: Limits
    shared_mb: float
    """The memory that each of its processes has in common with the one that starts it."""
    began: float = field(default_factory=time.monotonic)
    """When its walls stood; until then, when they were asked for."""
    init: int | None = None
    """The process that all others of it descend from."""
    outside: int | None = None
    """The process that puts its walls up, where that is a program of its own."""
    folder: str | None = None
    """Where its files lie on the host; None where they lie in a tree of its own."""
    status: int | None = None
    """How the program ended, as `wait` has it, once it has."""
    stopped: str | None = None
    """The limit that it was stopped at."""
    fault: str | None = None
    """What went wrong with its walls."""
    cpu_s: float = 0.0
    wall_s: float = 0.0
    memory_mb: float = 0.0
    stdout: Kept = field(init=False)
    stderr: Kept = field(init=False)
    hidden_since: float | None = None
    """When one of its processes began to hide what it holds."""
    has_begun: bool = False
    """The program runs: a process has shown what it holds, which it hides while its walls go up."""
    spent: dict[int, float] = field(default_factory=dict)
    """The CPU time that each of its processes had used when it was last seen."""
    idle_s: float = 0.0
    """How long all of it has done nothing, as far as that is known, where it matters."""
    rested: tuple[float, dict[int, float] | None] = (0.0, None)
    """When it was last looked whether it does, and what its threads had had by then."""

    def __post_init__(self) -> None:
        bound = int(self.limits.output_kept_mb * _MB)
        self.stdout, self.stderr = Kept(bound), Kept(bound)

    @property
    def seconds(self) -> float:
        """Return how long it has been running."""
        return time.monotonic() - self.began

    def hear(self, said: Mapping[str, Any]) -> None:
        """Take in what its processes report."""
        for name in ("init", "outside", "folder", "shared_mb", "fault", "status"):
            if name in said:
                setattr(self, name, said[name])
        if "init" in said:
            self.began = time.monotonic()
        self.cpu_s = max(self.cpu_s, said.get("cpu_s", 0.0))
        self.memory_mb = max(self.memory_mb, said.get("memory_mb", 0.0))


class Pipes:
    """The pipes of a run, in the order in which the server takes them: its ends and ours."""

    def __init__(self) -> None:
        ends = [os.pipe() for _ in range(3)]
        # As files, which are closed once and no more: a number may soon be somebody else's.
        self._ours = [FileIO(ours, "rb") for ours, _ in ends]
        self.stdout, self.stderr, self.report = self._ours
        for end in self._ours:
            # A program can read what it wrote, so that what was there to take may not be.
            os.set_blocking(end.fileno(), False)
        self._theirs = [FileIO(theirs, "wb") for _, theirs in ends]
        for end in self._theirs[:2]:
            os.fchmod(end.fileno(), _TO_WRITE)

    @property
    def theirs(self) -> list[int]:
        """Return the run's ends."""
        return [end.fileno() for end in self._theirs]

    def keep_ours(self) -> None:
        """Close the run's ends."""
        for end in self._theirs:
            end.close()

    def close(self) -> None:
        """Close all."""
        for end in (*self._ours, *self._theirs):
            end.close()


def attend(run: Run, pipes: Pipes, proc: Proc, stop: Callable[[], None]) -> None:
    """Move bytes until all ends are closed, which they are when every process has ended.

    `stop` has all of its processes ended at once. Raises StuckError where they do not begin or end.
    """
    sinks = {pipes.stdout.fileno(): run.stdout, pipes.stderr.fileno(): run.stderr}
    open_ends = {*sinks, pipes.report.fileno()}
    poll = select.poll()
    for descriptor in open_ends:
        poll.register(descriptor, select.POLLIN)
    said = b""
    looked = run.began
    over: float | None = None
    while open_ends:
        for descriptor, _ in poll.poll(1000 * _LOOK_EVERY_S):
            data = _read(descriptor)
            if data is None:
                continue
            if not data:
                poll.unregister(descriptor)
                open_ends.remove(descriptor)
            elif descriptor in sinks:
                sinks[descriptor].add(data)
            else:
                *lines, said = (said + data).split(b"\n")
                for line in lines:
                    _hear(run, json.loads(line), proc)
        if run.stopped is None and run.status is None:
            if time.monotonic() - looked >= _LOOK_EVERY_S:
                looked = time.monotonic()
                _look(run, proc)
            run.stopped = run.stopped or _exceeded(run)
            if run.stopped:
                stop()
        elif over is None:
            over = time.monotonic()
        elif time.monotonic() - over > _END_S:
            raise StuckError(f"its processes had not ended after {_END_S:g} s")
    run.wall_s = run.seconds


def _read(descriptor: int) -> bytes | None:
    """Return what there is to read, b'' at the end, None where somebody else has taken it."""
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None


def _hear(run: Run, said: Mapping[str, Any], proc: Proc) -> None:
    """Take in a report; who cannot know its own number on the host is the first one inside."""
    if "inside" in said and run.outside is not None:
        said = {**said, "init": next(proc.below(run.outside), None)}
    run.hear(said)


def _exceeded(run: Run) -> str | None:
    """Return the limit that a run is over, of those that show without looking at its processes."""
    if run.init is None and run.fault is None:
        if run.seconds > _BEGIN_S:
            raise StuckError(f"its walls did not stand after {_BEGIN_S:g} s")
        return None
    if run.stdout.total + run.stderr.total > run.limits.output_killed_mb * _MB:
        return "output"
    return "wall" if run.seconds > run.limits.wall_s else None


def _look(run: Run, proc: Proc) -> None:
    """See what its processes use."""
    if run.init is None:
        return
    limits = run.limits
    usage = proc.usage(run.init, run.shared_mb, limits.memory_mb)
    if run.folder is None:
        held = Held(0.0, proc.unix_sockets(run.init), hidden=False)
    else:
        held = proc.held(run.init, run.folder)
    memory = usage.memory_mb + held.sockets * _SOCKET_MB
    if memory < math.inf:
        run.memory_mb = max(run.memory_mb, memory + run.shared_mb)
    # A process whose parent does not wait for it takes its time with it: what it had when it was
    # seen last counts on.
    for pid, seconds in usage.spent.items():
        run.spent[pid] = max(seconds, run.spent.get(pid, 0.0))
    run.cpu_s = max(run.cpu_s, usage.cpu_s, sum(run.spent.values()))
    if memory > limits.memory_mb:
        run.stopped = "memory" if memory < math.inf else "scattered"
    elif run.cpu_s > limits.cpu_s + _LOOK_EVERY_S:
        run.stopped = "cpu"
    else:
        size, files = _written(run.folder)
        if size + held.unnamed_mb > limits.disk_mb or files > limits.files:
            run.stopped = "disk"
        run.has_begun |= held.shown
        run.hidden_since = (run.hidden_since or run.seconds) if held.hidden else None
        # A loaded machine takes seconds to put up the last walls, and hardly a processor's time.
        may_begin = not run.has_begun and run.cpu_s <= _BEGIN_CPU_S
        longest = _BEGIN_S if may_begin else _HIDDEN_S
        if run.hidden_since is not None and run.seconds - run.hidden_since > longest:
            run.stopped = "hidden"
    if limits.idle_s is not None and not run.stopped:
        _rest(run, proc.at_rest(run.init))
        if run.idle_s > limits.idle_s:
            run.stopped = "idle"


def _rest(run: Run, now: dict[int, float] | None) -> None:
    """Count the time since the last look as idle, without what its threads ran or waited to run.

    It counts only where the same ones were at rest both times: of others nobody knows whether they
    were kept from the processor.
    """
    (began, before), run.rested = run.rested, (run.seconds, now)
    if before is not None and now is not None and before.keys() == now.keys():
        worked = sum(now.values()) - sum(before.values())
        run.idle_s += max(0.0, run.rested[0] - began - worked)


def _written(place: str | None) -> tuple[float, float]:
    """Return the MiB and the number of a run's files, where the kernel does not bound them.

    They are without number where they lie so deep, or so hidden, that nobody can count them.
    """
    if place is None:
        return 0.0, 0
    size = count = 0.0
    folders = [place]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    count += 1
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        with contextlib.suppress(FileNotFoundError):
                            size += entry.stat(follow_symlinks=False).st_blocks * 512
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            return size / _MB, math.inf
    return size / _MB, count
