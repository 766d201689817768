"""Revisions of a dataset that grows: each is written once, whole or not at all, and stays.

    FOLDER/revisions/0001/hle.jsonl, revision.json    what is published: data.dir takes this folder
    FOLDER/private/0001/hle.jsonl, revision.json      what is held out: nothing of it is above
    FOLDER/late/0001/hle.jsonl, revision.json         late contributions: a second held-out set
    FOLDER/states.jsonl                               the state of every question, without its text

A revision is there when its public folder is, which takes its name last. A process that is killed
before leaves at most folders of what is held out, whose number is not used again.

A revision says whether every question in it was approved by reviewers. Those that older versions
published do not say so, because nothing had to be approved then: their questions are unreviewed.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
Part = Literal["public", "private", "late"]
"""Of a dataset: published, held out, or held out as a late contribution."""
FOLDERS: Mapping[Part, str] = {"public": "revisions", "private": "private", "late": "late"}
"""Of parts. Revisions of the first version have no late one."""
_TITLES: Mapping[Part, str] = {
    "public": "published questions",
    "private": "held-out questions",
    "late": "late contributions",
}
_PUBLIC, PRIVATE = FOLDERS["public"], FOLDERS["private"]
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
    late: Rows = ()
    """Late contributions, which are held out as a second set."""

    @property
    def parts(self) -> Mapping[Part, Rows]:
        """Return the rows by part."""
        return {"public": self.public, "private": self.private, "late": self.late}

    @property
    def rows(self) -> Rows:
        """Return all rows, as new ones are compared with them."""
        return self.public + self.private + self.late

    def placed(self) -> Iterator[tuple[Part, Row]]:
        """Yield all rows, each with the part that it is in."""
        for part, rows in self.parts.items():
            yield from ((part, row) for row in rows)


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
    here = written_once.at(folder / _PUBLIC, number)
    public, about = written_once.read(here, QUESTIONS)
    there = {"public": (public, about)} | {
        part: written_once.read(written_once.at(folder / FOLDERS[part], number), QUESTIONS)
        for part in _parts(about)[1:]
    }
    unreviewed = frozenset[str]().union(*(_unreviewed(*it) for it in there.values()))
    private, late = (there.get(part, ((), {}))[0] for part in ("private", "late"))
    return Revision(number, here, public, private, about, unreviewed, late)


def _parts(about: Mapping[str, Any]) -> list[Part]:
    """Return the parts that a revision has: those of the first version have no late one."""
    return [part for part in FOLDERS if part in about]


def _unreviewed(rows: Rows, about: Mapping[str, Any]) -> frozenset[str]:
    every = (str(row["id"]) for row in rows)
    return frozenset(map(str, about["unreviewed"]) if "unreviewed" in about else every)


def published(folder: Path, number: int | None = None) -> Path:
    """Return the folder of what a revision publishes, which takes nothing of what is held out.

    Raises ConfigurationError where it is not there, not what was published, or publishes nothing.
    """
    number = _known(folder, number)
    here = written_once.at(folder / _PUBLIC, number)
    rows, about = written_once.read(here, QUESTIONS)
    if not rows:
        raise ConfigurationError(_empty(here, about, "data.revision", number))
    return here


def require_questions(folder: Path) -> None:
    """Raise ConfigurationError where a folder is one of a revision, and holds no question."""
    if written_once.is_one(folder):
        about = written_once.about(folder)
        if about.get(_part_of(folder)) == 0:
            raise ConfigurationError(_empty(folder, about, "data.dir", str(folder)))


def _empty(folder: Path, about: Mapping[str, Any], setting: str, given: object) -> Problem:
    """Say that a part of a revision holds no question, and how to ask the parts that hold some."""
    dataset, part = folder.parent.parent, _part_of(folder)
    others = [
        f"{_TITLES[it]} ({about[it]:,}) with data.dir={dataset / FOLDERS[it] / folder.name}"
        for it in _parts(about)
        if about[it]
    ]
    return Problem(
        "data.missing",
        f"revision {about['number']} of '{dataset}' has no {_TITLES[part]}",
        setting=setting,
        given=given,
        fix=f"Ask its {', or its '.join(others)}"
        if others
        else "publish questions by a screening, or choose another revision",
    )


def _part_of(folder: Path) -> Part:
    return next((part for part, name in FOLDERS.items() if name == folder.parent.name), "public")


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
    count = int(about.get(_part_of(folder), 0)) if older else len(about["unreviewed"])
    return Stamp("skip" if count else "required", count, older, bool(about.get("simulated")))


def states(folder: Path) -> Counter[str]:
    """Return how many questions of a dataset are in each state; none where nothing is known."""
    try:
        lines = (folder / STATES).read_text(encoding="utf-8").splitlines()
        return Counter(str(from_json(line)["state"]) for line in lines)
    except (OSError, ValueError, LookupError, TypeError):
        return Counter()


@dataclass(frozen=True, slots=True)
class Gone:
    """A row that left the dataset."""

    row: Row
    number: int
    """Of the revision that lost it."""
    part: Part
    """Where it was."""


def taken_out(folder: Path) -> Iterator[Gone]:
    """Yield the rows that left the dataset, and those that others of their ids replaced."""
    for number in written_once.numbers(folder / _PUBLIC):
        for part in _parts(written_once.about(written_once.at(folder / _PUBLIC, number))):
            about = written_once.about(written_once.at(folder / FOLDERS[part], number))
            gone = frozenset(about["removed"])
            if gone and about["parent"] is not None:
                before, _ = written_once.read(
                    written_once.at(folder / FOLDERS[part], about["parent"]), QUESTIONS
                )
                yield from (Gone(row, number, part) for row in before if str(row["id"]) in gone)


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
    late: Iterable[Row] = (),
    *,
    removed: Iterable[str] = (),
    made: Made,
) -> Revision | None:
    """Write the newest revision's rows, with some added and those of some ids removed, as the next.

    Where that changes nothing there is no new one, and the newest is returned (None where there is
    none): a run that goes on after it published does not do so twice. A row whose id is removed and
    added at once is replaced, and stays where it was: public is not made private, nor the reverse.
    Raises ConfigurationError where a row that is added says something else than the one of its id.
    """
    try:
        with alone(folder):
            before = read(folder)
            old = list(before.parts.values()) if before else [() for _ in FOLDERS]
            new = _next(old, [tuple(rows) for rows in (public, private, late)], frozenset(removed))
            unreviewed = [
                sorted({str(row["id"]) for row in rows}.difference(made.approved)) for rows in new
            ]
            same = list(map(written_once.digest_of, new)) == list(map(written_once.digest_of, old))
            lacking = frozenset(it for part in unreviewed for it in part)
            if same and lacking == (before.unreviewed if before else frozenset()):
                return before
            folders = [folder / name for name in FOLDERS.values()]
            number = 1 + max(
                (it for each in folders for it in written_once.numbers(each)), default=0
            )
            about: dict[str, Any] = {
                "version": VERSION,
                "number": number,
                "parent": before.number if before else None,
                "run": made.run,
                "seed": made.seed,
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                **{part: len(rows) for part, rows in zip(FOLDERS, new, strict=True)},
                "simulated": made.simulated or bool(before and before.about.get("simulated")),
                "review": "skip" if any(unreviewed) else "required",
                "searched": sum(str(row["id"]) in made.searched for rows in new for row in rows),
            }
            # What is held out first: where what is published stands, the revision is whole.
            parts = list(zip(folders, new, old, unreviewed, strict=True))
            for each, rows, was, ids in reversed(parts):
                written_once.sweep(each)
                told = {**about, "unreviewed": ids, **_changes(was, rows)}
                written_once.write(each, number, QUESTIONS, rows, told)
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
def alone(folder: Path) -> Iterator[None]:
    """Keep other processes from publishing to the folder; a lock ends with its process.

    Who holds it already may take it again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock", is_singleton=True)
    try:
        lock.acquire(timeout=PATIENCE)
    except Timeout as error:
        raise RunFailed(
            Problem(
                "run.taken",
                f"another process has been publishing to {folder} for {PATIENCE:g} s",
                setting="hle_screen.dataset",
                given=str(folder),
                fix="wait until it ends, then run again",
            )
        ) from error
    try:
        yield
    finally:
        lock.release()


def _next(old: Sequence[Rows], added: Sequence[Rows], removed: frozenset[str]) -> list[Rows]:
    """Return the rows of the next revision, part by part."""
    part_of = {str(row["id"]): part for part, rows in enumerate(old) for row in rows}
    parts: list[dict[str, Row]] = [
        {key: row for row in rows if (key := str(row["id"])) not in removed} for rows in old
    ]
    for part, rows in enumerate(added):
        for row in rows:
            key = str(row["id"])
            there = next((it[key] for it in parts if key in it), None)
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
                parts[part_of.get(key, part)][key] = row
    return [tuple(rows.values()) for rows in parts]


def _changes(was: Rows, rows: Rows) -> dict[str, list[str]]:
    """Return the ids of what came and of what went; what was replaced did both."""
    before, after = ({(str(row["id"]), digest(row)) for row in each} for each in (was, rows))
    return {
        "added": sorted(key for key, _ in after - before),
        "removed": sorted(key for key, _ in before - after),
    }
