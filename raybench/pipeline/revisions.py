"""Revisions of a dataset that grows: each is written once, whole or not at all, and stays.

    FOLDER/revisions/0001/hle.jsonl, revision.json    what is published: data.dir takes this folder
    FOLDER/private/0001/hle.jsonl, revision.json      what is held out: nothing of it is above
    FOLDER/states.jsonl                               the state of every question, without its text

A revision is there when its public folder is, which takes its name last. A process that is killed
before leaves at most a private folder, whose number is not used again.

A revision says whether every question in it was approved by reviewers. Those that older versions
published do not say so, because nothing had to be approved then: their questions are unreviewed.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, Timeout

from raybench.errors import ConfigurationError, Problem, RunFailed
from raybench.pipeline import written_once
from raybench.pipeline.digests import digest
from raybench.pipeline.written_once import Row, Rows
from raybench.reading import from_json
from raybench.types import ReviewRule

QUESTIONS, STATES = "hle.jsonl", "states.jsonl"
VERSION = 2
"""Of revision.json; the first had no `version`, `review` and `unreviewed`."""
Part = Literal["public", "private"]
"""Of a dataset: published, or held out."""
_PUBLIC, PRIVATE = "revisions", "private"
PATIENCE = 60.0
"""Seconds to wait for another process that publishes."""


@dataclass(frozen=True, slots=True)
class Revision:
    """What a revision holds: its parent's rows, with some added and some removed."""

    number: int
    folder: Path
    """Of what is published: what data.dir takes."""
    public: Rows
    private: Rows
    about: Mapping[str, Any]
    """What the revision.json of what is published says: of what is held out, the number only."""
    unreviewed: frozenset[str] = frozenset()
    """The ids of all questions that were published or held out without an approval."""

    @property
    def rows(self) -> Rows:
        """Return all rows, as new ones are compared with them."""
        return self.public + self.private

    def placed(self) -> Iterator[tuple[Part, Row]]:
        """Yield all rows, each with the part that it is in."""
        yield from (("public", row) for row in self.public)
        yield from (("private", row) for row in self.private)


def newest(folder: Path) -> int | None:
    """Return the number of the newest revision; None where there is none."""
    return max(written_once.numbers(folder / _PUBLIC), default=None)


def read(folder: Path, number: int | None = None) -> Revision | None:
    """Return a revision, the newest where no number is given; None where there is none at all.

    Raises ConfigurationError where it is not there, or not what was published.
    """
    if number is None and newest(folder) is None:
        return None
    number = _known(folder, number)
    here, held = (written_once.at(folder / half, number) for half in (_PUBLIC, PRIVATE))
    public, about = written_once.read(here, QUESTIONS)
    private, about_held = written_once.read(held, QUESTIONS)
    unreviewed = _unreviewed(public, about) | _unreviewed(private, about_held)
    return Revision(number, here, public, private, about, unreviewed)


def _unreviewed(rows: Rows, about: Mapping[str, Any]) -> frozenset[str]:
    every = (str(row["id"]) for row in rows)
    return frozenset(map(str, about["unreviewed"]) if "unreviewed" in about else every)


def published(folder: Path, number: int | None = None) -> Path:
    """Return the folder of what a revision publishes, which takes nothing of what is held out.

    Raises ConfigurationError where it is not there, or not what was published.
    """
    here = written_once.at(folder / _PUBLIC, _known(folder, number))
    written_once.read(here, QUESTIONS)
    return here


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a revision's folder says of how its questions came there."""

    review: ReviewRule
    """skip: some of them were not approved by reviewers."""
    unreviewed: int
    """Questions in this folder that were not approved."""
    older: bool
    """A version of raybench made it that published before any review."""
    simulated: bool
    """Simulated models had a say in it."""


def stamp(folder: Path) -> Stamp | None:
    """Return what the folder of a revision says of its questions; None where it is none."""
    if not written_once.is_one(folder):
        return None
    about = written_once.about(folder)
    older = "unreviewed" not in about
    half = "private" if folder.parent.name == PRIVATE else "public"
    count = int(about.get(half, 0)) if older else len(about["unreviewed"])
    return Stamp("skip" if count else "required", count, older, bool(about.get("simulated")))


def states(folder: Path) -> Counter[str]:
    """Return how many questions of a dataset are in each state; none where nothing is known."""
    try:
        lines = (folder / STATES).read_text(encoding="utf-8").splitlines()
        return Counter(str(from_json(line)["state"]) for line in lines)
    except (OSError, ValueError, LookupError, TypeError):
        return Counter()


def held_out(folder: Path, number: int) -> Path:
    """Return the folder of what a revision holds out."""
    return written_once.at(folder / PRIVATE, number)


@dataclass(frozen=True, slots=True)
class Gone:
    """A row that left the dataset."""

    row: Row
    number: int
    """Of the revision that lost it."""
    held_out: bool
    """It was never published."""


def taken_out(folder: Path) -> Iterator[Gone]:
    """Yield the rows that left the dataset, and those that others of their ids replaced."""
    for number in written_once.numbers(folder / _PUBLIC):
        for half in (_PUBLIC, PRIVATE):
            about = written_once.about(written_once.at(folder / half, number))
            gone = frozenset(about["removed"])
            if gone and about["parent"] is not None:
                before, _ = written_once.read(
                    written_once.at(folder / half, about["parent"]), QUESTIONS
                )
                held = half == PRIVATE
                yield from (Gone(row, number, held) for row in before if str(row["id"]) in gone)


