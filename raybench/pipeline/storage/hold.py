"""A run that this process is at work on: its lease, and what it writes to the store."""

import hashlib
import os
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeVar

from raybench.errors import Problem, RunFailed
from raybench.pipeline import hanging, whole
from raybench.pipeline.storage import lease as leases
from raybench.pipeline.storage import segments
from raybench.pipeline.storage.lease import TIMING, Broken, Lease, Timing
from raybench.pipeline.storage.objects import Objects
from raybench.pipeline.storage.patience import REAL, Clock, Patience, answer, interruptible
from raybench.pipeline.storage.segments import Piece, Segment

JOURNALS = "journal"
_T = TypeVar("_T")
OWNER = ".lease"
"""In a run's folder: who held it last from here. With the folder's lock, that one is dead."""
_CLOSING_S, _LAST_S = 5.0, 60.0
"""At the end the beat has so long to stop, and what is left to be written."""
_BATCH, _TAIL = 2**26, 2**16
_AT_ONCE, _BLOCK = 16, 256
"""A new machine fetches so many segments at once, and holds so many in memory."""


class ApartError(RunFailed):
    """What is here of a journal and what the store has of it go on in different ways."""


@dataclass(frozen=True, slots=True)
class LeaseStore:
    """A store, how long it is waited for, and the timing of its leases."""

    objects: Objects
    patience: Patience
    timing: Timing = TIMING
    clock: Clock = REAL


class Hold:
    """One run's place in the store, held as long as no other process takes it."""

    def __init__(self, store: LeaseStore, path: str, folder: Path, lease: Lease) -> None:
        """Begin to beat. `path` is the run's below the store, `folder` where it lies here."""
        self._objects, self._path, self._folder = store.objects, path, folder
        self._patience, self._timing, self._clock = store.patience, store.timing, store.clock
        self._lease = lease
        self._numbers: dict[str, int] = {}
        self._sent: dict[str, tuple[int, int]] = {}
        self._lock = threading.Lock()
        """Of the lease: the beat and the end of a run both write it."""
        self._lost = False
        self._seen = self._clock.now()
        """When the lease was last seen to be ours."""
        self._over = threading.Event()
        self._beating = threading.Thread(target=self._beat, name="lease", daemon=True)
        self._beating.start()

    def extend(self, journal: str, data: bytes) -> None:
        """Write a batch of a journal's lines; it counts when this returns."""
        self._look()
        number = self._numbers.get(journal, 0)
        piece = Segment(journal, self._lease.term, number, len(data), segments.digest(data))
        self._try(lambda: self._objects.put(self._at(piece.path), data))
        self._numbers[journal] = number + 1
        self._look()  # that may have taken a while

    def put(self, name: str) -> None:
        """Write one of the run's files."""
        file = self._folder / name
        stamp = _stamp(file)
        self._try(lambda: self._objects.put_file(self._at(name), file))
        self._sent[name] = stamp

    def put_files(self) -> None:
        """Write those of the run's files that have changed since they were last written."""
        for name in own_files(self._folder):
            if self._sent.get(name) != _stamp(self._folder / name):
                self.put(name)

    def finish(self, name: str, text: str) -> None:
        """Write results, which end the run, after all else; its journals are in one piece then."""
        self._look(now=True)
        self.put_files()
        self._merge()
        self._look(now=True)
        data = text.encode("utf-8", "replace")
        self._try(lambda: self._objects.put(self._at(name), data))

    def close(self) -> None:
        """Write what is left and let go of the lease, if the store is there."""
        self._over.set()
        if not self._patience.away:
            self._beating.join(_CLOSING_S)
        if self._beating.is_alive():
            hanging.leave(self._beating)
        elif not self._lost and not self._patience.away:
            # Else who comes next watches the lease for a while, and takes it.
            with suppress(OSError):  # as if it had been away already
                answer(self._let_go, _LAST_S)

    def _let_go(self) -> None:
        for name in own_files(self._folder):
            if self._sent.get(name) != _stamp(self._folder / name):
                self._objects.put_file(self._at(name), self._folder / name)
        self._change(lambda lease: replace(lease, at_work=False))

    def _merge(self) -> None:
        """Put each journal in one piece, and only then remove its segments."""
        merged = {}
        for file in sorted((self._folder / JOURNALS).glob("*.jsonl")):
            name = file.stem
            self.put(segments.whole(name))
            merged[name] = (*_size_and_digest(file), self._numbers.get(name, 0))
        if not merged:
            return
        self._try(lambda: self._change(lambda lease: lease.merged(merged)))
        self._refuse_if_lost()
        for name in merged:
            self._try(partial(self._objects.remove_folder, self._at(segments.folder(name))))

    def agree(self, journals: Mapping[str, list[Piece]]) -> None:
        """Have the local journals and the stored ones hold the same.

        Of what is here and was not stored, nothing counted yet: it does from now on.
        """
        here = {path.stem for path in (self._folder / JOURNALS).glob("*.jsonl")}
        for name in sorted({*journals, *here}):
            self._numbers.setdefault(name, 0)
            stored = journals.get(name, [])
            file = self._folder / segments.whole(name)
            agree(file, stored, self._fetched)
            with file.open("rb") as local:
                local.seek(sum(piece.size for piece in stored))
                while lines := local.readlines(_BATCH):
                    self.extend(name, b"".join(lines))

    def _fetched(self, piece: Piece) -> bytes:
        return fetched(self._objects, self._path, piece, self._try)

    def _at(self, name: str) -> str:
        return f"{self._path}/{name}"

    def _try(self, do: Callable[[], _T]) -> _T:
        try:
            return self._patience.call(do, lambda: self._lost)
        except RunFailed:
            self._refuse_if_lost()
            raise

    def _look(self, *, now: bool = False) -> None:
        """Make sure that the lease is ours, where it is not known from just now."""
        if now or self._clock.now() - self._seen > self._timing.stale_s / 2:
            self._try(self._confirm)
        self._refuse_if_lost()

    def _refuse_if_lost(self) -> None:
        if self._lost:
            raise RunFailed(
                Problem(
                    "run.taken",
                    "another process has taken over this run: its lease in "
                    f"{self._patience.where}, {self._at(leases.PATH)}, is not ours any more. It "
                    "goes on there. What this one wrote since does not count",
                    fix=f"To be at work here again, end the other, delete {self._folder} and give "
                    "the same command",
                )
            )

    def _confirm(self) -> None:
        with self._lock:
            self._confirmed()

    def _change(self, how: Callable[[Lease], Lease]) -> None:
        """Write the lease anew, if it is ours still."""
        with self._lock:
            if self._confirmed():
                self._write(how(self._lease))

    def _confirmed(self) -> bool:
        """Read the lease; it may have been taken."""
        raw = self._objects.get(self._at(leases.PATH))
        try:
            ours = raw is not None and Lease.of(raw).term == self._lease.term
        except Broken:
            ours = False
        if ours:
            self._seen = self._clock.now()
        else:
            self._lost = True
        return ours

    def _write(self, lease: Lease) -> None:
        self._objects.put(self._at(leases.PATH), lease.text().encode())
        self._lease = lease

    def _beat(self) -> None:
        """Show again and again that this process is at work."""
        while not self._over.wait(self._timing.beat_s) and not self._lost:
            try:
                with self._lock:
                    if not self._over.is_set() and self._confirmed():
                        self._write(self._lease.beaten())
            except OSError:
                continue  # the store is away: whoever writes is told


