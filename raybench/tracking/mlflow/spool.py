"""What MLflow is to be told of a run, in the run's folder: appended to, and never taken back.

    mlflow.jsonl    what is to be written, one entry a line, whatever became of the server
    mlflow.json     how much of it each server has, and the ids that it gave the runs

An entry is an object with a `kind`, and is sent in the order of the file:

    open        the runs begin: `key` (they are known by it again), experiment, name, when, who,
                tags, params by run. There is another where other runs superseded the first.
    again       the run goes on in another session: when, tags, and params that are new
    points      metrics: [run, key, value, ms, step] each
    tags        tags by run
    inputs      what was asked, the same for every run
    end         how each run ended, and when
    files       what to keep of the folder
    superseded  other runs take the place of these

A run is named by its model, the parent by ''. No address's password stands in either file.
"""

import contextlib
import fcntl
import json
import os
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from raybench.pipeline import whole
from raybench.reading import from_json

PARENT = ""
"""The parent's place among the runs; models are never named so."""
SPOOL, SENT, _LOCK = "mlflow.jsonl", "mlflow.json", ".mlflow.lock"
_BOUNDS = ("open", "again", "end")
"""The last of these kinds tells whether the runs are over."""
_TAIL = 2**16
"""Bytes at the end of a spool in which nearly always stands whether its runs are over."""
PARTS = "parts"
"""Runs that are parts of another lie in its folder, at parts/EXPERIMENT/ID."""

Entry = dict[str, Any]


class Spool:
    """The entries of a run, open for more of them by the one process that runs it."""

    def __init__(self, folder: Path, *, known_to: int | None = None) -> None:
        """Read what is there; who has read it says up to where its whole lines go."""
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / SPOOL).open("a+b", buffering=0)
        self._unwritten: deque[bytes] = deque()
        self.entries: list[Entry] = []
        # A last line that a killed process left half-written never counted.
        self._end = whole_to(folder) if known_to is None else known_to
        self._file.truncate(self._end)
        self._torn = False
        """Of a line that did not fit the beginning may be there."""
        if known_to is None:
            self.entries += (entry for entry, _ in read(folder))

    def append(self, entry: Entry, *, durable: bool = True) -> None:
        """Write an entry: what is durable outlives the machine, all else this process.

        Raises OSError where that fails; it is written before the next one then.
        """
        line = json.dumps(entry, ensure_ascii=False, allow_nan=False)
        self._unwritten.append(f"{line}\n".encode("utf-8", "replace"))
        self._write()
        if durable:
            self.keep()

    def _write(self) -> None:
        while self._unwritten:
            if self._torn:
                self._file.truncate(self._end)
            self._torn, line = True, memoryview(self._unwritten[0])
            while line:
                line = line[self._file.write(line) :]
            self._torn = False
            self._end += len(self._unwritten.popleft())

    def keep(self) -> None:
        """Make what was written outlive the machine."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Write what could not be written before, and close the file."""
        try:
            if self._unwritten:
                self._write()
                self.keep()
        finally:
            self._file.close()


@dataclass
class Sent:
    """How far a server has been told: up to a place in the file, in the runs of these ids."""

    uri: str
    """Without its password."""
    run_id: str | None = None
    models: dict[str, str] = field(default_factory=dict)
    key: str = ""
    """Which runs these are the ids of: the `key` of what opened them."""
    sent: int = 0
    instead: str = ""
    """The address that this one was given up for, if it was."""

    def runs(self) -> dict[str, str]:
        """Return the ids by run."""
        return {**({PARENT: self.run_id} if self.run_id else {}), **self.models}


def read(folder: Path, start: int = 0) -> Iterator[tuple[Entry, int]]:
    """Yield the entries from a place in the file on, each with the place where it ends.

    What is no entry (a line half-written, or changed from outside) is passed over.
    """
    with contextlib.suppress(FileNotFoundError), (folder / SPOOL).open("rb") as file:
        place = start
        for line in _whole_lines(file, start):
            place += len(line)
            with contextlib.suppress(ValueError):
                entry = from_json(line)
                if isinstance(entry, dict) and isinstance(entry.get("kind"), str):
                    yield entry, place


