"""A store of runs: it finds those of a configuration, fetches them, and lends them to a process."""

import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import TypeVar

from raybench.pipeline import whole
from raybench.pipeline.run_identity import marked
from raybench.pipeline.storage import fetching, hold, lease
from raybench.pipeline.storage.hold import Hold, LeaseStore
from raybench.pipeline.storage.lease import TIMING, Timing
from raybench.pipeline.storage.objects import Objects
from raybench.pipeline.storage.patience import REAL, Clock, Patience, answer, reason
from raybench.pipeline.storage.segments import Piece

_T = TypeVar("_T")
_PROBE = ".raybench"
_PROBE_TEXT = b"raybench keeps runs here: EXPERIMENT/RUN\n"
_SLOW_S, _LEAST_S, _MOST_S = 3.0, 10.0, 60.0
"""At the start: when it is told that a store is waited for, and how long it has in any case, and at
most. One that is spelt wrong does not answer either, which nobody wants to learn in half an hour.
"""


class Storage:
    """All runs below a URI, at EXPERIMENT/RUN as they lie below `runs_dir`."""

    def __init__(
        self, objects: Objects, patience: Patience, timing: Timing = TIMING, clock: Clock = REAL
    ) -> None:
        self._objects = objects
        self._patience = patience
        self._lease_store = LeaseStore(objects, patience, timing, clock)

    @classmethod
    def at(
        cls,
        uri: str,
        patience_s: float,
        say: Callable[[str], None],
        timing: Timing = TIMING,
        clock: Clock = REAL,
    ) -> "Storage":
        """Return what is at a URI, which has proved right; `say` tells when it is waited for."""
        patience = Patience(uri.partition("?")[0], patience_s, say, clock)
        return cls(patience.call(lambda: Objects(uri)), patience, timing, clock)

    def bring(self, parent: Path, marks: Sequence[str]) -> tuple[set[str], set[str]]:
        """Fetch those runs of a configuration that the same command may go on with.

        `parent` is the experiment's folder; the runs' names end in one of the marks. Returned are
        the names of all that the store has, and of unfinished ones that were not here: who cannot
        go on with these has no use for them.
        """
        experiment = parent.name
        names = self._call(lambda: self._objects.folders(experiment))
        ends = tuple(f"-{mark}" for mark in marks)
        named = sorted(name for name in names if name.endswith(ends))
        stored = {name: self._finished(f"{experiment}/{name}") for name in named}
        here = {it.name: (it / fetching.RESULTS).exists() for it in marked(parent, marks)}
        wanted = fetching.wanted(stored, here)
        for name in wanted:
            if name in here:
                self.fetch(f"{experiment}/{name}", parent / name)
            else:
                self._fetch_anew(f"{experiment}/{name}", parent / name)
        return {*stored}, {name for name in wanted if name not in here and not stored[name]}

    def hold(self, folder: Path) -> Hold | None:
        """Take a run of ours, which may be a new one; None where another process is at work on it.

        What the store has of it is here then, and what is here is in the store. Raises RunFailed.
        """
        path = f"{folder.parent.name}/{folder.name}"
        found = hold.claim(self._lease_store, path, folder)
        if found is None:
            return None
        held, journals, elsewhere = found
        try:
            if elsewhere:
                self._fetch_files(path, folder)
            held.agree(journals)
            held.put_files()
        except BaseException:
            held.close()
            raise
        return held

    def has(self, path: str) -> bool:
        """Tell whether a run has been begun there."""
        return self._call(lambda: self._objects.there(f"{path}/{lease.PATH}"))

    def fetch(self, path: str, folder: Path, *, unfinished: bool = False) -> None:
        """Fetch a run, and its parts, into a folder; journals of those that are finished.

        Its own where it is `unfinished` as well.
        """
        names = self._call(lambda: self._objects.files(path))
        for run in sorted({*fetching.finished(names), *([""] if unfinished else [])}):
            at = f"{path}/{run}".rstrip("/")
            pieces = hold.stored(self._objects, at, self._patience)
            for journal, stored in pieces.items():
                file = folder / run / hold.JOURNALS / f"{journal}.jsonl"
                hold.agree(file, stored, partial(self._piece, at))
        self._fetch_files(path, folder, names)

    def _fetch_files(self, path: str, folder: Path, names: list[str] | None = None) -> None:
        if names is None:
            names = self._call(lambda: self._objects.files(path))
        for name in fetching.files(names):
            with suppress(FileNotFoundError):  # since it was listed
                self._call(partial(self._fetch_file, f"{path}/{name}", folder / name))

    def _fetch_file(self, path: str, file: Path) -> None:
        whole.write(file, self._objects.get_parts(path))

    def _fetch_anew(self, path: str, folder: Path) -> None:
        """Fetch a run that is not here, all or nothing: half of one would look like a run."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(mkdtemp(prefix=".fetched-", dir=folder.parent))
        try:
            self.fetch(path, aside / folder.name)
            (aside / folder.name).mkdir(exist_ok=True)
            with suppress(FileExistsError):  # another process has fetched it meanwhile
                (aside / folder.name).rename(folder)
        finally:
            shutil.rmtree(aside, ignore_errors=True)

    def _piece(self, path: str, piece: Piece) -> bytes:
        return hold.fetched(self._objects, path, piece, self._patience.call)

    def _finished(self, path: str) -> bool:
        return self._call(lambda: self._objects.there(f"{path}/{fetching.RESULTS}"))

    def _call(self, do: Callable[[], _T]) -> _T:
        return self._patience.call(do)


def trouble(
    uri: str, patience_s: float = _MOST_S, say: Callable[[str], None] = lambda _: None
) -> str | None:
    """Return why a store cannot be written to and read from; None where it can.

    It is tried once. `say` tells when that takes its time; Ctrl-C ends it.
    """
    where = uri.partition("?")[0]
    seconds = min(max(patience_s, _LEAST_S), _MOST_S)

    def slow() -> None:
        say(
            f"storage {where} has not answered for {_SLOW_S:g} s: it is waited for, for up to "
            f"{seconds:g} s, before anything starts"
        )

    try:
        kept = answer(partial(_probed, uri), seconds, slow=slow, slow_s=_SLOW_S)
    except (OSError, ValueError) as error:
        return reason(error)
    return None if kept else "what was written to it did not come back"


def _probed(uri: str) -> bool:
    """Tell whether a store gives back what is written to it."""
    objects = Objects(uri)
    objects.put(_PROBE, _PROBE_TEXT)
    return objects.get(_PROBE) == _PROBE_TEXT
