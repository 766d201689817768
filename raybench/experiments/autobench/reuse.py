"""What a run need not ask: what it was replied before it was killed, or a run that it extends."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from raybench.arena import known
from raybench.autobench.steps import Reply
from raybench.config import Config
from raybench.errors import ConfigurationError, Problem
from raybench.paths import expanded
from raybench.pipeline import named
from raybench.pipeline.store import RESULTS

JOURNAL = "replies"
_LAST = "last"


class Kept:
    """What the journal of replies holds: those to iterations under way, and what all took."""

    def __init__(self, done: int, extended: "Extended | None" = None) -> None:
        """Replies to iterations that are done are of no use any more."""
        self.extended = extended
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

    @property
    def took(self) -> dict[str, int]:
        """All calls; those of them in vain; those whose replies another run had."""
        return {name: self.total(name) for name in ("calls", "discarded", "reused")}

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


class Extended(NamedTuple):
    """A run that is extended."""

    folder: Path
    replies: dict[str, Reply]
    """By their addresses."""


def earlier(config: Config, mark: str = "") -> Extended | None:
    """Read the run that is extended; raise ConfigurationError where that cannot be done.

    The last one is none of those that bear this mark: they are this very command's.
    """
    if (name := config.autobench.extends) is None:
        return None
    folder = _folder(name, Path(config.runs_dir) / "autobench", mark)
    return Extended(folder, _replies(_file(folder)))


def inputs(config: Config, extended: Extended | None) -> dict[str, str]:
    """Return the digests of what a run reads beside its configuration."""
    found = {}
    if (tasks := config.autobench.tasks) is not None:
        found["autobench.tasks"] = hashlib.sha256(expanded(tasks).read_bytes()).hexdigest()
    if extended is not None:
        found["autobench.extends"] = extended.folder.name
    return found


def _folder(name: str, runs: Path, mark: str) -> Path:
    if name == _LAST:
        finished = sorted(
            path.parent
            for path in runs.glob(f"*/{RESULTS}")
            if _file(path.parent).is_file() and not (mark and path.parent.name.endswith(mark))
        )
        if not finished:
            raise ConfigurationError(
                Problem(
                    "run.missing",
                    f"autobench.extends=last: {runs} holds no finished run",
                    setting="autobench.extends",
                    given="last",
                    fix="name the folder of one, or leave it out",
                )
            )
        return finished[-1]
    for folder in (named.folder(name), runs / name):
        if _file(folder).is_file():
            return folder
    raise ConfigurationError(
        Problem(
            "run.missing",
            f"autobench.extends: {name} is not the folder of a peer assessment: there is no "
            f"{_file(Path(name.partition('?')[0]))}",
            setting="autobench.extends",
            given=name,
            fix=f"Name one like {runs}/RUN, or its address in a storage, or last",
        )
    )


def _file(folder: Path) -> Path:
    return folder / "journal" / f"{JOURNAL}.jsonl"


def _replies(path: Path) -> dict[str, Reply]:
    found: dict[str, Reply] = {}
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.endswith(b"\n"):  # else it was killed in the middle of a line
                    found |= _read(line, f"{path}, line {number}")
    except OSError as error:
        raise ConfigurationError(
            Problem(
                "file.unreadable",
                f"autobench.extends: {path} cannot be read ({error.strerror or error})",
                setting="autobench.extends",
                fix="make it readable, or name another run",
            )
        ) from error
    return found


def _read(line: bytes, where: str) -> dict[str, Reply]:
    try:
        return known.read(json.loads(line))
    except (ValueError, TypeError, AttributeError) as error:
        raise ConfigurationError(
            Problem(
                "journal.invalid",
                f"autobench.extends: {where}, is not what a run leaves ({error})",
                setting="autobench.extends",
                given=where,
                fix="mend or delete the line",
            )
        ) from error
