"""Runs that were killed: they could not tell MLflow so, others do when they come by."""

from contextlib import suppress
from pathlib import Path

from raybench.pipeline.store import JOURNAL_FOLDER, deserted
from raybench.tracking.mlflow import spool
from raybench.tracking.mlflow.spool import PARENT, Spool

_REASON = "killed: no process works on it any more, and it had not said how it ended"


def was(folder: Path) -> bool:
    """Tell whether a run never told how it ended, and nobody works on it any more."""
    if spool.ended(folder):  # also of one with results: it may have been concluded anew since
        return False
    with suppress(OSError), deserted(folder) as alone:
        return alone
    return False  # of a folder that is not ours to write to nobody knows


def tell(folder: Path) -> None:
    """Say of such a run that it was KILLED; it may be gone on with all the same.

    Who goes on with it waits for its lock a moment only: all is read before that is taken.
    """
    state = spool.state(folder)
    if not was(folder):
        return
    began, known_to = spool.opened(folder), spool.whole_to(folder)
    models = [] if began is None else [run for run in began["params"] if run != PARENT]
    tags = {run: {"reason": _REASON} for run in (*models, PARENT)}
    end = {"status": "KILLED", "ended_ms": _last_seen_ms(folder), "failed": {}}
    with deserted(folder) as alone:
        if not alone or spool.state(folder) != state:
            return  # it is gone on with since the look
        entries = Spool(folder, known_to=known_to)
        entries.append({"kind": "tags", "tags": tags}, durable=False)
        entries.append({"kind": "end", **end}, durable=False)
    entries.keep()  # without the lock: a disk may take long
    entries.close()


def _last_seen_ms(folder: Path) -> int:
    """Return when a run last wrote down something."""
    files = [folder / spool.SPOOL, *(folder / JOURNAL_FOLDER).glob("*")]
    return max(path.stat().st_mtime_ns for path in files) // 1_000_000
