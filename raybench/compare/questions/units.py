"""What stays in memory of journals: counts of every question, and where each reply stands."""

import sys
import zlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raybench import benchmarks
from raybench.benchmarks.parts.choices import MultipleChoice
from raybench.benchmarks.parts.hle.exam import Exam, Item
from raybench.benchmarks.parts.tally import Tally, Unit
from raybench.compare.found import Pair, Side
from raybench.compare.runs import Stored

NAME = "units"
HLE = "hle"
_LETTER = 1
"""The lowest bit of a right answer's mark: it is the letter of an option, which an order of its own
may have put there."""
_PLACE = ("slot", "language", "repeat", "right", "offset", "line", "truth")


@dataclass(frozen=True, slots=True)
class Places:
    """Every graded reply of one side to one benchmark: to which question, and where it stands."""

    slot: "array[int]" = field(default_factory=lambda: array("I"))
    language: "array[int]" = field(default_factory=lambda: array("H"))
    repeat: "array[int]" = field(default_factory=lambda: array("H"))
    right: "array[int]" = field(default_factory=lambda: array("B"))
    offset: "array[int]" = field(default_factory=lambda: array("Q"))
    line: "array[int]" = field(default_factory=lambda: array("I"))
    truth: "array[int]" = field(default_factory=lambda: array("I"))
    """What marks the right answer, so that those of two runs can be held against each other."""

    def add(self, *values: int) -> None:
        """Add a reply's values, in the order of the fields."""
        for name, value in zip(_PLACE, values, strict=True):
            getattr(self, name).append(value)

    def column(self, name: str) -> NDArray[Any]:
        """Return a field of all replies."""
        return np.asarray(getattr(self, name))


class Units:
    """The units of several sides. A question has the same slot for all of them."""

    def __init__(self, sides: Sequence[Side]) -> None:
        self.tally = Tally()
        self.exam = Exam()
        self.labels = {side.key: str(number) for number, side in enumerate(sides)}
        self._places: dict[tuple[str, str], Places] = {}
        self._languages: dict[str, int] = {}
        self._keys: dict[str, list[str]] = {}
        self._subjects: dict[str, dict[int, str]] = {}

    @classmethod
    def read(cls, pairs: Iterable[Pair], only: Sequence[str] = ()) -> "Units":
        """Return the units of all pairs' sides: every journal is read once, a line at a time."""
        sides = {it.key: it for pair in pairs for it in (pair.baseline, pair.candidate)}
        units = cls(list(sides.values()))
        runs: dict[Any, list[Side]] = {}
        for side in sides.values():
            runs.setdefault(side.key[0], []).append(side)
        for wanted in runs.values():
            labels = {side.model: units.label(side) for side in wanted}
            units._read(wanted[0].run, labels, frozenset(only))
        return units

    def label(self, side: Side) -> str:
        """Return what the tally calls a side."""
        return self.labels[side.key]

    def places(self, side: Side, benchmark: str) -> Places:
        """Return where a side's replies to a benchmark stand."""
        return self._places.get((self.label(side), benchmark), Places())

    def key(self, benchmark: str, slot: int) -> str:
        """Return the id of the question in a slot."""
        return self._keys[benchmark][slot]

    def subject(self, benchmark: str, slot: int) -> str | None:
        """Return what the question in a slot is about, where that is known."""
        return self._subjects[benchmark].get(slot)

    def spoken(self) -> dict[int, str]:
        """Return the languages by their numbers."""
        return {number: name for name, number in self._languages.items()}

    def language(self, name: str) -> int:
        """Return a language's number."""
        return self._languages[name]

    def _read(self, run: Stored, labels: Mapping[str, str], only: frozenset[str]) -> None:
        for number, offset, record in run.lines(NAME):
            try:
                if record["model"] not in labels or (only and record["benchmark"] not in only):
                    continue
                self._enter(labels[record["model"]], record, number, offset)
            except (LookupError, TypeError, OverflowError) as error:
                raise run.unlike(NAME, number, error) from error

    def _enter(self, label: str, record: dict[str, Any], number: int, offset: int) -> None:
        unit = Unit.of(record, model=label, key=str(record["key"]))
        slot = self.tally.add(unit)
        name = sys.intern(unit.benchmark)
        keys = self._keys.setdefault(name, [])
        if slot == len(keys):
            keys.append(unit.key)
            if unit.subject:
                self._subjects.setdefault(name, {})[slot] = sys.intern(unit.subject)
            else:
                self._subjects.setdefault(name, {})
        if name == HLE:
            self.exam.add(label, Item.of(record))
        if unit.finish in ("error", "unsupported") or unit.ungraded:
            return
        language = self._languages.setdefault(unit.language, len(self._languages))
        self._places.setdefault((label, name), Places()).add(
            slot, language, unit.repeat, bool(unit.correct), offset, number, _mark(record)
        )

    def truths(
        self, side: Side, benchmark: str, languages: Sequence[str], slots: int, *, letters: bool
    ) -> NDArray[np.int64]:
        """Return what marks each question's right answer in the first asking; 0 where unknown.

        Letters stand for what an order drawn by the seed put there: they are left out where they
        cannot be compared.
        """
        places, found = self.places(side, benchmark), np.zeros((len(languages), slots), np.int64)
        truth, first = places.column("truth"), places.column("repeat") == 0
        known = first & (truth > _LETTER) & (letters | (truth % 2 == 0))
        for row, language in enumerate(languages):
            here = known & (places.column("language") == self._languages.get(language, -1))
            found[row, places.column("slot")[here]] = truth[here]
        return found


def _mark(record: Mapping[str, Any]) -> int:
    truth = record.get("truth")
    if truth is None:
        return 0
    mark = zlib.crc32(str(truth).encode("utf-8", "replace")) & ~_LETTER
    return mark | (_LETTER if _lettered(record["benchmark"]) else 0)


@cache
def _lettered(benchmark: str) -> bool:
    """Tell whether right answers are the letters of options."""
    return isinstance(benchmarks.load(benchmark), MultipleChoice)
