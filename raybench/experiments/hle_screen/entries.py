"""Candidates as their files hold them, each with its place, and what is wrong with it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from raybench import benchmarks
from raybench.benchmarks.parts.hle.screening import candidates
from raybench.benchmarks.parts.hle.screening.candidates import Candidate
from raybench.config import SHIPPED
from raybench.errors import ConfigurationError, Problem
from raybench.paths import expanded
from raybench.pipeline import files
from raybench.pipeline.digests import digest
from raybench.pipeline.files import ENDINGS
from raybench.pipeline.written_once import Rows

_SHIPPED = Path(benchmarks.__file__).parent / "samples" / "hle_candidates.jsonl"


@dataclass(frozen=True, slots=True)
class Read:
    """A row of a file, or what is wrong with what stands there."""

    file: str
    line: int
    row: dict[str, Any] | str


@dataclass(frozen=True, slots=True)
class Entry:
    """A candidate, and where it stands."""

    file: str
    line: int
    candidate: Candidate

    @property
    def key(self) -> str:
        """Return its id; '' where it has none."""
        return self.candidate.row.get("id", "")

    @property
    def place(self) -> str:
        """Return where it stands, in words."""
        return f"{self.file}, {files.unit(self.file)} {self.line}"

    def __str__(self) -> str:
        """Return where it stands, and its id if it has one."""
        return f"{self.place} ({self.key})" if self.key else self.place


def paths(given: str) -> list[Path]:
    """Return the files that hold candidates.

    Raises ConfigurationError where there are none.
    """
    if given == SHIPPED:
        return [_SHIPPED]
    path = expanded(given)
    kinds = ", ".join(ENDINGS)
    if path.is_dir():
        found = sorted(it for it in path.iterdir() if it.is_file() and files.ending(it.name))
        if shown := [it for it in found if not it.name.startswith(".")]:
            return shown
        raise ConfigurationError(
            Problem(
                "data.missing",
                f"hle_screen.candidates: '{given}' holds no file that ends in one of {kinds}",
                setting="hle_screen.candidates",
                given=given,
                fix="put the candidates there, or name another folder or a file",
            )
        )
    if not path.is_file():
        raise ConfigurationError(
            Problem(
                "file.missing",
                f"hle_screen.candidates: there is no '{given}'",
                setting="hle_screen.candidates",
                given=given,
                fix="name a file or a folder, or 'samples' for the shipped ones",
            )
        )
    if not files.ending(path.name):
        raise ConfigurationError(
            Problem(
                "file.format",
                f"hle_screen.candidates: '{given}' has none of the endings {kinds}",
                setting="hle_screen.candidates",
                given=given,
                fix="rename it",
            )
        )
    return [path]


def read(there: Sequence[Path]) -> Iterator[Read]:
    """Yield what stands in files."""
    for path in there:
        yield from (Read(path.name, line, row) for line, row in files.rows(path))


def digest_of(there: Sequence[Read]) -> str:
    """Return the digest of what stands there, in its order: of two alike the first one stays."""
    total = sha256()
    for each in there:
        told = each.row.encode() if isinstance(each.row, str) else b"%064x" % digest(each.row)
        total.update(sha256(told).digest())
    return total.hexdigest()


def checked(there: Sequence[Read], existing: Rows) -> list[Entry]:
    """Return the candidates in their order; `existing` are the questions of the dataset."""
    found = iter(
        candidates.check((it.row for it in there if not isinstance(it.row, str)), existing)
    )
    return [
        Entry(it.file, it.line, _unreadable(it) if isinstance(it.row, str) else next(found))
        for it in there
    ]


def _unreadable(each: Read) -> Candidate:
    why = f"the {files.unit(each.file)} {each.row}: fix it, or remove it"
    return Candidate({}, (why,), ())