def claim(
    store: LeaseStore, path: str, folder: Path
) -> tuple[Hold, Mapping[str, list[Piece]], bool] | None:
    """Take a run's lease; None where another process is at work on it.

    Returned are the hold, the pieces of its journals that count, and whether another machine was
    the last to be at work on it. The folder's lock is ours already. Raises RunFailed.
    """
    objects, patience = store.objects, store.patience
    at = f"{path}/{leases.PATH}"
    owner = secrets.token_hex(8)
    raw = patience.call(lambda: objects.get(at))
    last = (folder / OWNER).read_text() if (folder / OWNER).exists() else None
    if raw is None:
        if segments.read(patience.call(lambda: _own(objects, path))):
            raise _broken(Broken(f"{leases.PATH} is missing"), patience, path)
        mine, elsewhere = Lease.first(owner), last is not None
    else:
        former = _read(raw, patience, at)
        elsewhere = former.term.owner != last
        if former.at_work and elsewhere and not _deserted(store, at, raw):
            return None
        mine = former.taken(owner)
    text = mine.text().encode()
    if patience.call(lambda: objects.get(at)) != raw:
        return None
    patience.call(lambda: objects.put(at, text))
    if raw is not None:
        store.clock.sleep(store.timing.settle_s)
    if patience.call(lambda: objects.get(at)) != text:
        return None
    paths = patience.call(lambda: _own(objects, path))
    try:
        history = mine.history(paths)
        mine = mine.opened(paths)
    except Broken as error:
        raise _broken(error, patience, path) from error
    if patience.call(lambda: objects.get(at)) != text:
        return None  # to list them may have taken a while
    patience.call(lambda: objects.put(at, mine.text().encode()))
    whole.write(folder / OWNER, [owner])
    return Hold(store, path, folder, mine), history, elsewhere


