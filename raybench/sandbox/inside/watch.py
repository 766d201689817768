"""What processes use, read from /proc while they run."""

import contextlib
import math
import os
import signal
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from . import kernel

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_MB = 1 << 20
_ENDED = ("Z", "X")
_STOPPED = ("T", "t")
_AT_WORK = ("R", "D")
_GONE = (FileNotFoundError, ProcessLookupError)
_SHORT_LOOK_S, _LONGEST_LOOK_S = 0.01, 0.25
"""Of processor time: what takes longer than the first has the program wait, so that it does not
grow in the meantime; what takes longer than the second is no honest program's."""
_ROUNDS = 5
"""Of stopping who has been born, or let go on by another, since the last one."""
_SIZES_HOLD_S = 0.03
"""So long what processes had of memory tells which to look at first."""
_TURNS, _NANO = 2, 1e9
"""In /proc/PID/schedstat the time on a processor, and that spent waiting for one, stand before the
number of turns; and their unit."""
_UTIME, _RSS = 11, 21
"""Places in /proc/PID/stat, counted behind the program's name."""


@dataclass(frozen=True)
class Usage:
    """What a process and all below it use."""

    cpu_s: float
    """Of all that run, and of all that were waited for."""
    spent: dict[int, float]
    """CPU time of each that runs, its own alone."""
    memory_mb: float


@dataclass(frozen=True)
class Held:
    """What processes hold on to that shows in no folder and in no process's size."""

    unnamed_mb: float
    """Files that have lost their name."""
    sockets: int
    hidden: bool
    """One of them does not let anybody look."""
    shown: bool = False
    """One of them does."""


