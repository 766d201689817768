"""What comes out of a run: metrics, counts, what needs a person's eye, the report."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from raybench.autobench import categories, judges, summary
from raybench.autobench.analysis import estimates
from raybench.autobench.analysis.resample import Resampled
from raybench.autobench.analysis.tables import Table
from raybench.autobench.analysis.whole import ALONE, analysed
from raybench.autobench.judges import Judge
from raybench.autobench.protocol import Record, counted
from raybench.autobench.settings import Settings
from raybench.config import Config
from raybench.experiments.autobench.remarks import judged_by, remarks
from raybench.experiments.autobench.report import agreement, sections
from raybench.experiments.autobench.reuse import Kept
from raybench.experiments.autobench.units import units as readable
from raybench.experiments.parts import digests
from raybench.experiments.parts.deviations import (
    AUTOBENCH_PAPER,
    DEVIATIONS,
    JUDGED,
    Deviation,
    note,
)
from raybench.experiments.parts.outcome import Outcome
from raybench.stats.joint import Joint
from raybench.tracking.leaderboard import Column
from raybench.types import Estimate

SCORE = Column(summary.SCORE, "Score (1-5)")
OF_JUDGES = (
    Column(summary.WEIGHT, "Judging weight", digits=4),
    Column(summary.PARSE_RATE, "Ratings read"),
)
PAIRS = "pairs.jsonl"
"""How sure each model stands above each other, and whether that order holds over all pairs."""
JUDGES = "judges.jsonl"
"""What can be said of every judge, contestant or not: results.json holds the contestants'."""


def concluded(
    records: Sequence[Record],
    protocol: Settings,
    kept: Kept,
    *,
    tables: Sequence[Table] = (),
    families: Mapping[str, str] = ALONE,
    deviations: Sequence[Deviation] = (),
) -> Outcome:
    """Conclude from the records of the journal, and from what its replies took.

    `tables` are what the order is compared with; `families` has the family of each judge;
    `deviations` are those from the paper's protocol.
    """
    whole = analysed(records, protocol, tables=tables, families=families)
    metrics, found = measured(records, protocol, whole.found)
    return Outcome(
        metrics=metrics,
        counts=summary.counts(records, protocol.models),
        failures=list(summary.failures(records)),
        columns=(SCORE, *(OF_JUDGES if {*protocol.panel} & {*protocol.models} else ())),
        sections=list(sections(records, protocol, metrics, found, whole, deviations)),
        units=readable(records, protocol),
        boards=list(agreement.boards(whole)),
        agreement=agreement.by_table(whole),
        joint=_together(metrics, whole.found),
        inputs=inputs(records, tables),
        about={
            "calls": kept.took,
            "weights_moved": summary.convergence(records, protocol),
            "judges": list(protocol.panel),
            "deviations": [it.to_json() for it in deviations],
        },
        notes={
            JUDGED: judged_by(protocol),
            DEVIATIONS: note(deviations, AUTOBENCH_PAPER),
            **remarks(records, protocol, kept, whole),
        },
        files={JUDGES: _rows(records, protocol, found), PAIRS: _pairs(whole.found)},
        mute=summary.silent(records, protocol.everybody),
        heard=summary.heard(records),
    )


def inputs(records: Sequence[Record], tables: Sequence[Table]) -> dict[str, str]:
    """Return the digests of the tasks that were asked, in their order, and of others' tables."""
    return {
        "autobench.asked": digests.of(record["task"] for record in records),
        **{f"autobench.external.{it.name}": digests.of([it.scores]) for it in tables},
    }


def measured(
    records: Sequence[Record], protocol: Settings, found: Resampled | None = None
) -> tuple[dict[str, dict[str, Estimate]], dict[str, Judge]]:
    """Return every contestant's metrics, and what can be said of every judge.

    `found` is the bootstrap of these records, where it has been made already.
    """
    played = list(counted(records, protocol))
    of_topics = categories.metrics(categories.categories(played, protocol), summary.SCORE)
    said = judges.statistics(played, protocol)
    of_judges = judges.metrics(said, protocol)
    metrics = {
        model: {**of, **of_judges.get(model, {}), **of_topics.get(model, {})}
        for model, of in summary.metrics(records, protocol, found).items()
    }
    return metrics, said


def _together(metrics: Mapping[str, Mapping[str, Estimate]], found: Resampled) -> Joint:
    """Return all scores, and how their errors go together: they answered the same tasks."""
    models = found.ballots.contestants
    scored = found.drawn.scores[:, ~np.isnan(found.scores)]
    whole = scored[~np.isnan(scored).any(axis=1)]
    covariance = np.zeros((len(models), len(models)))
    if len(whole) > 1:
        places = np.flatnonzero(~np.isnan(found.scores))
        covariance[np.ix_(places, places)] = np.cov(whole, rowvar=False)
    return Joint.of(SCORE.key, {model: metrics[model][SCORE.key] for model in models}, covariance)


def families_of(config: Config) -> dict[str, str]:
    """Return the family of every model of the roster, of those that only judge too."""
    every = (*config.roster.models, *config.roster.judges)
    return {model.name: model.spec().kin for model in every}


def _rows(
    records: Sequence[Record], protocol: Settings, found: Mapping[str, Judge]
) -> Iterator[dict[str, Any]]:
    parsed = summary.parse_rates(records, protocol)
    for name, judge in found.items():
        yield {"judge": name, "parse_rate": parsed[name].to_json(), **judge.to_json()}


def _pairs(found: Resampled) -> Iterator[dict[str, Any]]:
    surely = estimates.surely(found)
    for model, others in estimates.above(found).items():
        for other, sure in others.items():
            if other != model:
                holds = other in surely[model]
                yield {"model": model, "above": other, "confidence": sure, "holds": holds}
