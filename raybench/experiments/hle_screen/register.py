"""The register of a dataset: every question that was tried, its reviews, and its state.

    FOLDER/private/register.jsonl   all of it, with the texts of what is not published
    FOLDER/states.jsonl             what anybody may read: a question's id, its state and the reason

A question's state follows from its panel, its reviews and the newest revision:
candidate → passed_panel → first_round → approved → published or held_out; else it is rejected, to
be revised, or scored low.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, get_args

from raybench.benchmarks.parts.hle.screening import decisions
from raybench.benchmarks.parts.hle.screening.decisions import Decided, Review
from raybench.benchmarks.parts.hle.screening.panel import Decision
from raybench.errors import ConfigurationError, Problem
from raybench.experiments.hle_screen.reviewed import Reviews
from raybench.pipeline import revisions, whole
from raybench.pipeline.digests import digest
from raybench.pipeline.revisions import STATES, Part, Revision
from raybench.pipeline.screenings import in_words
from raybench.pipeline.written_once import Row, Rows
from raybench.reading import from_json
from raybench.statements import Statement

T = TypeVar("T")

VERSION = 1
State = Literal[
    "candidate", "passed_panel", "first_round", "to_audit", "approved", "published", "held_out",
    "revise", "low_score", "rejected",
]  # fmt: skip
STATE_NAMES: tuple[State, ...] = get_args(State)
_REGISTER = "register.jsonl"
_NAMED = 5
"""Unknown questions of sheets that a note names."""


@dataclass(frozen=True)
class Registered:
    """A question that was tried."""

    key: str
    part: Part
    """Where it is published, or would be."""
    run: str
    """The screening that tried it last."""
    panel: Decision
    evidence: str = ""
    """What the panel made of it."""
    notes: tuple[str, ...] = ()
    row: Row = field(default_factory=dict)
    """Nothing where the panel did not pass it."""
    reviews: tuple[Review, ...] = ()
    asked: int = 0
    """First-round reviews that a sheet had rows for."""
    simulated: bool = False
    """Simulated models had a say in its panel."""
    searched: Mapping[str, bool | None] = field(default_factory=dict)
    """By model with search tools whether only its search answers it; nothing: not checked."""

    @cached_property
    def decided(self) -> Decided:
        """Return what its reviewers decided."""
        searchable = any(self.searched.values())
        return decisions.decide(self.key, self.reviews, self.asked, searchable=searchable)

    @property
    def active(self) -> bool:
        """Tell whether it passed the panel, and reviewers have not decided against it."""
        return self.panel == "accepted" and (self.approved or self.waits)

    @property
    def approved(self) -> bool:
        """Tell whether it may be published."""
        return self.panel == "accepted" and self.decided.state == "approved"

    @property
    def waits(self) -> bool:
        """Tell whether it needs more reviews."""
        return self.panel == "accepted" and self.decided.state in decisions.WAITING

    def state(self, there: Mapping[str, Part]) -> tuple[State, str]:
        """Return its state and the reason, where the newest revision has the questions `there`."""
        if self.panel != "accepted":
            return ("candidate" if self.panel == "undecided" else "rejected"), self.evidence
        if self.key in there:
            return "published" if self.part == "public" else "held_out", self.decided.why
        return self.decided.state, self.decided.why

    def says(self, row: Row) -> bool:
        """Tell whether it is this question, and no other version of it."""
        return digest(self.row) == digest(row)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "version": VERSION,
            "id": self.key,
            "part": self.part,
            "run": self.run,
            "panel": self.panel,
            "evidence": self.evidence,
            "notes": list(self.notes),
            "searched": dict(self.searched),
            "question": dict(self.row),
            "simulated": self.simulated,
            "asked": self.asked,
            "reviews": [it.to_json() for it in self.reviews],
        }

    @classmethod
    def of_json(cls, values: Mapping[str, Any]) -> Self:
        """Return the question that `to_json` made these values of."""
        if values["version"] != VERSION:
            raise ValueError(f"version {values['version']} is not {VERSION}")
        return cls(
            key=values["id"],
            part=values["part"],
            run=values["run"],
            panel=values["panel"],
            evidence=values["evidence"],
            notes=tuple(values["notes"]),
            row=values["question"],
            asked=values["asked"],
            simulated=values["simulated"],
            searched=values["searched"],
            reviews=tuple(map(Review.of_json, values["reviews"])),
        )


@dataclass(frozen=True)
class Register:
    """The questions of a dataset, by their ids."""

    entries: Mapping[str, Registered]
    newest: Revision | None
    """The newest revision."""

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the register, and what the newest revision has besides.

        Older versions published without a register: their questions wait for review. Raises
        ConfigurationError where it cannot be read.
        """
        newest = revisions.read(folder)
        entries = {
            it.key: it
            for it in lines_of(folder / revisions.PRIVATE / _REGISTER, Registered.of_json)
        }
        for part, row in newest.placed() if newest else ():
            key = str(row["id"])
            if key not in entries or not entries[key].says(row):
                run = str(newest.about["run"]) if newest else ""
                entries[key] = Registered(key, part, run, "accepted", row=row)
        return cls(entries, newest)

    def __iter__(self) -> Iterator[Registered]:
        return iter(self.entries.values())

    @cached_property
    def there(self) -> dict[str, Part]:
        """Return the ids of the questions that are in the newest revision, with their parts."""
        placed = self.newest.placed() if self.newest else ()
        return {key: part for part, row in placed if self.entries[key := str(row["id"])].says(row)}

    @cached_property
    def approved(self) -> frozenset[str]:
        """Return the ids of the questions that may be published."""
        return frozenset(it.key for it in self if it.approved)

    @property
    def simulated(self) -> bool:
        """Tell whether simulated models had a say in a question that passed, or is published."""
        said = any(it.simulated for it in self if it.panel == "accepted")
        return said or bool(self.newest and self.newest.about.get("simulated"))

    @property
    def waiting(self) -> list[Registered]:
        """Return the questions that need more reviews."""
        return [it for it in self if it.waits]

    @cached_property
    def dropped(self) -> frozenset[str]:
        """Return the ids of the questions that reviewers decided against."""
        return frozenset(it.key for it in self if it.panel == "accepted" and not it.active)

    def with_reviews(self, reviews: Reviews) -> Self:
        """Return the register with what sheets say of its questions as they are."""
        entries = dict(self.entries)
        for key, entry in self.entries.items():
            if (given := reviews.of_question(key, entry.row)) is not None:
                # A reviewer's later word replaces the earlier one.
                renewed = {(it.round, it.reviewer.casefold()) for it in given}
                kept = [
                    it for it in entry.reviews if (it.round, it.reviewer.casefold()) not in renewed
                ]
                entries[key] = replace(
                    entry,
                    reviews=(*kept, *given),
                    asked=max(entry.asked, reviews.filled[key].asked),
                )
        return replace(self, entries=entries)

    def with_tried(self, tried: Iterable[Registered]) -> Self:
        """Return the register with questions that a panel has tried.

        What the newest revision has stays as it is until reviewers decide against it. Another
        version of a question has no reviews yet.
        """
        entries = dict(self.entries)
        for each in tried:
            before = entries.get(each.key)
            if before is None or before.panel != "accepted":
                entries[each.key] = each
            elif not (before.key in self.there and before.active):
                same = before.says(each.row)
                entries[each.key] = replace(
                    each,
                    part=before.part,
                    reviews=before.reviews if same else (),
                    asked=before.asked if same else 0,
                )
        return replace(self, entries=entries)

    def counts(self) -> dict[str, int]:
        """Return how many questions are in each state."""
        counts = Counter(it.state(self.there)[0] for it in self)
        return {name: counts[name] for name in STATE_NAMES if counts[name]}

    def states(self) -> Iterator[dict[str, Any]]:
        """Yield the line of each question that anybody may read: nothing of its text."""
        there = self.there
        for entry in self:
            state, why = entry.state(there)
            given = entry.decided if entry.reviews else None
            yield {
                "id": entry.key,
                "state": state,
                "why": why,
                "part": entry.part,
                "approved": entry.approved,
                "reviews": len(entry.reviews),
                "searched": dict(entry.searched),
                "disagreements": list(given.disagreements) if given else [],
                "run": entry.run,
            }

    def lines(self, reviews: Reviews) -> Iterator[dict[str, Any]]:
        """Yield a line for each question on sheets: no reviewer's words, which may repeat its text.

        It has no state where the dataset has no such question that passed the panel.
        """
        known = {line["id"]: line for line in self.states()}
        for key in reviews.filled:
            entry = self.entries.get(key)
            yield known[key] if entry and entry.row else {"id": key, "state": None}

    def note(self, reviews: Reviews) -> str:
        """Say what became of the questions on sheets."""
        states = {line["id"]: line["state"] for line in self.lines(reviews)}
        counts = Counter(state for state in states.values() if state)
        # Before and after the approved ones are published they are called the same.
        outcomes = Counter(_outcome(self.entries[key], it) for key, it in states.items() if it)
        unknown = [key for key, state in states.items() if not state]
        more = f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
        return Statement(
            "screening.reviews",
            "{questions:,} question{s} on the sheets that were handed in: {told}{unknown}",
            questions=len(states),
            s="s" * (len(states) != 1),
            told=in_words(outcomes)
            or "none is in this dataset: name the one of the sheets with dataset=FOLDER",
            unknown=f". Not in this dataset, and ignored: {', '.join(unknown[:_NAMED])}{more}"
            if unknown
            else "",
            states=dict(counts),
            outcomes=dict(outcomes),
            left_alone=unknown,
        )

    def write(self, folder: Path) -> None:
        """Write the register. Raises RunFailed."""
        _write(folder / revisions.PRIVATE / _REGISTER, (it.to_json() for it in self), folder)

    def write_states(self, folder: Path) -> None:
        """Write what anybody may read. Raises RunFailed."""
        _write(folder / STATES, self.states(), folder)


def _outcome(entry: Registered, state: State) -> str:
    """Return the state of a question as reviewers left it, in words where they approved it."""
    if not entry.approved:
        return state
    return "approved for publication" if entry.part == "public" else "approved and held out"


def rows_of(entries: Iterable[Registered], part: Part) -> Rows:
    """Return the questions of a part."""
    return tuple(it.row for it in entries if it.part == part)


def lines_of(path: Path, read: Callable[[Any], T]) -> list[T]:
    """Return what the lines of a dataset's file say; [] without one. Raises ConfigurationError."""
    try:
        return [read(from_json(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ConfigurationError(
            Problem(
                "file.unreadable",
                f"{path} cannot be read ({error!r})",
                setting="hle_screen.dataset",
                given=str(path),
                fix="put back the file as raybench wrote it",
            )
        ) from error


def _write(path: Path, lines: Iterable[Mapping[str, Any]], folder: Path) -> None:
    try:
        whole.write(path, (f"{json.dumps(it, ensure_ascii=False)}\n" for it in lines))
    except OSError as error:
        raise revisions.unwritable(folder, error) from error
