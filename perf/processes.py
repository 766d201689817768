"""What all processes that a measurement started take: memory, processor time, files, threads.

Used by `perf/load.py` and `perf/soak.py`. Whoever watches is made the parent of orphans (Linux), so
that daemons of Ray stay in the family, and reaps them, as the first process of a machine would.

Memory is each process's proportional set (what several share counts once), and the resident set
where one process is meant. Processor time is summed over all processes that were ever seen, those
that ended included: each one's own as last seen, and what it waited for of its children, without
those of them that were seen themselves. So what is lost is at most what a process did between the
last look and its end, where its parent ignores its children's ends, as a raylet does.
"""

import ctypes
import os
import re
import signal
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_PR_SET_CHILD_SUBREAPER = 36
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_IGNORED = re.compile(r"^SigIgn:\s+([0-9a-f]+)", re.MULTILINE)
_PSS = re.compile(r"^Pss:\s+(\d+) kB", re.MULTILINE)


class Name(NamedTuple):
    """Which process it is: numbers are given again, with another beginning."""

    pid: int
    began: int


@dataclass(frozen=True, slots=True)
class Process:
    """One process as it was seen."""

    name: Name
    parent: int
    role: str
    own_s: float
    """Its own processor time."""
    waited_s: float
    """That of the children whose end it waited for."""
    rss: int
    threads: int
    zombie: bool

    def pss(self) -> int:
        """Return the bytes that are its own, and its share of what it shares; 0 if it is gone."""
        with suppress(OSError):
            found = _PSS.search(Path(f"/proc/{self.name.pid}/smaps_rollup").read_text())
            return 1024 * int(found[1]) if found else 0
        return 0

    def files(self) -> int:
        """Return how many descriptors it has; 0 if it is gone."""
        with suppress(OSError):
            return sum(1 for _ in Path(f"/proc/{self.name.pid}/fd").iterdir())
        return 0


class Family:
    """All processes that this one started, and theirs."""

    def __init__(self) -> None:
        if ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
            raise OSError("this process cannot be made the parent of orphans")
        self._last: dict[Name, Process] = {}
        self._gone_s = 0.0
        """What ended processes took."""
        self._ignoring: set[Name] = set()
        """Who waits for no child's end; a raylet, for one, says so some time after it began."""

    def look(self, ours: Collection[int] = ()) -> list[Process]:
        """Return who there is now. Orphans that have ended are reaped; `ours` are no orphans."""
        every = {process.name.pid: process for process in _every()}
        found = {}
        for process in every.values():
            if _descends(process, every):
                found[process.name] = process
        for process in found.values():
            if process.zombie and process.parent == os.getpid() and process.name.pid not in ours:
                with suppress(ChildProcessError):
                    os.waitpid(process.name.pid, os.WNOHANG)
        for name in self._last.keys() - found.keys():
            self._gone_s += self._ended(self._last[name], every)
        parents = {process.parent for process in found.values()}
        for name in found.keys() - self._ignoring:
            if name.pid in parents and _ignores_children(name.pid):
                self._ignoring.add(name)
        self._last = found
        return list(found.values())

    @property
    def cpu_s(self) -> float:
        """Return the processor time of all, those that have ended included."""
        return self._gone_s + sum(it.own_s + it.waited_s for it in self._last.values())

    def _ended(self, process: Process, every: dict[int, Process]) -> float:
        """Return what an ended process adds: nothing where its parent's time has it."""
        parent = every.get(process.parent)
        ignoring = parent is not None and parent.name in self._ignoring
        if parent is None or ignoring or parent.name.pid == os.getpid():
            return process.own_s + process.waited_s
        return 0.0

    def end(self, patience_s: float = 30.0) -> None:
        """End all that is left of it: first politely."""
        until = time.monotonic() + patience_s
        first = True
        while left := [it for it in self.look() if not it.zombie]:
            for process in left if first or time.monotonic() > until else ():
                with suppress(ProcessLookupError):
                    os.kill(process.name.pid, signal.SIGTERM if first else signal.SIGKILL)
            first = False
            time.sleep(0.2)


def _every() -> Iterator[Process]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                yield _read(int(folder.name))


def _read(pid: int) -> Process:
    text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    fields = text[text.rindex(")") + 2 :].split()
    own, waited = int(fields[11]) + int(fields[12]), int(fields[13]) + int(fields[14])
    return Process(
        Name(pid, int(fields[19])),
        parent=int(fields[1]),
        role=_role(pid, text[text.index("(") + 1 : text.rindex(")")]),
        own_s=own / _TICKS,
        waited_s=waited / _TICKS,
        rss=int(fields[21]) * _PAGE,
        threads=int(fields[17]),
        zombie=fields[0] == "Z",
    )


def _descends(process: Process, every: dict[int, Process]) -> bool:
    """Tell whether a process is of this one's family, but not this one."""
    at = process
    while at.parent in every and at.parent != at.name.pid:
        if at.parent == os.getpid():
            return True
        at = every[at.parent]
    return False


def _ignores_children(pid: int) -> bool:
    with suppress(OSError):
        found = _IGNORED.search(Path(f"/proc/{pid}/status").read_text())
        return bool(found and int(found[1], 16) >> (signal.SIGCHLD - 1) & 1)
    return False


_MODULE = re.compile(r"(?:^| )-m (\S+)")
_SCRIPT = re.compile(r"(\w+)\.py(?: |$)")


def _role(pid: int, comm: str) -> str:
    """Return what a process does: as Ray titles it, its module, its script, or its program."""
    with suppress(OSError):
        told = Path(f"/proc/{pid}/cmdline").read_bytes()
        line = told.replace(b"\0", b" ").decode(errors="replace")
        if line.startswith("ray::"):  # the class, without what it does just now
            return re.sub(r"(?<=[\w)])\.\w.*| .*", "", line.removeprefix("ray::").strip())
        if line.startswith(("ray-", "VLLM::")):
            return re.sub(r"-\d+$", "", line.split()[0])
        found = _MODULE.search(line) or _SCRIPT.search(line)
        # Not by its path: a raylet lies among Python's packages and is told how workers are begun.
        if found and Path(line.partition(" ")[0]).name.startswith("python"):
            return found[1]
    return comm
