"""What comes out of a run: scores under each variant, Table 1, the report."""

from collections.abc import Mapping, Sequence
from typing import Any

from raybench.autobench import summary
from raybench.autobench.analysis.tables import Table
from raybench.config.autobench_ablations import FIXED, FULL, WORDS
from raybench.experiments.autobench import conclusion as plain
from raybench.experiments.autobench.deviations import section
from raybench.experiments.autobench.remarks import judged_by
from raybench.experiments.autobench_ablations.comparison import Comparison, Played
from raybench.experiments.autobench_ablations.report import sections
from raybench.experiments.autobench_ablations.units import units
from raybench.experiments.parts.deviations import (
    AUTOBENCH_PAPER,
    DEVIATIONS,
    JUDGED,
    Deviation,
    note,
)
from raybench.experiments.parts.outcome import Outcome, silent
from raybench.tracking.leaderboard import Board, Column
from raybench.types import Estimate

FILE = "ablations.jsonl"
"""A line for each variant: what results.json says of it."""
_ORDER = "order"


def concluded(
    played: Sequence[Played], tables: Sequence[Table], deviations: Sequence[Deviation] = ()
) -> Outcome:
    """Conclude from the variants, the full protocol first; `deviations` are its own."""
    full, comparison = played[0], Comparison(played, tables)
    metrics, _ = plain.measured(full.records, full.settings)
    of_variants = {it.name: comparison.scores(it) for it in comparison.played if it.name != FULL}
    rows = [comparison.to_json(it) for it in played]
    failures = [
        {"variant": it.name, **failure} for it in played for failure in summary.failures(it.records)
    ]
    return Outcome(
        metrics={
            model: {
                **of,
                **{score_of(name): scores[model] for name, scores in of_variants.items()},
            }
            for model, of in metrics.items()
        },
        counts=summary.counts(full.records, full.settings.models),
        failures=failures,
        columns=(
            plain.SCORE,
            *(Column(score_of(name), WORDS[name]) for name in of_variants),
        ),
        boards=[board(comparison)],
        sections=[*sections(comparison), section(deviations)],
        inputs=plain.inputs([record for it in played for record in it.records], tables),
        units=units(played),
        about={
            "ablations": {row["variant"]: row for row in rows},
            "judges": list(full.settings.panel),
            "deviations": [it.to_json() for it in deviations],
        },
        notes={
            JUDGED: judged_by(full.settings),
            DEVIATIONS: note(deviations, AUTOBENCH_PAPER),
            **_notes(played),
        },
        files={FILE: rows},
        mute=_mute(played, failures),
    )


def score_of(name: str) -> str:
    """Return the metric of a contestant's score under a variant."""
    return f"autobench_ablations/{name}/score"


def board(comparison: Comparison) -> Board:
    """Return the variants as the lines of a leaderboard: Table 1, as the terminal shows it."""
    rows: dict[str, Mapping[str, Estimate]] = {}
    columns: dict[str, str] = {}
    for played in comparison.played:
        row: dict[str, Estimate] = {}
        for table in comparison.tables:
            found = comparison.external(played, table)
            for sign, it in (("τ", found.kendall), ("ρ", found.spearman)):
                columns[f"{sign}/{table.name}"] = f"{sign}, {table.name}"
                row[f"{sign}/{table.name}"] = it.iterations
        order = comparison.order(played)
        row[_ORDER] = _itself(played) if order is None else order.kendall.iterations
        row["found"], row["parsed"] = played.found, played.parsed
        rows[played.label] = row
    columns |= {_ORDER: "τ, full protocol", "found": "found a task", "parsed": "ratings read"}
    return Board(
        "Ablations: agreement of each variant's scores",
        rows,
        [Column(key, title) for key, title in columns.items()],
        of="variant",
    )


def _itself(full: Played) -> Estimate:
    return Estimate(1.0, None, None, len(full.settings.models), "the order itself")


def _notes(played: Sequence[Played]) -> dict[str, str]:
    """Return what the variants took, and what they had in common."""
    took = {it.label: it.took for it in played}
    told = {
        "Asked": "; ".join(
            f"{label} {of['asked']:,} of {of['calls']:,}" for label, of in took.items()
        )
        + " calls anew, the others shared with variants before"
    }
    if discarded := sum(of["discarded"] for of in took.values()):
        every = sum(of["calls"] for of in took.values())
        told["Discarded"] = (
            f"{discarded:,} of {every:,} calls: their tasks were not accepted after all"
        )
    fixed = [
        it for it in played if it.name == FIXED and it.standing.scores == played[0].standing.scores
    ]
    if fixed:
        told["Fixed tasks"] = (
            "every score is that of the full protocol, to the last digit: these models do not read "
            "what they are asked, as stand-ins do not, and the line says nothing about tasks"
        )
    if reused := sum(of["reused"] for of in took.values()):
        told["Reused"] = f"{reused:,} replies, of the run that this one extends"
    return told


def _mute(played: Sequence[Played], failures: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the judges from outside of which no word ever came."""
    found: dict[str, str] = {}
    for each in played:
        outsiders = [it for it in each.settings.panel if it not in each.settings.models]
        found |= silent(summary.counts(each.records, outsiders), failures)
    return found
