"""Sends what earlier runs could not: `python -m raybench.tracking sync RUN`, or the next run."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from raybench.tracking.mlflow import killed, spool
from raybench.tracking.mlflow.writer import Writer
from raybench.tracking.uri import redacted

_DEEPEST = 2
"""Runs lie so far below the folder of all runs."""


class Done(NamedTuple):
    """What became of a run's spool."""

    did: str
    """'sent'; 'nothing' where all had been; 'busy' where somebody else sends it now."""
    run_id: str | None = None
    refused: Sequence[str] = ()
    """What MLflow will not take."""


def runs(folder: Path) -> list[Path]:
    """Return the folders of runs with something for MLflow: this one, or those below it.

    Before its parts comes the whole, below which they are to stand.
    """
    found = [folder] if (folder / spool.SPOOL).exists() else []
    for depth in range(1, _DEEPEST + 1) if not found else ():
        found += (path.parent for path in folder.glob("*/" * depth + spool.SPOOL))
    return [run for whole in sorted(found) for run in (whole, *spool.parts(whole))]


def waiting(runs_dir: Path, uri: str, *, but: Path) -> Iterator[Path]:
    """Yield the runs that were to be sent to this address and are not all there.

    Not this one, nor its parts: they may be under way, and send it themselves.
    """
    for folder in runs(runs_dir):
        if not folder.resolve().is_relative_to(but.resolve()) and _is_for(folder, uri):
            yield folder


def left(folder: Path, uri: str) -> Iterator[Path]:
    """Yield the parts of a run, all of them over, that are not all at this address."""
    return (part for part in spool.parts(folder) if _is_for(part, uri))


def _is_for(folder: Path, uri: str) -> bool:
    with suppress(OSError):  # what may not be read holds up no others
        if Writer(folder, uri).unsent or killed.was(folder):
            return spool.address(folder) == redacted(uri)
    return False


def send(folder: Path, uri: str, *, moved: Callable[[], None] = lambda: None) -> Done:
    """Send what a run has for this address, unless somebody else is at it. Raises what fails.

    Of one that was killed that is told, too.
    """
    with spool.alone(folder) as alone:
        if not alone:
            return Done("busy")
        killed.tell(folder)
        writer = Writer(folder, uri, moved=moved)
        if not writer.unsent:
            return Done("nothing", writer.run_id)
        writer.send()
        return Done("sent", writer.run_id, tuple(writer.refused))


def give_up(folder: Path, uri: str) -> None:
    """Note that all of a run is at this address, and nothing is to go to its own any more.

    What is not there yet (a run that goes on meanwhile) is sent there from now on.
    """
    with spool.alone(folder) as alone:
        own = spool.address(folder)
        if alone and own is not None:
            spool.give_up(folder, own, instead=redacted(uri))
