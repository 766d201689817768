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
        "Each judge's weight after every iteration: its share of the judges' scores. One without a "
        "score of its own weighs as much as the average.",
        figure=plots.lines(
            {judge: [record["weights"][judge] for record in records] for judge in protocol.panel},
            xlabel="iteration",
            ylabel="weight",
        ),
    )
    yield from moved(
        "L1 distance between successive weight vectors; how sure a weight is, its interval in the "
        "leaderboard says.",
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
        "The same times the number of the iteration: about how far the weights of that iteration "
        "alone lie from those of all before it. Level is what to expect. Low is iterations that "
        "say much the same, be they right or not; a trend is judgments that change on the way.",
        figure=plots.lines(
            {
                name: [number * distance for number, distance in enumerate(of, start=1)]
                for name, of in distances.items()
            },
            xlabel="iteration",
            ylabel="iteration × L1 distance",
        ),
    )