def size(folder: Path) -> int:
    """Return where the file ends."""
    return state(folder)[0]


def state(folder: Path) -> tuple[int, int]:
    """Return where the file ends and when it was written to: as long as they stay so does it."""
    try:
        found = (folder / SPOOL).stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


def whole_to(folder: Path) -> int:
    """Return where the last line that is whole ends."""
    with (folder / SPOOL).open("rb") as file:
        return sum(len(line) for line in _whole_lines(file, 0))


def above(folder: Path) -> Path | None:
    """Return the folder of the run that this one is a part of."""
    parts = folder.absolute().parent.parent  # of shallow folders the root, which is its own parent
    return parts.parent if parts.name == PARTS and (parts.parent / SPOOL).exists() else None


def parts(folder: Path) -> list[Path]:
    """Return the folders of a run's parts with something for MLflow."""
    return sorted(path.parent for path in folder.glob(f"{PARTS}/*/*/{SPOOL}"))


def address(folder: Path) -> str | None:
    """Return where a run is to be sent, without its password: where it was told that it goes.

    Unless that address was given up for another.
    """
    began = opened(folder)
    if began is None or "uri" not in began:
        return None
    uri, known = str(began["uri"]), {each.uri: each.instead for each in _all_sent(folder)}
    passed: set[str] = set()
    while uri not in passed and known.get(uri):  # two that were given up for each other end it
        passed.add(uri)
        uri = known[uri]
    return uri


def give_up(folder: Path, uri: str, *, instead: str) -> None:
    """Note that what was to go to one address is at another, both given without passwords."""
    if uri != instead:
        remember(folder, replace(sent_to(folder, uri), instead=instead), first=instead)


def opened(folder: Path) -> Entry | None:
    """Return what opened the runs that count."""
    last = None
    for entry, _ in read(folder):
        last = entry if entry["kind"] == "open" else last
    return last


def sent_to(folder: Path, uri: str) -> Sent:
    """Return how far the server of this address, which is given without its password, was told."""
    for each in _all_sent(folder):
        if each.uri == uri:
            return each
    return Sent(uri)


def remember(folder: Path, sent: Sent, *, first: str | None = None) -> None:
    """Write down how far a server was told, whole or not at all.

    The `first` address comes first, for whoever looks for the run's ids: else that of this server.
    """
    every = [sent, *(each for each in _all_sent(folder) if each.uri != sent.uri)]
    every.sort(key=lambda each: each.uri != (first or sent.uri))
    record, *others = (asdict(each) for each in every)
    whole.write(folder / SENT, [json.dumps({**record, "others": others}, indent=2)])


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[bool]:
    """Tell whether nobody else sends this run's entries now; the lock dies with its process."""
    handle = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)


def ended(folder: Path) -> bool:
    """Tell whether the runs that a spool opened, or went on with, were told how they ended."""
    for start in (_line_after(folder, size(folder) - _TAIL), 0):
        kinds = [it["kind"] for it, _ in read(folder, start) if it["kind"] in _BOUNDS]
        if kinds:
            return bool(kinds[-1] == "end")
    return True


def _line_after(folder: Path, place: int) -> int:
    """Return where the first line begins after a place; the first of all where that is before."""
    if place <= 0:
        return 0
    with (folder / SPOOL).open("rb") as file:
        file.seek(place)
        file.readline()
        return file.tell()


def _whole_lines(file: Any, start: int) -> Iterator[bytes]:
    file.seek(start)
    for line in file:
        if not line.endswith(b"\n"):
            return
        yield line


def _all_sent(folder: Path) -> Iterator[Sent]:
    try:
        record = from_json((folder / SENT).read_bytes())
        known: list[Mapping[str, Any]] = [record, *record.get("others", ())]
    except (OSError, ValueError, AttributeError):
        return
    for each in known:
        with contextlib.suppress(LookupError, TypeError, ValueError):
            yield Sent(
                str(each["uri"]),
                each["run_id"] and str(each["run_id"]),
                {str(model): str(run) for model, run in each["models"].items()},
                str(each["key"]),
                int(each["sent"]),
                str(each.get("instead", "")),
            )