class Proc:
    """The /proc of the host, which stays open however the mounts change."""

    def __init__(self) -> None:
        self._folder = os.open("/proc", os.O_DIRECTORY | os.O_CLOEXEC)

    def write(self, path: str, text: str) -> None:
        """Write to a file in it."""
        descriptor = os.open(path, os.O_WRONLY, dir_fd=self._folder)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)

    def read(self, path: str) -> str:
        """Return a file in it; '' where there is none, or none any more."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._folder)
        except OSError:
            return ""
        try:
            pieces = iter(lambda: os.read(descriptor, 1 << 16), b"")
            return b"".join(pieces).decode("utf-8", "replace")
        except OSError:
            return ""
        finally:
            os.close(descriptor)

    def below(self, pid: int) -> Iterator[int]:
        """Yield all processes that descend from one, itself left out."""
        for thread in self._threads(pid):
            for child in self.read(f"{pid}/task/{thread}/children").split():
                yield int(child)
                yield from self.below(int(child))

    def _threads(self, pid: int) -> list[str]:
        try:
            tasks = os.open(f"{pid}/task", os.O_RDONLY | os.O_DIRECTORY, dir_fd=self._folder)
        except OSError:
            return []
        try:
            return os.listdir(tasks)
        except OSError:
            return []
        finally:
            os.close(tasks)

    def usage(self, init: int, shared_mb: float, limit_mb: float) -> Usage:
        """Return what runs below a process, the CPU time of what it has reaped among it.

        What all have in common with the server (`shared_mb` each) is taken off, as far as that is
        known without looking at every page. Where the limit may be passed all are looked at, and
        those that several share are split among them.
        """
        cpu = 0.0
        spent, sizes = dict[int, float](), dict[int, float]()
        for pid, fields in self._below(init):
            times = [int(field) / _TICKS for field in fields[_UTIME : _UTIME + 4]]
            cpu += sum(times)
            spent[pid] = times[0] + times[1]
            sizes |= self._size(pid, fields)
        if fields := self._stat(init):
            cpu += sum(map(int, fields[_UTIME + 2 : _UTIME + 4])) / _TICKS
        if sum(sizes.values()) > limit_mb:
            memory = self._together_mb(init, sizes, limit_mb)
        else:
            memory = sum(max(0.0, size - shared_mb) for size in sizes.values())
        return Usage(cpu, spent, memory)

    def _together_mb(self, init: int, sizes: Mapping[int, float], limit_mb: float) -> float:
        """Return the memory of processes, or some of it that is too much; of what hides it, all.

        On a busy machine they are many times as large by the time that a long look is done.
        """
        begin = time.thread_time()
        memory = self._looked_at_mb(init, sizes, limit_mb, begin + _SHORT_LOOK_S)
        if memory < math.inf:
            return memory
        with self._stopped(init):
            return self._looked_at_mb(init, self._sizes(init), limit_mb, begin + _LONGEST_LOOK_S)

    def _looked_at_mb(
        self, init: int, sizes: Mapping[int, float], limit_mb: float, until: float
    ) -> float:
        """Return the memory of processes, or some that is too much; of what takes longer, all.

        The largest come first. A look may be made to take long, so that others grow meanwhile:
        then their sizes are taken again, and who has ended counts no more. What one had may by then
        be another's, or shared with a child of its own: too much is only what still is so when
        those that were counted are looked at once more.
        """
        taken, memory = time.monotonic(), 0.0
        counted: dict[int, float] = {}
        waiting = sorted(sizes, key=sizes.__getitem__)
        while waiting:
            task = waiting.pop()
            # Until a new program is in it, a child may have no memory of its own.
            if not any(kernel.same_memory(task, other) for other in counted):
                counted[task] = self._exact_mb(task)
                memory += counted[task]
            doubtful = memory > limit_mb
            if doubtful and (still := self._again_mb(counted, limit_mb, until)) > limit_mb:
                return still
            if time.thread_time() > until:
                return math.inf
            if doubtful or (waiting and time.monotonic() - taken > _SIZES_HOLD_S):
                sizes, taken = self._sizes(init), time.monotonic()
                counted = {task: mb for task, mb in counted.items() if task in sizes}
                waiting = sorted(sizes.keys() - counted.keys(), key=sizes.__getitem__)
                memory = sum(counted.values())
        return memory

    def _again_mb(self, counted: dict[int, float], limit_mb: float, until: float) -> float:
        """Look at processes again, at most until they are too much; return what they have now.

        Nobody joins them meanwhile, so that nobody's child makes what they share count twice.
        """
        memory = 0.0
        for task in sorted(counted, key=counted.__getitem__, reverse=True):
            counted[task] = self._exact_mb(task)
            memory += counted[task]
            if memory > limit_mb or time.thread_time() > until:
                break
        return memory

    @contextlib.contextmanager
    def _stopped(self, init: int) -> Iterator[None]:
        """Have all processes below one wait, for as long as this lasts."""
        stopped = set[int]()
        try:
            for _ in range(_ROUNDS):
                # Who has been stopped by another is not to go on by us.
                now = {pid for pid, fields in self._below(init) if fields[0] not in _STOPPED}
                if not now:
                    break
                stopped |= now
                for pid in now:
                    self._tell(pid, signal.SIGSTOP)
            yield
        finally:
            for pid in stopped:
                self._tell(pid, signal.SIGCONT)

    def _tell(self, pid: int, what: signal.Signals) -> None:
        with contextlib.suppress(*_GONE):
            os.kill(pid, what)

    def _below(self, init: int) -> Iterator[tuple[int, list[str]]]:
        """Yield the processes below one that are there still, with what /proc says of them."""
        for pid in self.below(init):
            if fields := self._stat(pid):
                yield pid, fields

    def _sizes(self, init: int) -> dict[int, float]:
        """Return what lies in memory of each process below one, by a thread of it that lives."""
        sizes = dict[int, float]()
        for pid, fields in self._below(init):
            sizes |= self._size(pid, fields)
        return sizes

    def _size(self, pid: int, fields: list[str]) -> dict[int, float]:
        """Return what lies in memory of a process, by a thread of it that lives, if any does."""
        task, told = self._living(pid, fields)
        return {} if told[0] in _ENDED else {task: int(told[_RSS]) * _PAGE / _MB}

    def _living(self, pid: int, fields: list[str]) -> tuple[int, list[str]]:
        """Return a thread of a process that lives, and what /proc says of it.

        The first one may have ended, and then shows nothing of the memory that the others hold.
        """
        if fields[0] in _ENDED:
            for thread in self._threads(pid):
                told = self._stat(f"{pid}/task/{thread}")
                if told and told[0] not in _ENDED:
                    return int(thread), told
        return pid, fields

    def at_rest(self, init: int) -> dict[int, float] | None:
        """Return how long each thread below a process has run or waited for its turn to.

        None where one could run now, or is about to when a disk has answered; where there is none;
        and where this kernel does not tell.
        """
        spent = dict[int, float]()
        for pid in self.below(init):
            for thread in self._threads(pid):
                task = f"{pid}/task/{thread}"
                fields, told = self._stat(task), self.read(f"{task}/schedstat").split()
                if not fields or fields[0] in _ENDED:
                    continue
                if fields[0] in _AT_WORK or not told:
                    return None
                spent[int(thread)] = sum(map(int, told[:_TURNS])) / _NANO
        return spent or None

    def unix_sockets(self, init: int) -> int:
        """Return how many Unix sockets there are in the network that a process is in."""
        return max(0, self.read(f"{init}/net/unix").count("\n") - 1)

    def held(self, init: int, folder: str) -> Held:
        """Return what processes below one hold on to, of what was in a folder."""
        files: dict[int, float] = {}
        mapped: dict[int, float] = {}
        sockets: set[int] = set()
        hidden, shown, begin = False, False, time.thread_time()
        with contextlib.suppress(*_GONE):
            device = os.stat(folder).st_dev
            for pid in self.below(init):
                for found in self._open(pid):
                    if found is None:
                        hidden = True
                        continue
                    shown = True
                    if stat.S_ISSOCK(found.st_mode):
                        sockets.add(found.st_ino)
                    elif found.st_nlink == 0 and found.st_dev == device:
                        files[found.st_ino] = found.st_blocks * 512 / _MB
                mapped.update(self._mapped(pid, folder))
                if time.thread_time() - begin > _LONGEST_LOOK_S:
                    hidden = True
                    break
        # What is mapped and in no descriptor may be larger than its map.
        hidden = hidden or not mapped.keys() <= files.keys()
        return Held(sum((mapped | files).values()), len(sockets), hidden, shown)

    def _open(self, pid: int) -> Iterator[os.stat_result | None]:
        """Yield what a process's descriptors lead to, None where it hides them."""
        for thread in self._threads(pid):  # each may have descriptors of its own
            task = f"{pid}/task/{thread}"
            with contextlib.suppress(*_GONE):
                try:
                    folder = os.open(f"{task}/fd", os.O_RDONLY, dir_fd=self._folder)
                except PermissionError:  # as of one that has ended, who holds nothing
                    if (fields := self._stat(task)) and fields[0] not in _ENDED:
                        yield None
                    continue
                try:
                    for name in os.listdir(folder):
                        with contextlib.suppress(*_GONE):
                            yield os.stat(name, dir_fd=folder)
                finally:
                    os.close(folder)

    def _mapped(self, pid: int, folder: str) -> Iterator[tuple[int, float]]:
        """Yield the files taken out of a folder that a process has in its memory, and their MiB."""
        for line in self.read(f"{pid}/maps").splitlines():
            if line.endswith(" (deleted)") and f" {folder}/" in line:
                span, _, _, _, number, *_ = line.split()
                first, _, last = span.partition("-")
                yield int(number), (int(last, 16) - int(first, 16)) / _MB

    def _stat(self, place: int | str) -> list[str]:
        # The name stands in parentheses and may itself hold some.
        return self.read(f"{place}/stat").rpartition(")")[2].split()

    def _exact_mb(self, task: int) -> float:
        """Return what a process has of memory, shared pages split; its size if it hides them."""
        parts = [
            int(line.split()[1])
            for line in self.read(f"{task}/smaps_rollup").splitlines()
            if line.startswith(("Pss:", "SwapPss:"))
        ]
        if parts or not (fields := self._stat(task)):  # it may have ended meanwhile
            return sum(parts) / 1024
        return int(fields[_RSS]) * _PAGE / _MB

    def tasks_of(self, uid: int) -> int:
        """Return how many processes and threads a user has."""
        count = 0
        for name in os.listdir(self._folder):
            if name.isdigit():
                status = self.read(f"{name}/status")
                if f"\nUid:\t{uid}\t" in status:
                    count += int(status.partition("\nThreads:\t")[2].partition("\n")[0] or 1)
        return count

    def size_mb(self, pid: int | str) -> tuple[float, float]:
        """Return a process's address space and what of it lies in memory."""
        pages = self.read(f"{pid}/statm").split()
        return int(pages[0]) * _PAGE / _MB, int(pages[1]) * _PAGE / _MB
