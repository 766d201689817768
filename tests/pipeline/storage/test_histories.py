"""Runs that are killed anywhere, taken over, and haunted: every counted record, once, in order."""

import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from examples import examples
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from raybench.errors import RunFailed
from raybench.pipeline.journal import Journal
from raybench.pipeline.storage import Storage, lease, segments
from raybench.pipeline.storage.lease import Lease, Timing
from raybench.pipeline.storage.objects import Objects
from raybench.pipeline.storage.patience import Patience
from raybench.pipeline.storage.segments import Segment
from raybench.pipeline.store import RESULTS, Run, open_run

CONFIG = {"seed": 1}
MACHINES = ("a", "b", "c")


class Killed(BaseException):
    """The process ends here."""


class Memory(Objects):
    """A store in memory, in which the process is killed at some call, before or after it."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}
        self.left: int | None = None
        """So many half calls are left to live; None: no end."""

    def _do(self, effect: Callable[[], Any]) -> Any:
        self._live()
        found = effect()
        self._live()
        return found

    def _live(self) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise Killed

    def put(self, path: str, data: bytes) -> None:
        self._do(lambda: self.held.update({path: data}))

    def put_file(self, path: str, file: Path) -> None:
        self.put(path, file.read_bytes())

    def get(self, path: str) -> bytes | None:
        return self._do(lambda: self.held.get(path))  # type: ignore[no-any-return]

    def get_parts(self, path: str) -> Iterator[bytes]:
        yield self._do(lambda: self.held[path])

    def there(self, path: str) -> bool:
        return bool(self._do(lambda: path in self.held))

    def files(self, path: str) -> list[str]:
        below = f"{path}/"
        found = [it.removeprefix(below) for it in self.held if it.startswith(below)]
        return self._do(lambda: found)  # type: ignore[no-any-return]

    def folders(self, path: str) -> list[str]:
        return sorted({it.partition("/")[0] for it in self.files(path) if "/" in it})

    def remove_folder(self, path: str) -> None:
        for each in [it for it in self.held if it.startswith(f"{path}/")]:
            self._do(partial(self.held.pop, each))


def silent(_: str) -> None:
    """Say nothing."""


class Histories(RuleBasedStateMachine):
    """Processes on three machines, one run after another, and all that may befall them."""

    def __init__(self) -> None:
        super().__init__()
        memory = "/dev/shm"  # to wait for a disk again and again would be most of the time
        self.root = Path(mkdtemp(dir=memory if Path(memory).is_dir() else None))
        self.objects = Memory()
        # Whoever looks at a lease takes it for deserted, and nobody beats.
        timing = Timing(beat_s=3600, stale_s=0, settle_s=0)
        self.storage = Storage(self.objects, Patience("the store", 0, silent), timing)
        self.next = 0
        self.locks: set[int] = set()
        self.begin_anew()

    def begin_anew(self) -> None:
        self.counted: list[int] = []
        self.unsure: set[int] = set()
        """Written by who was killed before it knew whether they count."""
        self.at_work: tuple[str, Run, Journal] | None = None
        self.zombies: list[tuple[str, Run, Journal]] = []
        self.over = False

    def teardown(self) -> None:
        self.objects.left = None
        for _, run, _ in [*self.zombies, *([self.at_work] if self.at_work else [])]:
            run._hold._over.set()  # type: ignore[union-attr]
        shutil.rmtree(self.root)

    def _open(self, machine: str) -> tuple[Run, Journal]:
        run = open_run(self.root / machine, "exp", CONFIG, storage=self.storage)
        self.locks.add(run._lock)
        return run, run.journal("units")

    @precondition(lambda self: not self.over)
    @rule(machine=st.sampled_from(MACHINES), lives=st.none() | st.integers(0, 30))
    def start(self, machine: str, lives: int | None) -> None:
        if any(it and it[0] == machine for it in [*self.zombies, self.at_work]):
            return  # its folder is locked: there, the flock tells
        self.objects.left = lives
        try:
            run, journal = self._open(machine)
        except (Killed, RunFailed) as error:
            if isinstance(error, RunFailed):
                assert error.code == "storage.changed"
                shutil.rmtree(self.root / machine)  # the mend
            if self.at_work and not self._holds(self.at_work[1]):
                self.zombies.append(self.at_work)
                self.at_work = None
            return
        finally:
            self.objects.left = None
        found = [record["id"] for record in journal.records]
        assert found[: len(self.counted)] == self.counted
        assert found == sorted(set(found))
        assert {*found[len(self.counted) :]} <= self.unsure
        self.counted = found
        if self.at_work:
            self.zombies.append(self.at_work)
        self.at_work = machine, run, journal

    @precondition(lambda self: self.at_work)
    @rule(size=st.integers(1, 3), lives=st.none() | st.integers(0, 8))
    def append(self, size: int, lives: int | None) -> None:
        assert self.at_work
        _, run, journal = self.at_work
        batch = [*range(self.next, self.next + size)]
        self.next += size
        self.objects.left = lives
        try:
            journal.extend([{"id": each} for each in batch])
        except Killed:
            self.unsure.update(batch)
            self._end(run)
            self.at_work = None
        else:
            self.counted += batch
        finally:
            self.objects.left = None

    @precondition(lambda self: self.at_work)
    @rule()
    def kill(self) -> None:
        assert self.at_work
        self._end(self.at_work[1])
        self.at_work = None

    @precondition(lambda self: self.zombies and self.at_work)
    @rule(late=st.booleans())
    def haunt(self, late: bool) -> None:
        """Who was taken over writes once more: it is told, and what comes late does not count."""
        _, run, journal = self.zombies.pop()
        record, self.next = {"id": self.next}, self.next + 1
        if late:
            hold = run._hold
            assert hold
            data = b'{"id": %d}\n' % record["id"]
            number = hold._numbers.get("units", 0)
            found = Segment("units", hold._lease.term, number, len(data), segments.digest(data))
            self.objects.held[hold._at(found.path)] = data
        else:
            with pytest.raises(RunFailed, match="taken over"):
                journal.append(record)
            self.unsure.add(record["id"])  # on its disk, it counts where it goes on from there
        self._end(run)

    @precondition(lambda self: self.at_work)
    @rule(lives=st.none() | st.integers(0, 40))
    def finish(self, lives: int | None) -> None:
        assert self.at_work
        _, run, _ = self.at_work
        self.objects.left = lives
        try:
            run.write_json(RESULTS, {"run": {"units": len(self.counted)}})
            self.locks.remove(run._lock)
            run.__exit__()
            self.over = True
        except Killed:
            self._end(run)
            self.over = f"exp/{run.id}/{RESULTS}" in self.objects.held
        finally:
            self.objects.left = None
        self.at_work = None
        if self.over:
            self._everybody_has(run.id)

    def _everybody_has(self, name: str) -> None:
        """A new machine has the whole run, journal and all; its next one is another."""
        for _, zombie, _ in self.zombies:
            self._end(zombie)
        self.storage.bring(self.root / "new" / "exp", [name[-10:]])
        file = self.root / "new" / "exp" / name / "journal" / "units.jsonl"
        lines = file.read_bytes() if file.exists() else b""
        assert lines == b"".join(b'{"id": %d}\n' % each for each in self.counted)
        held = Lease.of(self.objects.held[f"exp/{name}/{lease.PATH}"])
        pieces = held.history(self.objects.files(f"exp/{name}"))
        assert all(len(it) == 1 for it in pieces.values())  # merged
        run, _ = self._open("new")
        assert run.id != name
        self._end(run)
        self.objects.held.clear()
        for machine in (*MACHINES, "new"):
            shutil.rmtree(self.root / machine, ignore_errors=True)
        self.begin_anew()

    def _holds(self, run: Run) -> bool:
        """Tell whether the lease is a process's own."""
        assert run._hold
        text = self.objects.held[f"exp/{run.id}/{lease.PATH}"]
        return Lease.of(text).term == run._hold._lease.term

    def _end(self, run: Run) -> None:
        """End a process without a word."""
        assert run._hold
        run._hold._over.set()
        if run._lock in self.locks:
            self.locks.remove(run._lock)
            os.close(run._lock)


TestHistories = Histories.TestCase
TestHistories.settings = examples(25, stateful_step_count=25)
