"""What a run need not ask: what it was replied before it was killed, or a run that it extends."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from raybench.arena import known
from raybench.autobench.steps import Reply
from raybench.config import Config
from raybench.errors import ConfigurationError
from raybench.pipeline.store import RESULTS

JOURNAL = "replies"
_LAST = "last"


class Kept:
    """What the journal of replies holds: those to iterations under way, and what all took."""

    def __init__(self, done: int) -> None:
        """Replies to iterations that are done are of no use any more."""
        self.replies: dict[str, Reply] = {}
        self.spent: dict[int, Mapping[str, int]] = {}
        """By iteration: `calls`, `discarded`, `reused` and, where there are any, `shared`."""
        self.collects = True
        """Whether replies are taken: those that come later are of use only if asked for again."""
        self._done = done

    def enter(self, record: Mapping[str, Any]) -> None:
        """Take a line of the journal."""
        if "calls" in record:
            self.spent[record["iteration"]] = record["calls"]
        elif self.collects and record["iteration"] > self._done:
            self.replies |= known.read(record)

    def total(self, name: str) -> int:
        """Return what all iterations took."""
        return sum(spent.get(name, 0) for spent in self.spent.values())


class Lines(Protocol):
    """What takes the lines of a journal of replies."""

    def extend(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Keep these lines."""
        ...


def spent(
    iteration: int, calls: int, discarded: int, reused: int, shared: int = 0
) -> dict[str, Any]:
    """Return what the journal keeps of what an iteration took."""
    took = {"calls": calls, "discarded": discarded, "reused": reused}
    return {"iteration": iteration, "calls": took | ({"shared": shared} if shared else {})}


def extended(config: Config, mark: str = "") -> Path | None:
    """Return the folder of the run that is extended.

    The last one is none of those that bear this mark: they are this very command's.
    """
    name = config.autobench.extends
    if name is None:
        return None
    runs = Path(config.runs_dir) / "autobench"
    if name == _LAST:
        finished = sorted(
            path.parent
            for path in runs.glob(f"*/{RESULTS}")
            if _file(path.parent).is_file() and not (mark and path.parent.name.endswith(mark))
        )
        if not finished:
            raise ConfigurationError(
                f"autobench.extends=last: {runs} holds no finished run; name the folder of one, or "
                "leave it out"
            )
        return finished[-1]
    for folder in (Path(name).expanduser(), runs / name):
        if _file(folder).is_file():
            return folder
    raise ConfigurationError(
        f"autobench.extends: {name} is not the folder of a peer assessment: there is no "
        f"{_file(Path(name))}. Name one like {runs}/RUN, or last"
    )


def earlier(folder: Path) -> dict[str, Reply]:
    """Return the replies of another run, by their addresses."""
    found: dict[str, Reply] = {}
    for record in _records(_file(folder)):
        found |= known.read(record)
    return found


def inputs(config: Config, mark: str = "") -> dict[str, str]:
    """Return the digests of what a run reads beside its configuration."""
    found = {}
    if (tasks := config.autobench.tasks) is not None:
        found["autobench.tasks"] = hashlib.sha256(Path(tasks).expanduser().read_bytes()).hexdigest()
    if (folder := extended(config, mark)) is not None:
        found["autobench.extends"] = folder.name
    return found


def _file(folder: Path) -> Path:
    return folder / "journal" / f"{JOURNAL}.jsonl"


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                return  # it was killed in the middle of a line
            try:
                record = json.loads(line)
                known.read(record)
                yield record
            except (ValueError, TypeError, AttributeError) as error:
                raise ConfigurationError(
                    f"autobench.extends: {path}, line {number}, is not what a run leaves "
                    f"({error}): mend or delete the line"
                ) from error
