"""What became of every unit of a run of benchmarks, added up as units come; none is kept."""

import re
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from raybench.stats.asked import Asked
from raybench.types import Counts, Finish


@dataclass(frozen=True, slots=True)
class Unit:
    """One reply to one question, graded. A run has each once."""

    model: str
    benchmark: str
    key: str
    language: str
    subject: str | None
    repeat: int
    correct: bool
    finish: Finish
    parsed: bool
    by: Literal["script", "checker", "judge"] | None
    """Who decided that it is right or wrong."""
    judge_error: bool
    """Who should have decided gave no verdict: the script's stands for now, if it has one."""
    prompt_tokens: int
    output_tokens: int
    beside: Mapping[str, bool] = field(default_factory=dict)
    """Other verdicts on it, by their names."""
    cluster: str | None = None
    """What the question shares with others."""
    token_limit: int | None = None
    """The most tokens that the reply could have, where an endpoint let it have fewer than were
    asked for."""

    @classmethod
    def of(cls, record: Mapping[str, Any], **known: Any) -> "Unit":
        """Return the unit that a journal's record is; `known` is told otherwise, or besides.

        Raises KeyError where a field is missing.
        """
        told = {name: record[name] for name in _NAMED} | {
            "cluster": record.get("cluster"),
            "token_limit": record.get("token_limit"),
            "parsed": record["answer"] is not None,
            "judge_error": record["judge_error"] is not None,
        }
        return cls(**{**told, **known})

    @property
    def ungraded(self) -> bool:
        """Tell whether nobody could say what the reply is worth: it is neither right nor wrong."""
        return self.judge_error and self.by is None


_NAMED = (
    "model",
    "benchmark",
    "key",
    "language",
    "subject",
    "repeat",
    "correct",
    "finish",
    "by",
    "prompt_tokens",
    "output_tokens",
)
"""What the journal's records call as we do."""


@dataclass(frozen=True, slots=True)
class Marks:
    """What can be counted of every question: asked and right, sent to the checker and confirmed."""

    asked: "array[int]"
    right: "array[int]"
    checked: "array[int]"
    confirmed: "array[int]"
    """The script had said wrong, and so said the checker."""
    beside: "dict[str, array[int]]"
    """How often each other verdict was that it is right."""

    @classmethod
    def empty(cls) -> "Marks":
        """Return marks of no question."""
        return cls(array("H"), array("H"), array("H"), array("H"), {})

    def column(self, name: str) -> "array[int]":
        """Return the counts by a name: a field's, or another verdict's."""
        none: array[int] = array("H")
        found: array[int] = self.beside[name] if name in self.beside else getattr(self, name, none)
        return found

    def add(self, slot: int, unit: Unit) -> None:
        """Count a reply to the question in a slot."""
        if (short := slot + 1 - len(self.asked)) > 0:
            for column in (self.asked, self.right, self.checked, self.confirmed):
                column.frombytes(bytes(short * column.itemsize))
        self.asked[slot] += 1
        self.right[slot] += unit.correct
        if unit.by == "checker":
            self.checked[slot] += 1
            self.confirmed[slot] += not unit.correct
        for name, right in unit.beside.items():
            column = self.beside.setdefault(name, array("H"))
            if (short := slot + 1 - len(column)) > 0:
                column.frombytes(bytes(short * column.itemsize))
            column[slot] += right


class Sheet:
    """One model's units of one benchmark."""

    def __init__(self) -> None:
        self.marks: dict[str, Marks] = {}
        """By language."""
        self.counts: Counter[str] = Counter()
        self.unsupported = 0
        """Units whose question the model does not take, for its image: not asked, as it were."""
        self.unanswered = 0
        """Units that broke: no reply, and no fault of the model."""
        self.unchecked = 0
        """Units of which the checker gave no verdict."""
        self.ungraded = 0
        """Units of which nobody gave one: their programs could not be run, for no fault of theirs.
        """
        self.overflowed = 0
        """Units whose prompt does not fit into the model's context."""
        self.token_limits: array[int] = array("I")
        """Of every reply that could have fewer tokens than were asked for."""
        self.wholes: dict[tuple[str, int], list[int]] = {}
        """Of each cluster and repeat: how many questions were answered, and how many rightly."""
        self.prompt_tokens, self.output_tokens = array("I"), array("I")
        """Of every reply."""

    def add(self, slot: int, unit: Unit) -> None:
        """Count a unit on the question in a slot."""
        if unit.finish == "error":
            self.counts["infra_error"] += 1
            self.unanswered += 1
            return
        if unit.finish == "unsupported":
            self.unsupported += 1
            return
        if unit.judge_error:
            self.counts["judge_error"] += 1
        if unit.token_limit is not None:
            self.token_limits.append(unit.token_limit)
        if unit.finish == "overflow":
            self.overflowed += 1
        else:  # something was generated
            self.prompt_tokens.append(unit.prompt_tokens)
            self.output_tokens.append(unit.output_tokens)
        if unit.ungraded:
            self.ungraded += 1
            return
        self.unchecked += unit.judge_error
        self.counts[_became(unit)] += 1
        self.marks.setdefault(unit.language, Marks.empty()).add(slot, unit)
        if unit.cluster is not None:
            whole = self.wholes.setdefault((unit.cluster, unit.repeat), [0, 0])
            whole[0] += 1
            whole[1] += unit.correct

    @property
    def all_overflowed(self) -> int:
        """How many units there are, where none of their prompts fits; 0 where one does."""
        graded = sum(self.counts[name] for name in ("ok", "truncated", "unparsed"))
        return graded if graded == self.overflowed else 0


def _became(unit: Unit) -> str:
    """Return which of `Counts` a reply with a grade adds to, beside judge_error perhaps."""
    match unit.finish:
        case "length" | "thinking":
            return "truncated"
        case "stop":
            return "ok" if unit.parsed else "unparsed"
        case _:
            return "unparsed"


