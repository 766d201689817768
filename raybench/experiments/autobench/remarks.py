"""What has to be said of a run beside its numbers, in the terminal, leaderboard.md and report."""

from collections.abc import Iterator, Sequence

from raybench.autobench import summary
from raybench.autobench.analysis.whole import Analysed
from raybench.autobench.protocol import Record
from raybench.autobench.settings import Settings
from raybench.experiments.autobench.report import echoes
from raybench.experiments.autobench.reuse import Kept
from raybench.statements import Statement
from raybench.types import Estimate

_FEW = 0.5
"""A smaller share of iterations with a task, or of ratings that can be read, is remarked."""


def remarks(
    records: Sequence[Record], protocol: Settings, kept: Kept, analysed: Analysed
) -> dict[str, str]:
    """Return what there is to be said, by short names."""
    told = {
        "Tasks": _tasks(records),
        "Judges": "; ".join(_judges(records, protocol)),
        "Discarded": _discarded(kept),
        "Reused": _reused(kept),
        "Echoes": echoes.note(analysed),
        "Tables": "; ".join(table.remark for table in analysed.tables if table.remark),
    }
    return {name: text for name, text in told.items() if text}


def judged_by(protocol: Settings) -> str:
    """Return who judges, and whether contestants judge their own answers."""
    every = protocol.panel == protocol.models
    own = [name for name in protocol.panel if name in protocol.models]
    themselves = ", its own answers too" if protocol.self_judgement else ", not its own answers"
    if len(own) < len(protocol.panel):
        one = len(own) == 1
        verb = f"also judge{'s' * one}"
        if not protocol.self_judgement:
            verb = f"{'does' if one else 'do'} not judge"
        themselves = f"; {', '.join(own)} {verb} {'its' if one else 'their'} own answers"
    elif not every and len(own) > 1:
        themselves = themselves.replace("its", "each its")
    return Statement(
        "remarks.judged_by",
        "{judges}{themselves}",
        judges="every model" if every else ", ".join(protocol.panel),
        themselves=themselves if own else "",
        panel=list(protocol.panel),
        own=own if protocol.self_judgement else [],
    )


def _tasks(records: Sequence[Record]) -> str:
    held = sum(record["task"] is not None for record in records)
    if not records or held > _FEW * len(records):
        return ""
    return Statement(
        "remarks.few_tasks",
        "iterations with a task: {found:,} of {iterations:,}; only these count: see why "
        "tasks were turned down in the report; autobench.mean_threshold and median_threshold say "
        "what passes",
        found=held,
        iterations=len(records),
    )


def _judges(records: Sequence[Record], protocol: Settings) -> Iterator[str]:
    """Yield who hardly gave a rating, and how those from outside, who have no line, did."""
    for judge, read in summary.parse_rates(records, protocol).items():
        if read.value is not None and read.value < _FEW:
            yield Statement(
                "remarks.unreadable",
                "of {judge}'s {ratings:,} ratings {share} could be read; only those count",
                judge=judge,
                ratings=read.n,
                share=_share(read),
            )
        elif judge not in protocol.models:
            yield Statement(
                "remarks.outsider",
                "{judge}, from outside: ratings read {share}",
                judge=judge,
                share=_share(read),
            )


def _share(read: Estimate) -> str:
    if read.value is None:
        return "none, for it was asked for none"
    bounds = "" if read.ci95 is None else f" [{read.ci95[0]:.2f}, {read.ci95[1]:.2f}]"
    return f"{read.value:.3f}{bounds}" if read.value else "none"


def _discarded(kept: Kept) -> str:
    took = kept.took
    if not took["discarded"]:
        return ""
    return Statement(
        "remarks.discarded",
        "{discarded:,} of {calls:,} calls: their tasks were not accepted after all",
        discarded=took["discarded"],
        calls=took["calls"],
    )


def _reused(kept: Kept) -> str:
    if kept.extended is None:
        return ""
    took, there = kept.took, len(kept.extended.replies)
    why = f": none of its {there:,} fits what was asked (models, sampling, prompts, limits)"
    return Statement(
        "remarks.reused",
        "{reused:,} of {calls:,} replies, of {folder}{why}",
        reused=took["reused"],
        calls=took["calls"],
        folder=kept.extended.folder,
        why="" if took["reused"] else why,
        there=there,
    )
