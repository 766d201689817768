"""What comes out of a run: metrics, counts, what needs a person's eye, the report."""

from collections.abc import Sequence

from raybench.autobench import summary
from raybench.autobench.protocol import Record
from raybench.autobench.settings import Settings
from raybench.experiments.autobench.report import sections
from raybench.experiments.session import Outcome
from raybench.tracking.leaderboard import Column

COLUMNS = (
    Column(summary.SCORE, "Score (1-5)"),
    Column(summary.WEIGHT, "Judging weight"),
    Column(summary.PARSE_RATE, "Ratings read"),
)


def concluded(records: Sequence[Record], protocol: Settings) -> Outcome:
    """Conclude from the records of the journal."""
    metrics = summary.metrics(records, protocol)
    return Outcome(
        metrics=metrics,
        counts=summary.counts(records, protocol.models),
        failures=list(summary.failures(records)),
        columns=COLUMNS,
        sections=sections(records, protocol, metrics),
    )
