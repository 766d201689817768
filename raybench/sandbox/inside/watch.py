"""What processes use, read from /proc while they run."""

import os
from collections.abc import Iterator
from dataclasses import dataclass

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_MB = 1 << 20
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
        spent, sizes = {}, {}
        for pid in self.below(init):
            if fields := self._stat(pid):
                times = [int(field) / _TICKS for field in fields[_UTIME : _UTIME + 4]]
                cpu += sum(times)
                spent[pid] = times[0] + times[1]
                sizes[pid] = int(fields[_RSS]) * _PAGE / _MB
        if fields := self._stat(init):
            cpu += sum(map(int, fields[_UTIME + 2 : _UTIME + 4])) / _TICKS
        if sum(sizes.values()) > limit_mb:
            memory = sum(self._exact_mb(pid, size) for pid, size in sizes.items())
        else:
            memory = sum(max(0.0, size - shared_mb) for size in sizes.values())
        return Usage(cpu, spent, memory)

    def unix_sockets(self, init: int) -> int:
        """Return how many Unix sockets there are in the network that a process is in."""
        return max(0, self.read(f"{init}/net/unix").count("\n") - 1)

    def _stat(self, pid: int) -> list[str]:
        # The name stands in parentheses and may itself hold some.
        return self.read(f"{pid}/stat").rpartition(")")[2].split()

    def _exact_mb(self, pid: int, size_mb: float) -> float:
        """Return what a process has of memory, shared pages split; its size if it hides them."""
        parts = [
            int(line.split()[1])
            for line in self.read(f"{pid}/smaps_rollup").splitlines()
            if line.startswith(("Pss:", "SwapPss:"))
        ]
        return sum(parts) / 1024 if parts else size_mb

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
