"""How the judges' weights come to rest."""

from collections.abc import Iterator, Sequence

from raybench.autobench import summary
from raybench.autobench.protocol import Record
from raybench.autobench.settings import Settings
from raybench.tracking import plots
from raybench.tracking.report import Section


def sections(records: Sequence[Record], protocol: Settings) -> Iterator[Section]:
    """Yield the weights over iterations and how far each moved them, where any can."""
    if protocol.weights == "uniform":
        return
    yield Section(
        "Judging weights",
        "Each judge's weight after every iteration: its share of the judges' scores. One without a "
        "score of its own weighs as much as the average.",
        figure=plots.lines(
            {judge: [record["weights"][judge] for record in records] for judge in protocol.panel},
            xlabel="iteration",
            ylabel="weight",
        ),
    )
    yield Section(
        "Convergence",
        "L1 distance between successive weight vectors; it falls as the consensus settles.",
        figure=plots.lines(
            {"L1": summary.convergence(records, protocol)},
            xlabel="iteration",
            ylabel="L1 distance",
        ),
    )
