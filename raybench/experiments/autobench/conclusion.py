"""What comes out of a run: metrics, counts, what needs a person's eye, the report."""

from collections.abc import Sequence

from raybench.autobench import categories, judges, summary
from raybench.autobench.protocol import Record
from raybench.autobench.ratings import steps
from raybench.autobench.settings import Settings
from raybench.experiments.autobench.report import sections
from raybench.experiments.autobench.reuse import Kept
from raybench.experiments.session import Outcome, silent
from raybench.tracking.leaderboard import Column

COLUMNS = (
    Column(summary.SCORE, "Score (1-5)"),
    Column(summary.WEIGHT, "Judging weight"),
    Column(summary.PARSE_RATE, "Ratings read"),
)
JUDGES = "judges.jsonl"
"""What can be said of every judge, contestant or not: results.json holds the contestants'."""


def concluded(records: Sequence[Record], protocol: Settings, kept: Kept) -> Outcome:
    """Conclude from the records of the journal, and from what its replies took."""
    played = list(steps(records, protocol))
    found = judges.statistics(played, protocol)
    of_topics = categories.metrics(categories.categories(played, protocol), summary.SCORE)
    of_judges = judges.metrics(found, protocol)
    metrics = {
        model: {**of, **of_judges.get(model, {}), **of_topics.get(model, {})}
        for model, of in summary.metrics(records, protocol).items()
    }
    parsed = summary.parse_rates(records, protocol)
    rows = [
        {"judge": name, "parse_rate": parsed[name].to_json(), **judge.to_json()}
        for name, judge in found.items()
    ]
    outsiders = [judge for judge in protocol.panel if judge not in protocol.models]
    failures = list(summary.failures(records))
    return Outcome(
        metrics=metrics,
        counts=summary.counts(records, protocol.models),
        failures=failures,
        columns=COLUMNS,
        sections=list(sections(records, protocol, metrics, found)),
        about={"calls": _calls(kept)},
        notes=_notes(kept),
        files={JUDGES: rows},
        mute=silent(summary.counts(records, outsiders), failures),
    )


def _calls(kept: Kept) -> dict[str, int]:
    return {name: kept.total(name) for name in ("calls", "discarded", "reused")}


def _notes(kept: Kept) -> dict[str, str]:
    """Return what has to be said of the calls, where there is something."""
    calls, discarded, reused = _calls(kept).values()
    notes = {}
    if discarded:
        notes["Discarded"] = (
            f"{discarded:,} of {calls:,} calls: their tasks were not accepted after all"
        )
    if reused:
        notes["Reused"] = f"{reused:,} of {calls:,} replies, of the run that this one extends"
    return notes
