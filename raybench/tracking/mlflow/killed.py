"""Runs that were killed: they could not tell MLflow how they ended, others do when they come by."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from raybench.pipeline.store import JOURNAL_FOLDER, RESULTS, deserted
from raybench.reading import from_json
from raybench.tracking.leaderboard import BOARD
from raybench.tracking.mlflow import spool
from raybench.tracking.mlflow.spool import Entry, Spool
from raybench.tracking.mlflow.told import Told

_REASON = "killed: no process works on it any more, and it had not said how it ended"


def was(folder: Path) -> bool:
    """Tell whether a run never told how it ended, and nobody works on it any more."""
    if spool.ended(folder):  # also of one with results: it may have been concluded anew since
        return False
    with suppress(OSError), deserted(folder) as alone:
        return alone
    return False  # of a folder that is not ours to write to nobody knows


def tell(folder: Path) -> None:
    """Say how such a run ended: as its results say, or KILLED; it may be gone on with all the same.

    Who goes on with it waits for its lock a moment only: all is read before that is taken.
    """
    state = spool.state(folder)
    if not was(folder):
        return
    known_to, words = spool.whole_to(folder), last_words(folder)
    with deserted(folder) as alone:
        if not alone or spool.state(folder) != state:
            return  # it is gone on with since the look
        entries = Spool(folder, known_to=known_to)
        for entry in words:
            entries.append(entry, durable=False)
    entries.keep()  # without the lock: a disk may take long
    entries.close()


def last_words(folder: Path) -> Sequence[Entry]:
    """Return what a run would have told last: what its results say, where it has come to some."""
    every = [entry for entry, _ in spool.read(folder)]
    told = Told(every)
    with suppress(OSError, LookupError, TypeError, ValueError, AttributeError):  # what is no result
        results = from_json((folder / RESULTS).read_bytes())
        about: Mapping[str, Any] = results["run"]
        finished = datetime.fromisoformat(about["finished"]).timestamp()
        began = next(it for it in reversed(every) if it["kind"] in ("open", "again"))
        # Else they are older: it was to be concluded anew.
        if finished >= began.get("started_ms", 0) // 1000:
            return [
                *told.results(
                    results,
                    [*about.get("files", ()), RESULTS],
                    ended_ms=int(finished * 1000),
                    inputs=about.get("inputs", {}),
                    note=(folder / BOARD).read_text(encoding="utf-8"),
                )
            ]
    return [*told.end("KILLED", _last_seen_ms(folder), {"reason": _REASON})]


def _last_seen_ms(folder: Path) -> int:
    """Return when a run last wrote down something."""
    files = [folder / spool.SPOOL, *(folder / JOURNAL_FOLDER).glob("*")]
    return max(path.stat().st_mtime_ns for path in files) // 1_000_000
