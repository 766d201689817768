"""Replies that have arrived and whose samples are not in the journal yet.

A sample enters the journal when it is graded, with others that were finished at the same time. The
process that receives a reply writes it here at once, so that a kill before that costs no reply:
whoever comes to the same sample again, in this session or the next, takes the reply from here.

The files lie in the run's folder, on the node where all processes are that ask models. Each writes
its own, so that none has to wait for another and a line that a kill cut off is the last one of its
file.
"""

import asyncio
import errno
import hashlib
import json
import os
import shutil
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from threading import Lock
from typing import Any, Self
from uuid import uuid4

import numpy as np

from raybench.errors import Problem, RunFailed
from raybench.pipeline import responses
from raybench.types import Request

FOLDER = ".replies"
"""Below the run's folder; hidden, as it is no part of what a run leaves."""
Reply = dict[str, Any]
Key = str
_GATHER_S = 0.02
"""Replies that arrive within this time are waited for together, until the disk has them."""
_FILE_BYTES = 16 << 20
"""A file of this size is closed, and deleted when all of its samples are in the journal."""
_UNIT, _KEY = 16, 32
"""Characters of a sample's id and of a key, with which each line begins."""


def key_of(unit: int, model: str, request: Request) -> Key:
    """Return the key of the reply to a request for a sample. Its sampling must be filled in."""
    asked = responses.address(model, request, 0)
    return hashlib.sha256(f"{unit}/{asked}".encode()).hexdigest()[:_KEY]


class ReplyFiles:
    """The files of a log, on the node where they are."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: FileIO | None = None
        self._full: list[FileIO] = []
        """Files that get no more lines and are not known to be on the disk yet."""
        self._places: dict[str, dict[bytes, tuple[int, int]]] = {}
        """By file and key: where a line begins and how long it is."""
        self._read: dict[str, int] = {}
        """By file: how many bytes of it have been read."""
        self._units: dict[str, Any] = {}
        """By file that is closed: the ids of its samples."""
        self._finding = Lock()

    def append(self, lines: bytes) -> None:
        """Write whole lines; from now on they outlive this process."""
        with self._refusing():
            if self._file is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                path = self._folder / f"{os.getpid()}-{uuid4().hex}.txt"
                self._file = path.open("xb", buffering=0)
            if self._file.write(lines) < len(lines):
                self._file = None  # whose last line is cut off
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if self._file.tell() >= _FILE_BYTES:
                self._full.append(self._file)
                self._file = None

    def sync(self) -> None:
        """Wait until the disk has all that was written, so that it outlives the machine."""
        with self._refusing():
            if (file := self._file) is not None:
                os.fsync(file.fileno())
            while self._full:
                os.fsync(self._full[-1].fileno())
                self._full.pop().close()

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RunFailed(
                Problem(
                    "file.unwritable",
                    f"replies cannot be written to {self._folder}: {error}",
                    given=str(self._folder),
                    fix="Free space on its disk or make it writable, and give the same command: "
                    "everything that was written is kept",
                )
            ) from error

    def find(self, keys: Sequence[Key]) -> dict[Key, Reply]:
        """Return the replies that are there, whichever process wrote them."""
        with self._finding:
            return self._find(keys)

    def _find(self, keys: Sequence[Key]) -> dict[Key, Reply]:
        self._read_new_lines()
        found = {}
        for name, places in self._places.items():
            wanted = [key for key in keys if key.encode() in places]
            if not wanted:
                continue
            with suppress(FileNotFoundError), (self._folder / name).open("rb") as file:
                for key in wanted:
                    start, size = places[key.encode()]
                    file.seek(start)
                    found[key] = json.loads(file.read(size)[_UNIT + _KEY + 2 :])
        return found

    def delete_done(self, done: "array[int]") -> None:
        """Delete closed files of which all samples are in the journal."""
        for path in self._paths():
            if path.stat().st_size < _FILE_BYTES:
                continue
            if path.name not in self._units:
                with path.open("rb") as file:
                    units = [int(line[:_UNIT], 16) for line in file if line.endswith(b"\n")]
                self._units[path.name] = np.unique(np.array(units, dtype=np.uint64))
            if np.isin(self._units[path.name], np.frombuffer(done, dtype=np.uint64)).all():
                path.unlink(missing_ok=True)
                del self._units[path.name]

    def _paths(self) -> list[Path]:
        return sorted(self._folder.glob("*.txt"))

    def _read_new_lines(self) -> None:
        paths = self._paths()
        names = {path.name for path in paths}
        for gone in self._places.keys() - names:
            del self._places[gone], self._read[gone]
        for path in paths:
            places = self._places.setdefault(path.name, {})
            start = self._read.setdefault(path.name, 0)
            with suppress(FileNotFoundError), path.open("rb") as file:
                file.seek(start)
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    places[line[_UNIT + 1 : _UNIT + 1 + _KEY]] = (start, len(line))
                    start += len(line)
            self._read[path.name] = start


@dataclass(frozen=True)
class ReplyLog:
    """Where the replies of a run are written; it travels to the processes of stages."""

    folder: Path

    @classmethod
    def of(cls, run: Path) -> Self:
        """Return the log of the run in a folder."""
        return cls(run.absolute() / FOLDER)  # processes of a cluster were started elsewhere

    def delete(self) -> None:
        """Delete all of it: everything is in the journal."""
        shutil.rmtree(self.folder, ignore_errors=True)


class ReplyWriter:
    """The log as one process uses it; without a log it finds nothing and writes nothing."""

    def __init__(self, log: ReplyLog | None) -> None:
        self._files = None if log is None else ReplyFiles(log.folder)
        self._next: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()

    async def find(self, keys: Sequence[Key]) -> dict[Key, Reply]:
        """Return the replies that are in the log."""
        if self._files is None or not keys:
            return {}
        return await asyncio.to_thread(self._files.find, keys)

    def add(self, unit: int, key: Key, reply: Mapping[str, Any]) -> "asyncio.Task[None] | None":
        """Write the reply for a sample; the task ends when it is on the disk."""
        if self._files is None:
            return None
        text = json.dumps(reply)  # in ASCII: half a surrogate pair, or a line end, is an escape
        self._files.append(f"{unit:0{_UNIT}x} {key} {text}\n".encode())
        if self._next is None:
            self._next = asyncio.create_task(self._commit(self._files))
            # The last task of a block is waited for; an earlier one fails for the same reason.
            self._next.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._next

    async def _commit(self, files: ReplyFiles) -> None:
        await asyncio.sleep(_GATHER_S)
        self._next = None
        async with self._lock:
            await asyncio.to_thread(files.sync)
