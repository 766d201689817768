"""Memory of the virtual GPUs of a node, and of its host."""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

GIB = 1024**3
HOST = "host"
"""The name of the node's own memory, among those of its devices."""
Taken = dict[str, dict[str, dict[str, int]]]
"""Bytes by device, owner and part."""


class OutOfDeviceMemoryError(RuntimeError):
    """A device has less memory than is asked for. The text is PyTorch's."""


class DeviceMemory:
    """What is taken of the memory of a node's devices, by whom and for what. In whole bytes."""

    def __init__(self, gib: Mapping[str, float], *, host_gib: float = 1024.0) -> None:
        """Take the size of each device, by the id that CUDA_VISIBLE_DEVICES takes."""
        self._sizes = sizes_of(gib, host_gib)
        self._taken: Taken = {name: {} for name in self._sizes}

    @property
    def devices(self) -> tuple[str, ...]:
        """Return the ids of the devices."""
        return tuple(name for name in self._sizes if name != HOST)

    def total(self, device: str) -> int:
        """Return the bytes that a device has."""
        return self._sizes[device]

    def free(self, device: str) -> int:
        """Return the bytes of a device that nobody has taken."""
        with self._books() as taken:
            return self._free(taken, device)

    def held(self, owner: str, device: str) -> Mapping[str, int]:
        """Return the bytes that an owner has taken of a device, by what they are for."""
        with self._books() as taken:
            return dict(taken[device].get(self._key(owner), {}))

    def take(self, owner: str, device: str, part: str, size: int) -> None:
        """Take bytes of a device for a part of an owner, in addition to what it has."""
        with self._books() as taken:
            if size > (free := self._free(taken, device)):
                raise out_of_memory(device, size, free, self._sizes[device])
            parts = taken[device].setdefault(self._key(owner), {})
            parts[part] = parts.get(part, 0) + size

    def give_back(self, owner: str, device: str, part: str) -> None:
        """Free what a part of an owner has of a device."""
        with self._books() as taken:
            taken[device].get(self._key(owner), {}).pop(part, None)

    def end(self, owner: str) -> None:
        """Free everything that an owner has, as the driver does when a process ends."""
        with self._books() as taken:
            for by_owner in taken.values():
                by_owner.pop(self._key(owner), None)

    def _free(self, taken: Taken, device: str) -> int:
        return self._sizes[device] - sum(sum(it.values()) for it in taken[device].values())

    @contextlib.contextmanager
    def _books(self) -> Iterator[Taken]:
        """Yield what is taken, to be changed."""
        yield self._taken

    def _key(self, owner: str) -> str:
        return owner


class SharedDeviceMemory(DeviceMemory):
    """The same for several processes: a file under a lock. Memory of dead processes is free."""

    def __init__(self, file: Path) -> None:
        """Open what `create` has made."""
        self._file = file
        self._process = _process(os.getpid())
        with self._opened() as (_, kept):
            super().__init__({})
            self._sizes = kept["sizes"]

    @classmethod
    def create(cls, file: Path, gib: Mapping[str, float], *, host_gib: float = 1024.0) -> None:
        """Make the file of a node's memory."""
        sizes = sizes_of(gib, host_gib)
        file.write_text(json.dumps({"sizes": sizes, "taken": {name: {} for name in sizes}}))

    def owners(self, device: str) -> Mapping[str, int]:
        """Return the bytes that live owners have of a device, of all their processes together."""
        sums: dict[str, int] = {}
        with self._books() as taken:
            for key, parts in taken[device].items():
                owner = key.rpartition("@")[0]
                sums[owner] = sums.get(owner, 0) + sum(parts.values())
        return sums

    def processes(self, device: str) -> Mapping[int, int]:
        """Return the bytes that each live process has of a device, by its id."""
        sums: dict[int, int] = {}
        with self._books() as taken:
            for key, parts in taken[device].items():
                process = int(key.rpartition("@")[2].partition("-")[0])
                sums[process] = sums.get(process, 0) + sum(parts.values())
        return sums

    @contextlib.contextmanager
    def _books(self) -> Iterator[Taken]:
        with self._opened() as (file, kept):
            taken: Taken = kept["taken"]
            keys = {key for by_owner in taken.values() for key in by_owner}
            for key in (key for key in keys if not _lives(key)):
                for by_owner in taken.values():
                    by_owner.pop(key, None)
            yield taken
            file.seek(0)
            file.truncate()
            json.dump(kept, file)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[tuple[Any, Any]]:
        with self._file.open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file, json.load(file)

    def _key(self, owner: str) -> str:
        return f"{owner}@{self._process}"


def sizes_of(gib: Mapping[str, float], host_gib: float) -> dict[str, int]:
    """Return the bytes of each device and of the host."""
    return {name: round(size * GIB) for name, size in {**gib, HOST: host_gib}.items()}


def out_of_memory(device: str, size: int, free: int, total: int) -> OutOfDeviceMemoryError:
    """Return what PyTorch raises where a device has too little memory left."""
    return OutOfDeviceMemoryError(
        f"CUDA out of memory. Tried to allocate {format_gib(size)} GiB. GPU {device} has a total "
        f"capacity of {format_gib(total)} GiB of which {format_gib(free)} GiB is free."
    )


def format_gib(size: int) -> str:
    """Return a number of bytes in GiB, written as vLLM does."""
    return f"{round(size / GIB, 2)}"


def _process(pid: int) -> str:
    """Name a process by its id and when it began, as ids are given again."""
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return f"{pid}-{stat[19]}" if stat[0] != "Z" else ""


def _lives(key: str) -> bool:
    process = key.rpartition("@")[2]
    try:
        return _process(int(process.partition("-")[0])) == process
    except FileNotFoundError:
        return False
