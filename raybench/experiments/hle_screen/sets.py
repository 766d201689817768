"""What became of the candidates that were tried, and what may be told of each.

Of a question that is held out nothing is told but its id and the evidence, and so of one that would
be, had its attempts a verdict: another screening may still accept it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from raybench import benchmarks
from raybench.benchmarks.parts.hle.screening import attempts, holdout, panel
from raybench.benchmarks.parts.hle.screening.attempts import Tried
from raybench.benchmarks.parts.hle.screening.panel import Decision, Outcome
from raybench.config import HleScreenConf
from raybench.experiments.hle_screen.batch import Batch
from raybench.experiments.hle_screen.entries import Entry
from raybench.pipeline.revisions import Part
from raybench.statements import Statement
from raybench.types import ScreeningRule

DECISIONS: tuple[Decision, ...] = ("accepted", "rejected", "undecided")
INVALID = "invalid.jsonl"
OTHER_REASONS = (
    "the other reasons are withheld, because they may repeat a held-out question: validate=true "
    "prints them"
)
WITHHELD = "withheld, because it may repeat a held-out question: the journal has it"


@dataclass(frozen=True, slots=True)
class Screened:
    """A candidate that was tried."""

    entry: Entry
    tried: Tried
    outcome: Outcome
    part: Part
    """Where it is published, or would be."""
    searched: Mapping[str, bool | None] = field(default_factory=dict)
    """By model with search tools whether only its search answers the question; None: not known."""

    @property
    def private(self) -> bool:
        """Tell whether it is held out, or would be."""
        return self.part != "public"

    @property
    def key(self) -> str:
        """Return its id."""
        return self.entry.key

    @property
    def hidden(self) -> bool:
        """Tell whether nothing of its text may be shown; one that was turned down may."""
        return self.private and self.outcome.decision != "rejected"

    @property
    def evidence(self) -> str:
        """Return why it is where it is, in words."""
        lacks = self.tried.told() if self.outcome.decision == "undecided" else ""
        return self.outcome.evidence + (f" ({lacks})" if lacks else "")

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what reviewers should look at."""
        searching = [name for name, found in self.searched.items() if found]
        if not searching:
            return (*self.entry.candidate.notes, *self.tried.notes)
        note = Statement(
            "screening.searchable",
            "potentially searchable: {models} answered it with search tools, and not without",
            models=", ".join(searching),
        )
        return (*self.entry.candidate.notes, *self.tried.notes, note)

    def line(self) -> dict[str, Any]:
        """Return the line of it that anybody may read."""
        told = {
            "id": self.key,
            "decision": self.outcome.decision,
            "private": self.private,
            "part": self.part,
            "evidence": self.evidence,
            "models": self.outcome.models,
            "answered": self.outcome.answered,
            "missing": self.outcome.missing,
            "verdicts": self.tried.verdicts,
            "responses": dict(self.tried.fates),
        }
        if self.searched:
            told["searched"] = dict(self.searched)
        if self.hidden:
            return told
        where = {"file": self.entry.file, "line": self.entry.line}
        return told | where | {"notes": self.notes, "question": dict(self.entry.candidate.row)}


def screened(
    batch: Batch,
    asked: Mapping[str, Any],
    tried: Mapping[str, Tried],
    conf: HleScreenConf,
    rule: ScreeningRule,
    seed: int,
) -> list[Screened]:
    """Return the decisions on the candidates that were asked, whose rows are given by their ids."""
    benchmark = benchmarks.load(attempts.NAME)
    return [
        Screened(
            entry,
            tried[key],
            panel.decide(
                row["answer_type"],
                benchmark.chance(row),
                {
                    model: of
                    for model, of in tried[key].verdicts.items()
                    if model not in conf.search
                },
                rule=rule,
                unable=tried[key].unable,
            ),
            batch.standing.parts.get(key) or _part(key, conf, seed),
            attempts.found_by_search(tried[key], conf.search),
        )
        for key, entry in batch.valid.items()
        if (row := asked.get(key)) is not None
    ]


def _part(key: str, conf: HleScreenConf, seed: int) -> Part:
    if conf.late:
        return "late"
    return "private" if holdout.is_private(key, seed=seed, share=conf.private) else "public"


def of(those: Sequence[Screened], decision: Decision) -> list[Screened]:
    """Return those of one decision."""
    return [each for each in those if each.outcome.decision == decision]


def files(batch: Batch, those: Sequence[Screened]) -> dict[str, list[dict[str, Any]]]:
    """Return the sets as files of JSON lines, those of invalid candidates among them.

    Where there were no candidates there are no sets of them, and no others where none was tried.
    What an invalid one says is not repeated: it may be what a question says that is held out.
    """
    if not batch.entries:
        return {}
    tried = DECISIONS if those else ()
    found = {f"{name}.jsonl": [each.line() for each in of(those, name)] for name in tried}
    shown = {each.key for each in those if not each.hidden}
    shown |= {key for key, part in batch.standing.parts.items() if part == "public"}
    hidden = (batch.standing.keys | batch.valid.keys()) - shown | batch.standing.held_out
    found[INVALID] = [
        {
            "id": each.key,
            "file": each.file,
            "line": each.line,
            "reasons": _reasons(each, hidden),
        }
        for each in batch.invalid
    ]
    return found


def _reasons(each: Entry, hidden: Set[str]) -> list[str]:
    """Return why a candidate is invalid; reasons quote it, and it may be what is hidden."""
    told = list(each.candidate.reasons)
    if not hidden & {each.key, *(key for key, _ in each.candidate.repeats)}:
        return told
    repeats = [reason for _, reason in each.candidate.repeats]
    return [*repeats, *([OTHER_REASONS] if len(told) > len(repeats) else [])]


def failures(
    told: Sequence[Mapping[str, Any]], hidden: Collection[str]
) -> Iterator[dict[str, Any]]:
    """Yield what somebody has to look at, with nothing of what is hidden.

    A reason that other questions have too says nothing of this one.
    """
    common = {each["why"] for each in told if each["key"] not in hidden}
    for each in told:
        shown = each["key"] not in hidden or each["why"] in common
        yield dict(each) if shown else {**each, "why": WITHHELD}
