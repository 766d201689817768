"""Who is at work on a run, and which segments of its journals count: one small object.

Pure: nothing here knows a store.

What the object says decides, whatever else lies in the run's folder. Who takes over writes down
which segments it found of those before it: from then on nothing that they still write counts. So
at any time one history counts, and it only ever grows.

`pyarrow.fs` has no conditional put ("only if it has not changed since I read it"), so that two
processes that take the same lease within a moment may both write it. Each waits then and reads it
back, and whoever finds another's gives up; one that was held up between its last look and its write
for longer than that wait may overwrite the other's. Then the other finds itself dispossessed at its
next beat and stops; what it has written meanwhile does not count. What is left open: results.json
is written after one more look at the lease, and a process that is held up between that look and
that write for longer than others watch a lease may write results of a run that another has gone on
with. They are whole results of the same configuration, of another's completions.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from raybench.pipeline.storage.segments import Piece, Segment, Term, is_journal, read, whole
from raybench.reading import from_json

PATH = "lease.json"


@dataclass(frozen=True, slots=True)
class Timing:
    """When a lease is renewed, and when it counts as deserted, in seconds."""

    beat_s: float = 2.0
    """How often its holder renews it."""
    stale_s: float = 10.0
    """Who watches a lease for so long, and sees no beat, takes it: by the watcher's clock alone."""
    settle_s: float = 1.0
    """Who has taken a lease waits for so long before reading it back."""


TIMING = Timing()


class Broken(ValueError):
    """What the store holds of a run is not what a run leaves."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """What counts of one journal, but for what is written in the present term."""

    merged: tuple[int, str] | None = None
    """Size and digest of what is in one piece."""
    spans: tuple[tuple[Term, int, int], ...] = ()
    """Whose segments come after that: the first one's number, and how many."""
    first: int = 0
    """The number of the present term's first segment that comes after all these."""


_NOTHING = Chapter()


@dataclass(frozen=True, slots=True)
class Lease:
    """A run's lease."""

    term: Term
    tail: Term
    """Whose segments come last: this term's, once it has written down what it found."""
    chapters: Mapping[str, Chapter] = field(default_factory=lambda: MappingProxyType({}))
    beat: int = 0
    at_work: bool = True

    @classmethod
    def first(cls, owner: str) -> "Lease":
        """Return the lease of a run that nobody was at work on."""
        return cls(Term(1, owner), Term(1, owner))

    def taken(self, owner: str) -> "Lease":
        """Return the lease of who takes over. It has not looked yet at what there is."""
        return Lease(Term(self.term.generation + 1, owner), self.tail, self.chapters)

    def opened(self, paths: Iterable[str]) -> "Lease":
        """Return the lease with what there is written down: no more of those before counts."""
        if self.tail == self.term:
            return self
        chapters = dict(self.chapters)
        for journal, last in self._tails(paths).items():
            chapter = self._chapter(journal)
            span = (self.tail, chapter.first, len(last))
            chapters[journal] = replace(chapter, spans=(*chapter.spans, span), first=0)
        for journal, chapter in chapters.items():
            chapters[journal] = replace(chapter, first=0)
        return replace(self, tail=self.term, chapters=chapters)

    def beaten(self) -> "Lease":
        """Return the lease with one more sign of life."""
        return replace(self, beat=self.beat + 1)

    def merged(self, sizes: Mapping[str, tuple[int, str, int]]) -> "Lease":
        """Return the lease with journals in one piece: size, digest, and the next segment's number.

        What is in them already counts once.
        """
        chapters = {
            journal: Chapter((size, digest), (), first)
            for journal, (size, digest, first) in sizes.items()
        }
        return replace(self, chapters={**self.chapters, **chapters})

    def history(self, paths: Iterable[str]) -> dict[str, list[Piece]]:
        """Return the pieces of each journal that count, in order. Raises Broken."""
        paths = list(paths)
        every = {(it.journal, it.term, it.number): it for it in read(paths)}
        tails = self._tails(paths)
        found = {}
        for journal in sorted({*self.chapters, *tails}):
            chapter, pieces = self._chapter(journal), []
            if chapter.merged is not None:
                pieces.append(Piece(*chapter.merged, whole(journal)))
            for term, first, count in chapter.spans:
                for number in range(first, first + count):
                    segment = every.get((journal, term, number))
                    if segment is None:
                        raise Broken(f"segment {number} of journal {journal} is missing")
                    pieces.append(segment.piece)
            found[journal] = [*pieces, *(it.piece for it in tails.get(journal, ()))]
        return found

    def _chapter(self, journal: str) -> Chapter:
        return self.chapters.get(journal, _NOTHING)

    def _tails(self, paths: Iterable[str]) -> dict[str, list[Segment]]:
        """Return the segments that come last, up to the first number that is not there."""
        there = {(it.journal, it.number): it for it in read(paths) if it.term == self.tail}
        found: dict[str, list[Segment]] = {}
        for journal in sorted({journal for journal, _ in there}):
            number = self._chapter(journal).first
            while (segment := there.get((journal, number))) is not None:
                found.setdefault(journal, []).append(segment)
                number += 1
        return found

    def text(self) -> str:
        """Return the object's content."""
        return json.dumps(
            {
                "generation": self.term.generation,
                "owner": self.term.owner,
                "beat": self.beat,
                "at_work": self.at_work,
                "tail": [self.tail.generation, self.tail.owner],
                "journals": {
                    name: {
                        "merged": it.merged,
                        "first": it.first,
                        "spans": [
                            [term.generation, term.owner, first, count]
                            for term, first, count in it.spans
                        ],
                    }
                    for name, it in self.chapters.items()
                },
            },
            indent=1,
        )

    @classmethod
    def of(cls, text: bytes) -> "Lease":
        """Read the object's content. Raises Broken."""
        try:
            said = from_json(text)
            return cls(
                Term(_count(said["generation"]), _text(said["owner"])),
                _term(*said["tail"]),
                {_journal(name): _chapter(it) for name, it in said["journals"].items()},
                _count(said["beat"]),
                bool(said["at_work"]),
            )
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise Broken(f"{PATH} cannot be read ({error})") from error


def _chapter(said: Mapping[str, Any]) -> Chapter:
    merged = said["merged"]
    return Chapter(
        None if merged is None else (_count(merged[0]), _text(merged[1])),
        tuple(
            (_term(of, owner), _count(first), _count(count))
            for of, owner, first, count in said["spans"]
        ),
        _count(said["first"]),
    )


def _term(generation: Any, owner: Any) -> Term:
    return Term(_count(generation), _text(owner))


def _journal(name: Any) -> str:
    """Return a journal's name, which becomes that of a file."""
    if not is_journal(name):
        raise ValueError(f"{str(name)[:80]!r} is no name of a journal")
    return str(name)


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**63:
        raise ValueError(f"{str(value)[:80]!r} is no count")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{str(value)[:80]!r} is no text")
    return value