def stored(objects: Objects, path: str, patience: Patience) -> Mapping[str, list[Piece]]:
    """Return the pieces that count of a run that nobody need be at work on. Raises RunFailed."""
    raw = patience.call(lambda: objects.get(f"{path}/{leases.PATH}"))
    if raw is None:
        return {}
    paths = patience.call(lambda: _own(objects, path))
    try:
        return Lease.of(raw).history(paths)
    except Broken as error:
        raise _broken(error, patience, path) from error


def agree(file: Path, stored: list[Piece], fetched: Callable[[Piece], bytes]) -> None:
    """Have a local journal hold at least what is stored. Raises ApartError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a+b") as local:
        _cut_off_torn(local)
        standing = segments.compared(local, stored)
        if standing.pieces == len(stored):
            return
        missing = stored[standing.pieces :]
        local.seek(standing.at)
        begun = local.read(missing[0].size)
        first = fetched(missing[0])
        if standing.apart(stored) or not first.startswith(begun):
            raise ApartError(
                Problem(
                    "storage.changed",
                    f"{file} is not what the store has of it: both begin alike and go on "
                    f"differently after {standing.at} bytes. Another machine went on with this "
                    "run, or one of them was changed from outside",
                    fix=f"Move {file.parents[1]} away, and the same command goes on with what the "
                    "store has; or start anew: resume=false",
                )
            )
        local.truncate(standing.at)
        local.write(first)
        for at in range(1, len(missing), _BLOCK):
            block = missing[at : at + _BLOCK]
            local.writelines(interruptible(partial(_together, fetched, block)))
        local.flush()
        os.fsync(local.fileno())


def _together(fetched: Callable[[Piece], bytes], pieces: list[Piece]) -> list[bytes]:
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return [*pool.map(fetched, pieces)]


def fetched(
    objects: Objects, path: str, piece: Piece, call: Callable[[Callable[[], bytes | None]], object]
) -> bytes:
    """Return a piece of a journal. Raises RunFailed where it is not what it was."""
    data = call(lambda: objects.get(f"{path}/{piece.path}"))
    found = data[: piece.size] if isinstance(data, bytes) else b""
    if segments.digest(found) != piece.digest:
        raise RunFailed(
            Problem(
                "storage.changed",
                f"{path}/{piece.path} in the store was removed or changed from outside",
                fix="start anew (resume=false), or go on with what is here alone (storage=null)",
            )
        )
    return found


def own_files(folder: Path) -> Iterable[str]:
    """Yield the names of a run's own files: no journals, no parts' runs, nothing hidden."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in name.parts)
        journal = name.parts[0] == JOURNALS and name.suffix == ".jsonl"
        if not (hidden or journal or name.parts[0] == "parts") and path.is_file():
            yield name.as_posix()


def _own(objects: Objects, path: str) -> list[str]:
    return [f"{JOURNALS}/{it}" for it in objects.files(f"{path}/{JOURNALS}")]


def _deserted(store: LeaseStore, at: str, raw: bytes) -> bool:
    """Tell whether a lease shows no sign of life, looked at for a while.

    While the store is away nobody can give one: the while begins anew then.
    """
    now, timing = store.clock.now, store.timing
    since = now()
    while now() - since < timing.stale_s:
        store.clock.sleep(timing.beat_s / 2)
        asked = now()
        if store.patience.call(lambda: store.objects.get(at)) != raw:
            return False
        if now() - asked > timing.beat_s:
            since = now()
    return True


def _read(raw: bytes, patience: Patience, path: str) -> Lease:
    try:
        return Lease.of(raw)
    except Broken as error:
        raise _broken(error, patience, path) from error


def _broken(error: Broken, patience: Patience, path: str) -> RunFailed:
    return RunFailed(
        Problem(
            "storage.changed",
            f"{path} in {patience.where} is not what a run leaves: {error}. It was changed from "
            "outside",
            fix="start anew (resume=false), or go on with what is here alone (storage=null)",
        )
    )


def _stamp(file: Path) -> tuple[int, int]:
    found = file.stat()
    return found.st_mtime_ns, found.st_size


def _size_and_digest(file: Path) -> tuple[int, str]:
    found, size = hashlib.sha256(), 0
    with file.open("rb") as source:
        while chunk := source.read(2**20):
            found.update(chunk)
            size += len(chunk)
    return size, found.hexdigest()[:16]


def _cut_off_torn(local: BinaryIO) -> None:
    """Cut off a last line that a killed process left half-written: it never counted."""
    end = at = local.seek(0, os.SEEK_END)
    while at > 0:
        start = max(0, at - _TAIL)
        local.seek(start)
        if (last := local.read(at - start).rfind(b"\n")) >= 0:
            at = start + last + 1
            break
        at = start
    if at < end:
        local.truncate(at)
