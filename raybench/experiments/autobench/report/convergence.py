"""How the judges' weights come to rest."""

from collections.abc import Iterator, Mapping, Sequence

from raybench.autobench import summary
from raybench.autobench.protocol import Record
from raybench.autobench.settings import Settings
from raybench.tracking import plots
from raybench.tracking.report import Section

FALLS = (
    "Scores are means over all iterations so far, so that it falls as 1/t by construction, with "
    "judges at random too: it says how little one more iteration can move, not that judges agree."
)
"""What to know of any distance between successive weights."""


def sections(records: Sequence[Record], protocol: Settings) -> Iterator[Section]:
    """Yield the weights over iterations and how far each moved them, where any can."""
    if protocol.weights == "uniform":
        return
    yield Section(
        "Judging weights",
        "Each judge's weight after every iteration: its share of the judges' scores. A judge "
        "without a score has the average weight.",
        figure=plots.lines(
            {judge: [record["weights"][judge] for record in records] for judge in protocol.panel},
            xlabel="iteration",
            ylabel="weight",
        ),
    )
    yield from moved(
        "L1 distance (the sum of absolute differences) between successive weight vectors. The "
        "leaderboard has the intervals of the weights.",
        {"L1": summary.convergence(records, protocol)},
    )


def moved(text: str, distances: Mapping[str, Sequence[float]]) -> Iterator[Section]:
    """Yield L1 distances over iterations, and what is left of them without their fall by 1/t."""
    yield Section(
        "Convergence",
        f"{text} {FALLS}",
        figure=plots.lines(distances, xlabel="iteration", ylabel="L1 distance"),
    )
    yield Section(
        "Convergence, without the fall by construction",
        "The same distance times the number of the iteration: roughly how far the weights of that "
        "iteration alone are from those of all earlier ones. A level line is expected. Low values "
        "mean that iterations agree, right or wrong; a trend means that judgments change.",
        figure=plots.lines(
            {
                name: [number * distance for number, distance in enumerate(of, start=1)]
                for name, of in distances.items()
            },
            xlabel="iteration",
            ylabel="iteration × L1 distance",
        ),
    )
