"""What the report of a peer assessment shows."""

from collections.abc import Iterator, Mapping, Sequence

from raybench.autobench import summary
from raybench.autobench.analysis.whole import Analysed
from raybench.autobench.judges import Judge
from raybench.autobench.protocol import Record
from raybench.autobench.settings import Settings
from raybench.experiments.autobench.deviations import section
from raybench.experiments.autobench.report import (
    categories,
    convergence,
    echoes,
    judges,
    reading,
    standing,
    tasks,
    validation,
)
from raybench.experiments.parts.deviations import Deviation
from raybench.tracking.report import Section
from raybench.types import Estimate


def sections(
    records: Sequence[Record],
    protocol: Settings,
    metrics: Mapping[str, Mapping[str, Estimate]],
    found: Mapping[str, Judge],
    analysed: Analysed,
    deviations: Sequence[Deviation] = (),
) -> Iterator[Section]:
    """Yield the sections of the report: who is how good, who said so, about what, and the texts."""
    best_first = sorted(
        protocol.models, key=lambda model: -(metrics[model][summary.SCORE].value or 0)
    )
    yield from standing.sections(analysed, metrics)
    yield section(deviations)
    yield from validation.sections(analysed, metrics, best_first)
    yield from categories.sections(records, protocol, metrics, best_first)
    yield from convergence.sections(records, protocol)
    yield from judges.sections(records, protocol, found, best_first)
    yield from echoes.sections(analysed)
    yield from tasks.sections(records, protocol)
    yield from reading.sections(records, protocol)
