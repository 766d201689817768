"""Run folders: what was finished is on disk before it counts, and is found again.

A run's name ends in the fingerprint of its configuration: the same command finds the unfinished run
of the same configuration and goes on from its journal. A run is finished when its results.json is
there, which is written last. A finished one is opened again only to conclude something else from
what its journal holds; one that is to go further leaves a copy of its journals to a new one. A lock
that dies with its process tells a run that is under way from one that was killed. Where there is a
storage, a record counts only when it is there as well, and a run that is there and not here is
fetched.
"""

import fcntl
import json
import math
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from raybench.errors import Problem, RunFailed
from raybench.pipeline import whole
from raybench.pipeline.journal import Journal, Keep, whole_record
from raybench.pipeline.run_identity import fingerprints, marked, settings
from raybench.reading import from_json

if TYPE_CHECKING:  # what only reads runs has no use for pyarrow, which takes a while to import
    from raybench.pipeline.storage import Hold, Storage

CONFIG, RESULTS, REPORT = "config.yaml", "results.json", "report.html"
HEADLINE = "headline.jsonl"
"""The headline of all models, with the covariance of their errors."""
INPUTS = "inputs.json"
"""The digests by which a run that goes on knows again what it read."""
GRADING = ".grading"
"""What follows a benchmark's name where inputs hold the version of its grading."""
JOURNAL_FOLDER = "journal"
"""Where a run's journals lie, in its folder."""
_ASIDE = ".journal.tmp"
_LOOKED_AT_S = 0.25
"""Who only looks whether a run is deserted holds its lock for less: it is waited for."""


class Run:
    """One run's folder, locked for as long as this process works on it."""

    def __init__(
        self,
        folder: Path,
        lock: int,
        *,
        resumed: bool,
        finished: bool = False,
        passed: Sequence[str] = (),
        hold: "Hold | None" = None,
    ) -> None:
        self.folder = folder
        self.resumed = resumed
        self.finished = finished
        """It has results, and something else is to be concluded from its journal."""
        self.passed = passed
        """What is to be said of unfinished runs that could not be gone on with."""
        self._lock = lock
        self._hold = hold

    @property
    def id(self) -> str:
        """The run's name: when it began and the fingerprint of its configuration."""
        return self.folder.name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._hold:
                self._hold.close()
        finally:
            os.close(self._lock)

    def journal(self, name: str, keep: Keep = whole_record) -> Journal:
        """Open one of the run's journals."""
        stored = partial(self._hold.extend, name) if self._hold else None
        return Journal(self.folder / JOURNAL_FOLDER / f"{name}.jsonl", keep, stored)

    def store_files(self) -> None:
        """Have in the storage, too, what others have written into the folder."""
        if self._hold:
            self._hold.put_files()

    def store_journals(self) -> None:
        """Have in the storage, too, the journals that a new run begins with."""
        if self._hold:
            self._hold.agree({})

    def write(self, name: str, text: str) -> Path:
        """Write a file whole or not at all."""
        return self.write_parts(name, [text])

    def write_parts(self, name: str, parts: Iterable[str]) -> Path:
        """Write a file, whose parts need not be in memory together, whole or not at all."""
        path = self.folder / name
        if name == RESULTS and self._hold:
            # There first: where only this machine knew that it is over, another would go on.
            parts = ["".join(parts)]
            self._hold.finish(name, parts[0])
        try:
            whole.write(path, parts)
        except OSError as error:
            raise RunFailed(
                Problem(
                    "file.unwritable",
                    f"{path} cannot be written: {error}",
                    given=str(path),
                    fix="Make room, then run again",
                )
            ) from error
        if name != RESULTS and self._hold:
            self._hold.put(name)
        return path

    def write_json(self, name: str, value: Any) -> Path:
        """Write a JSON file whole or not at all."""
        return self.write(name, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))

    def write_lines(self, name: str, rows: Iterable[Any]) -> Path:
        """Write a file of JSON lines whole or not at all."""
        lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
        return self.write(name, "".join(lines))


