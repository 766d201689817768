"""What comes out of a run: metrics, counts, what needs a person's eye, the report."""

from collections.abc import Mapping, Sequence

from raybench.autobench import summary
from raybench.autobench.analysis.tables import Table, read
from raybench.autobench.analysis.whole import ALONE, analysed
from raybench.autobench.protocol import Record
from raybench.autobench.settings import Settings
from raybench.config import Config
from raybench.experiments.autobench.report import echoes, sections
from raybench.experiments.session import Outcome
from raybench.tracking.leaderboard import Column

COLUMNS = (
    Column(summary.SCORE, "Score (1-5)"),
    Column(summary.WEIGHT, "Judging weight"),
    Column(summary.PARSE_RATE, "Ratings read"),
)


def concluded(
    records: Sequence[Record],
    protocol: Settings,
    *,
    tables: Sequence[Table] = (),
    families: Mapping[str, str] = ALONE,
) -> Outcome:
    """Conclude from the records of the journal.

    `tables` are what the order is compared with; `families` has the family of each judge.
    """
    found = analysed(records, protocol, tables=tables, families=families)
    metrics = summary.metrics(records, protocol, found.found)
    warned = echoes.note(found)
    return Outcome(
        metrics=metrics,
        counts=summary.counts(records, protocol.models),
        failures=list(summary.failures(records)),
        columns=COLUMNS,
        sections=sections(records, protocol, metrics, found),
        notes={"Echoes": warned} if warned else {},
    )


def tables_of(config: Config) -> tuple[Table, ...]:
    """Read the tables that the order is to be compared with."""
    models = [model.name for model in config.roster.models]
    return tuple(read(name, path, models) for name, path in config.autobench.external.items())


def families_of(config: Config) -> dict[str, str]:
    """Return the family of every model of the roster, of those that only judge too."""
    every = (*config.roster.models, *config.roster.judges)
    return {model.name: model.spec().kin for model in every}