def _known(folder: Path, number: int | None) -> int:
    there = written_once.numbers(folder / _PUBLIC)
    if (number is None and there) or number in there:
        return there[-1] if number is None else number
    known = ", ".join(map(str, there)) or "none"
    which = "revision" if number is None else f"revision {number}"
    raise ConfigurationError(
        Problem(
            "data.missing",
            f"{folder} has no {which}",
            setting="data.revision",
            fix=f"There is: {known}",
        )
    )


@dataclass(frozen=True, slots=True)
class Made:
    """How a revision is made."""

    run: str
    seed: int
    simulated: bool = False
    """Simulated models had a say, which the revisions that follow say, too."""
    approved: Collection[str] = ()
    """The ids of the questions that reviewers approved."""
    searched: Collection[str] = ()
    """The ids of the questions that a model with search tools was asked, and the same without."""


def publish(
    folder: Path,
    public: Iterable[Row] = (),
    private: Iterable[Row] = (),
    *,
    removed: Iterable[str] = (),
    made: Made,
    patience: float = PATIENCE,
) -> Revision | None:
    """Write the newest revision's rows, with some added and those of some ids removed, as the next.

    Where that changes nothing there is no new one, and the newest is returned (None where there is
    none): a run that goes on after it published does not do so twice. A row whose id is removed and
    added at once is replaced, and stays where it was: public is not made private, nor the reverse.
    Raises ConfigurationError where a row that is added says something else than the one of its id.
    """
    try:
        with alone(folder, patience):
            before = read(folder)
            old = (before.public, before.private) if before else ((), ())
            new = _next(old, (tuple(public), tuple(private)), frozenset(removed))
            unreviewed = [
                sorted({str(row["id"]) for row in rows}.difference(made.approved)) for rows in new
            ]
            same = list(map(written_once.digest_of, new)) == list(map(written_once.digest_of, old))
            lacking = frozenset(it for part in unreviewed for it in part)
            if same and lacking == (before.unreviewed if before else frozenset()):
                return before
            halves = [folder / half for half in (_PUBLIC, PRIVATE)]
            number = 1 + max(
                (it for half in halves for it in written_once.numbers(half)), default=0
            )
            about = {
                "version": VERSION,
                "number": number,
                "parent": before.number if before else None,
                "run": made.run,
                "seed": made.seed,
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                "public": len(new[0]),
                "private": len(new[1]),
                "simulated": made.simulated or bool(before and before.about.get("simulated")),
                "review": "skip" if any(unreviewed) else "required",
                "searched": sum(str(row["id"]) in made.searched for rows in new for row in rows),
            }
            # What is held out first: where what is published stands, the revision is whole.
            parts = list(zip(halves, new, old, unreviewed, strict=True))
            for half, rows, was, ids in reversed(parts):
                written_once.sweep(half)
                told = {**about, "unreviewed": ids, **_changes(was, rows)}
                written_once.write(half, number, QUESTIONS, rows, told)
            return read(folder, number)
    except OSError as error:
        raise unwritable(folder, error) from error


def unwritable(folder: Path, error: OSError) -> RunFailed:
    """Return the failure to write to a dataset's folder."""
    return RunFailed(
        Problem(
            "file.unwritable",
            f"the revision cannot be written to {folder}: {error}",
            setting="hle_screen.dataset",
            given=str(folder),
            fix="Mend that, then run again",
        )
    )


@contextmanager
def alone(folder: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Keep other processes from publishing to the folder; a lock ends with its process.

    Who holds it already may take it again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock", is_singleton=True)
    try:
        lock.acquire(timeout=patience)
    except Timeout as error:
        raise RunFailed(
            Problem(
                "run.taken",
                f"another process has been publishing to {folder} for {patience:g} s",
                setting="hle_screen.dataset",
                given=str(folder),
                fix="wait until it ends, then run again",
            )
        ) from error
    try:
        yield
    finally:
        lock.release()


def _next(old: tuple[Rows, Rows], added: tuple[Rows, Rows], removed: frozenset[str]) -> list[Rows]:
    """Return the public and the private rows of the next revision."""
    half_of = {str(row["id"]): half for half, rows in enumerate(old) for row in rows}
    halves: list[dict[str, Row]] = [
        {key: row for row in rows if (key := str(row["id"])) not in removed} for rows in old
    ]
    for half, rows in enumerate(added):
        for row in rows:
            key = str(row["id"])
            there = halves[0].get(key) or halves[1].get(key)
            if there is not None and digest(there) != digest(row):
                raise ConfigurationError(
                    Problem(
                        "data.invalid",
                        f"there is a question '{key}' already that says something else",
                        given=key,
                        fix="give the new one another id, or remove the old one with it",
                    )
                )
            if there is None:
                halves[half_of.get(key, half)][key] = row
    return [tuple(rows.values()) for rows in halves]


def _changes(was: Rows, rows: Rows) -> dict[str, list[str]]:
    """Return the ids of what came and of what went; what was replaced did both."""
    before, after = ({(str(row["id"]), digest(row)) for row in each} for each in (was, rows))
    return {
        "added": sorted(key for key, _ in after - before),
        "removed": sorted(key for key, _ in before - after),
    }