def open_run(
    runs_dir: Path,
    experiment: str,
    config: Mapping[str, Any],
    *,
    inputs: Mapping[str, str] = MappingProxyType({}),
    conclusions: Sequence[str] = (),
    limits: Sequence[str] = (),
    aside: Sequence[str] = (),
    resume: bool = True,
    storage: "Storage | None" = None,
) -> Run:
    """Return the unfinished run of this configuration, or a new one.

    `inputs` are the digests of what the run reads: one that read something else is not gone on
    with. `conclusions` are the settings ('index.partial') that change only what is made of a
    journal: where the last run differs in nothing else, it is opened again although it is finished.
    `limits` are those that say only how far it goes, as numbers or null for no end: an unfinished
    run goes on to others; where those of the last one, which is finished, are raised, a new run
    begins with a copy of its journals. `aside` change how it is done, and not what. What `storage`
    has of the configuration is fetched first, and the run is lent by it.
    """
    parent = runs_dir / experiment
    marks = fingerprints(config, without=(*conclusions, *limits, *aside))
    passed = []
    try:
        parent.mkdir(parents=True, exist_ok=True)
        known, brought = storage.bring(parent, marks) if storage and resume else (set(), set())
        there = begun(
            runs_dir, experiment, config, conclusions=conclusions, limits=limits, aside=aside
        )
        if storage:  # what a kill left here before anything was in it is behind what others did
            there.sort(key=lambda it: it.name not in known and not (it / JOURNAL_FOLDER).exists())
        until = time.monotonic() + _LOOKED_AT_S  # for all: whoever looks, looks at each in turn
        for folder in there if resume else []:
            finished = (folder / RESULTS).exists()
            if finished and not _differs(folder, config, conclusions):
                continue  # since the look
            if changed := _changed(folder, inputs):
                if not finished:
                    passed.append(
                        f"{folder} is unfinished, but {', '.join(changed)} changed since it "
                        "began: this is a run of its own"
                    )
            elif (lock := _lock(folder, until)) is None:
                passed.append(f"Another process is at work on {folder}: this is a run of its own")
            elif (folder / RESULTS).exists() != finished:
                os.close(lock)  # it was finished between the look and the lock
            elif storage and (hold := _held(storage, folder, lock)) is None:
                if folder.name in brought:
                    shutil.rmtree(folder)  # it would look like a run that was killed here
                os.close(lock)
                passed.append(
                    f"Another machine is at work on {experiment}/{folder.name}: this is a run of "
                    "its own"
                )
            else:
                run = Run(
                    folder,
                    lock,
                    resumed=True,
                    finished=finished,
                    passed=passed,
                    hold=hold if storage else None,
                )
                break
        else:
            run = _new_run(parent, marks[0], passed, storage)
        if (
            resume and not (run.folder / JOURNAL_FOLDER).exists()
        ):  # also where a kill cut the copy off
            last = next((it for it in marked(parent, marks) if (it / RESULTS).exists()), None)
            if last and _raised(last, config, limits) and not _changed(last, inputs):
                _copy(last, run.folder)
                run.store_journals()
                passed.append(f"{last} is finished: this run goes on from a copy of its journal")
        if inputs and not (run.folder / INPUTS).exists():
            run.write_json(INPUTS, dict(inputs))
        return run
    except OSError as error:
        raise RunFailed(
            Problem(
                "file.unwritable",
                f"the run folder cannot be written: {error}",
                setting="runs_dir",
                fix="Choose another with runs_dir=…",
            )
        ) from error


def begun(
    runs_dir: Path,
    experiment: str,
    config: Mapping[str, Any],
    *,
    conclusions: Sequence[str] = (),
    limits: Sequence[str] = (),
    aside: Sequence[str] = (),
) -> list[Path]:
    """Return the runs that the same command may go on with, the newest first.

    Those are unfinished ones, and the last one where it is to be concluded otherwise.
    """
    marks = fingerprints(config, without=(*conclusions, *limits, *aside))
    runs = marked(runs_dir / experiment, marks)
    return [
        folder
        for folder in runs
        if not (folder / RESULTS).exists()
        or (
            folder == runs[0]
            and _differs(folder, config, conclusions)
            and _told(folder).get("limits", {}) == settings(config, limits)
        )
    ]


