"""What to fetch of a run that is in the store. Pure: nothing here knows a store."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from raybench.pipeline.storage import lease, segments

RESULTS = "results.json"


def files(paths: Iterable[str]) -> list[str]:
    """Return the objects that are fetched as they are, in order: results, which end a run, last.

    Journals are none of them: what counts of them the run's lease says.
    """
    found = [path for path in paths if _is_file(PurePosixPath(path))]
    return sorted(found, key=lambda path: (_ends(path), -path.count("/") if _ends(path) else 0))


def finished(paths: Iterable[str]) -> list[str]:
    """Return the folders of the runs among a run and its parts that are finished; '' is itself."""
    return sorted(path.removesuffix(RESULTS).rstrip("/") for path in paths if _ends(path))


def wanted(stored: Mapping[str, bool], here: Mapping[str, bool]) -> Sequence[str]:
    """Return which runs of a configuration are to be fetched before one is chosen to go on with.

    Both tell of each run, by its name, whether it is finished; names are in the order of time. It
    takes the unfinished ones that are not here, and the last finished one, which may be concluded
    anew or extended.
    """
    found = [name for name, over in stored.items() if not over and name not in here]
    ends = [name for name, over in stored.items() if over]
    last = max(ends, default="")
    if last and not here.get(last) and not any(over and name > last for name, over in here.items()):
        found.append(last)
    return sorted(found)


def _ends(path: str) -> bool:
    return PurePosixPath(path).name == RESULTS and not _is_hidden(PurePosixPath(path))


def _is_hidden(path: PurePosixPath) -> bool:
    """Tell whether it is not for us, or leads out of the run's folder: stores are others'."""
    return path.is_absolute() or any(part.startswith(".") for part in path.parts)


def _is_file(path: PurePosixPath) -> bool:
    hidden = _is_hidden(path)
    journal = "journal" in path.parts and path.suffix == ".jsonl"
    return not (hidden or journal or path.name == lease.PATH or segments.read([str(path)]))
