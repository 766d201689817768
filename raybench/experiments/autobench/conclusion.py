"""What comes out of a run: metrics, counts, what needs a person's eye, the report."""

from collections.abc import Sequence

from raybench.autobench import summary
from raybench.autobench.protocol import Record
from raybench.autobench.settings import Settings
from raybench.experiments.autobench.report import sections
from raybench.experiments.autobench.reuse import Kept
from raybench.experiments.session import Outcome
from raybench.tracking.leaderboard import Column

COLUMNS = (
    Column(summary.SCORE, "Score (1-5)"),
    Column(summary.WEIGHT, "Judging weight"),
    Column(summary.PARSE_RATE, "Ratings read"),
)


def concluded(records: Sequence[Record], protocol: Settings, kept: Kept) -> Outcome:
    """Conclude from the records of the journal, and from what its replies took."""
    metrics = summary.metrics(records, protocol)
    return Outcome(
        metrics=metrics,
        counts=summary.counts(records, protocol.everybody),
        failures=list(summary.failures(records)),
        columns=COLUMNS,
        sections=sections(records, protocol, metrics),
        about={"calls": _calls(kept)},
        notes=_notes(kept),
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