def _copy(last: Path, folder: Path) -> None:
    """Copy a run's journals, all or none of them."""
    shutil.rmtree(folder / _ASIDE, ignore_errors=True)
    shutil.copytree(last / JOURNAL_FOLDER, folder / _ASIDE)
    (folder / _ASIDE).rename(folder / JOURNAL_FOLDER)


def inputs_of(folder: Path) -> dict[str, str]:
    """Return the digests of what a run read when it began.

    There are none where it was killed before it wrote them: nothing was asked yet.
    """
    try:
        return dict(from_json((folder / INPUTS).read_bytes()))
    except (FileNotFoundError, ValueError, TypeError):
        return {}


def _differs(folder: Path, config: Mapping[str, Any], conclusions: Sequence[str]) -> bool:
    """Tell whether a finished run was concluded by other settings than these."""
    concluded = _told(folder).get("concluded_with")
    return concluded is not None and bool(concluded != settings(config, conclusions))


def _raised(folder: Path, config: Mapping[str, Any], limits: Sequence[str]) -> bool:
    """Tell whether a finished run had lower limits than these; one that failed is no beginning."""
    if not (folder / JOURNAL_FOLDER).is_dir():
        return False
    told, wanted = _told(folder), settings(config, limits)
    had = told.get("limits", {})
    if "failed" in told or had == wanted or {*had} != {*wanted}:
        return False
    ends = {name: math.inf if it is None else it for name, it in wanted.items()}
    return all(ends[name] >= (math.inf if it is None else it) for name, it in had.items())


def _told(folder: Path) -> dict[str, Any]:
    """Return what the results say of a run.

    Nothing where it is unfinished, or they were changed from outside.
    """
    try:
        return dict(from_json((folder / RESULTS).read_bytes())["run"])
    except (OSError, ValueError, LookupError, TypeError):
        return {}


def _changed(folder: Path, inputs: Mapping[str, str]) -> list[str]:
    """Return which inputs are not those that a run began with."""
    if not (began := inputs_of(folder)):
        return []
    return sorted(name for name in {*began, *inputs} if began.get(name) != inputs.get(name))


def _held(storage: "Storage", folder: Path, lock: int) -> "Hold | None":
    """Take a run in the storage; what goes wrong lets go of the folder."""
    try:
        return storage.hold(folder)
    except BaseException:
        os.close(lock)
        raise


def _new_run(parent: Path, mark: str, passed: Sequence[str], storage: "Storage | None") -> Run:
    stamp = _now()
    while True:
        # Microseconds keep runs that begin together (a sweep's) apart and in order.
        folder = parent / f"{stamp:%Y%m%d-%H%M%S-%f}-{mark}"
        folder.mkdir(exist_ok=True)
        if (lock := _lock(folder, time.monotonic() + _LOOKED_AT_S)) is not None:
            hold = _held(storage, folder, lock) if storage else None
            if hold or not storage:
                return Run(folder, lock, resumed=False, passed=passed, hold=hold)
            os.close(lock)
        stamp = _now()


def _now() -> datetime:
    return datetime.fromtimestamp(time.time(), UTC)  # by the clock that tests can set


@contextmanager
def deserted(folder: Path) -> Iterator[bool]:
    """Tell whether no process works on a run; none begins to while this one looks."""
    lock = _lock(folder)
    try:
        yield lock is not None
    finally:
        if lock is not None:
            os.close(lock)


def _lock(folder: Path, until: float = 0.0) -> int | None:
    """Take the run's lock; None where another process holds it, at that time still."""
    handle = os.open(folder / ".lock", os.O_CREAT | os.O_RDWR, 0o644)
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() < until:
                time.sleep(_LOOKED_AT_S / 10)
                continue
            os.close(handle)
            return None
        return handle
