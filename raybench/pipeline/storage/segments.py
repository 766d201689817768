"""Journals in pieces: what a segment is called, and how a local journal stands to the stored one.

Pure: nothing here knows a store.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import BinaryIO

_NAME = re.compile(
    r"(?P<generation>\d{6,})-(?P<owner>[0-9a-f]+)-(?P<number>\d{8,})"
    r"-(?P<size>\d+)-(?P<digest>[0-9a-f]{16})\.jsonl"
)
_JOURNAL = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{,99}")
_CHUNK = 2**20


@dataclass(frozen=True, order=True, slots=True)
class Term:
    """The time for which one process is at work on a run; no two have the same."""

    generation: int
    owner: str


@dataclass(frozen=True, slots=True)
class Piece:
    """Some whole lines of a journal, in one object."""

    size: int
    digest: str
    path: str
    """Below the run's folder."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One batch of a journal. Its name tells who wrote it, where it belongs and what it holds."""

    journal: str
    term: Term
    number: int
    size: int
    digest: str

    @property
    def path(self) -> str:
        """Return where it lies, below the run's folder."""
        name = f"{self.term.generation:06d}-{self.term.owner}-{self.number:08d}"
        return f"{folder(self.journal)}/{name}-{self.size}-{self.digest}.jsonl"

    @property
    def piece(self) -> Piece:
        """Return what it holds of its journal."""
        return Piece(self.size, self.digest, self.path)


def folder(journal: str) -> str:
    """Return where a journal's segments lie, below the run's folder."""
    return f"journal/{journal}"


def whole(journal: str) -> str:
    """Return where a journal lies in one piece."""
    return f"journal/{journal}.jsonl"


def is_journal(name: object) -> bool:
    """Tell whether it is a name that a journal may have, and so its file: stores are others'."""
    return isinstance(name, str) and _JOURNAL.fullmatch(name) is not None


def digest(data: bytes) -> str:
    """Return the digest of a piece."""
    return hashlib.sha256(data).hexdigest()[:16]


def read(paths: Iterable[str]) -> list[Segment]:
    """Return the segments among the paths of a run's objects; nothing else is one."""
    found = []
    for path in paths:
        parts = path.split("/")
        if len(parts) != 3 or parts[0] != "journal" or not is_journal(parts[1]):
            continue
        if known := _NAME.fullmatch(parts[2]):
            term = Term(int(known["generation"]), known["owner"])
            number, size = int(known["number"]), int(known["size"])
            found.append(Segment(parts[1], term, number, size, known["digest"]))
    return found


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a local journal and the stored one are the same."""

    pieces: int
    """As many of the stored pieces are here."""
    at: int
    """So many bytes those are."""
    more: int
    """Bytes that are here after them."""

    def apart(self, stored: Sequence[Piece]) -> bool:
        """Tell whether both go on from the same beginning, each in a way of its own.

        Less than the next piece may be a part of it, of which only its content tells.
        """
        return self.pieces < len(stored) and self.more >= stored[self.pieces].size


def compared(local: BinaryIO, stored: Sequence[Piece]) -> Standing:
    """Hold a local journal, which ends in a whole line, to the pieces that are stored."""
    local.seek(0, 2)
    end, at = local.tell(), 0
    for index, piece in enumerate(stored):
        if at + piece.size > end or _digest(local, at, piece.size) != piece.digest:
            return Standing(index, at, end - at)
        at += piece.size
    return Standing(len(stored), at, end - at)


def _digest(file: BinaryIO, at: int, size: int) -> str:
    file.seek(at)
    found = hashlib.sha256()
    while size > 0 and (chunk := file.read(min(size, _CHUNK))):
        found.update(chunk)
        size -= len(chunk)
    return found.hexdigest()[:16]