def safe(name: str) -> str:
    """Return a name as a part of a metric's key; what differs in it only is one."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "unnamed"


class Tally:
    """Everybody's sheets. A question has the same slot on all sheets of its benchmark."""

    def __init__(self) -> None:
        self._sheets: dict[tuple[str, str], Sheet] = {}
        self._slots: dict[str, dict[str, int]] = {}
        self._subjects: dict[str, list[str | None]] = {}
        self._clusters: dict[str, list[str | None]] = {}
        self._languages: dict[str, dict[str, None]] = {}

    @classmethod
    def of(cls, units: Iterable[Unit]) -> "Tally":
        """Return the tally of units, which may be a stream: it is read once."""
        tally = cls()
        for unit in units:
            tally.add(unit)
        return tally

    def add(self, unit: Unit) -> int:
        """Count a unit; return its question's slot."""
        slots = self._slots.setdefault(unit.benchmark, {})
        slot = slots.setdefault(unit.key, len(slots))
        subjects = self._subjects.setdefault(unit.benchmark, [])
        if slot == len(subjects):
            subjects.append(unit.subject and sys.intern(safe(unit.subject)))
            clusters = self._clusters.setdefault(unit.benchmark, [])
            clusters.append(unit.cluster and sys.intern(unit.cluster))
        self._languages.setdefault(unit.benchmark, {})[unit.language] = None
        self.sheet(unit.model, unit.benchmark).add(slot, unit)
        return slot

    def benchmarks(self) -> list[str]:
        """Return the benchmarks that have units, by name."""
        return sorted(self._slots)

    def languages(self, benchmark: str) -> list[str]:
        """Return the languages that a benchmark's units are in."""
        return sorted(self._languages.get(benchmark, ()))

    def subjects(self, benchmark: str) -> list[str]:
        """Return what a benchmark's questions are about, as in keys, where that is known."""
        return sorted({subject for subject in self._subjects.get(benchmark, ()) if subject})

    def sheet(self, model: str, benchmark: str) -> Sheet:
        """Return a model's sheet, an empty one where it has no units."""
        return self._sheets.setdefault((model, benchmark), Sheet())

    def asked(
        self, model: str, benchmark: str, languages: Sequence[str], *, subject: str | None = None
    ) -> Asked:
        """Return how often each question was asked and answered right: a row for each language."""
        return self._table(model, benchmark, languages, "right", "asked", subject)

    def checked(self, model: str, benchmark: str, languages: Sequence[str]) -> Asked:
        """Return how many of the replies to each question the checker decided."""
        return self._table(model, benchmark, languages, "checked", "asked")

    def confirmed(self, model: str, benchmark: str, languages: Sequence[str]) -> Asked:
        """Return how many of the replies that were put to the checker it found wrong, too."""
        return self._table(model, benchmark, languages, "confirmed", "checked")

    def beside(self, benchmark: str) -> list[str]:
        """Return the names of the other verdicts on a benchmark's units."""
        sheets = (sheet for (_, of), sheet in self._sheets.items() if of == benchmark)
        return sorted({it for sheet in sheets for of in sheet.marks.values() for it in of.beside})

    def asked_beside(
        self, model: str, benchmark: str, languages: Sequence[str], name: str
    ) -> Asked:
        """Return how often each question was asked, and right by another verdict."""
        return self._table(model, benchmark, languages, name, "asked")

    def wholes(self, model: str, benchmark: str) -> Asked:
        """Return how often every question of a cluster was answered, and how often all rightly.

        A column is a cluster: of questions that stand on one another.
        """
        sizes = Counter(it for it in self._clusters.get(benchmark, ()) if it is not None)
        places = {cluster: place for place, cluster in enumerate(sizes)}
        table = np.zeros((2, 1, len(places)), dtype=np.int64)
        for (cluster, _), (answered, right) in self.sheet(model, benchmark).wholes.items():
            table[0, 0, places[cluster]] += answered == sizes[cluster] == right
            table[1, 0, places[cluster]] += answered == sizes[cluster]
        return Asked(table[0], table[1])

    def counts(self, model: str, benchmarks: Iterable[str] | None = None) -> Counts:
        """Return what became of a model's units, of all benchmarks or of some."""
        total: Counter[str] = Counter()
        for benchmark in self._slots if benchmarks is None else benchmarks:
            total += self.sheet(model, benchmark).counts
        return Counts(**total)

    def _table(
        self,
        model: str,
        benchmark: str,
        languages: Sequence[str],
        right: str,
        times: str,
        subject: str | None = None,
    ) -> Asked:
        marks = self.sheet(model, benchmark).marks
        subjects = self._subjects.get(benchmark, ())
        kept = np.array([subject is None or about == subject for about in subjects], dtype=bool)

        def rows(name: str) -> NDArray[np.int64]:
            table = np.zeros((len(languages), len(kept)), dtype=np.int64)
            for row, language in enumerate(languages):
                if language in marks:
                    column = np.asarray(marks[language].column(name), dtype=np.int64)
                    table[row, : len(column)] = column
            return table[:, kept]

        return Asked(rows(right), rows(times), self._sources(benchmark, kept))

    def _sources(self, benchmark: str, kept: NDArray[np.bool_]) -> NDArray[np.int64] | None:
        """Return the number of each kept question's cluster; None where none has any."""
        clusters = self._clusters.get(benchmark, ())
        if not any(clusters):
            return None
        # What has no cluster is one of its own.
        names = [cluster or (place,) for place, cluster in enumerate(clusters)]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        found: NDArray[np.int64] = np.array([numbers[name] for name in names], dtype=np.int64)[kept]
        return found
