"""Where the models stand, and how sure it is who stands above whom."""

from collections.abc import Iterator, Mapping, Sequence

from raybench.autobench import summary
from raybench.autobench.analysis import estimates
from raybench.autobench.analysis.whole import Analysed
from raybench.tracking import plots
from raybench.tracking.report import Section
from raybench.types import Estimate


def sections(
    analysed: Analysed, metrics: Mapping[str, Mapping[str, Estimate]]
) -> Iterator[Section]:
    """Yield the scores with their intervals, and the chance of each order of two."""
    models = best_first(metrics)
    yield Section(
        "Consensus scores",
        "Mean over iterations of the weighted ratings of each model's answers, with 95 % "
        "intervals: a bootstrap over iterations that replays the weights along each draw. "
        "Intervals of two models may overlap although their order is sure, because hard tasks are "
        "hard for both: the next section says how sure it is.",
        figure=plots.forest(
            {model: metrics[model][summary.SCORE].to_json() for model in models},
            xlabel="score (1-5)",
        ),
    )
    yield from _above(analysed, models)


def best_first(metrics: Mapping[str, Mapping[str, Estimate]]) -> list[str]:
    """Return the models in the leaderboard's order."""
    return sorted(metrics, key=lambda model: -(metrics[model][summary.SCORE].value or 0))


def _above(analysed: Analysed, models: Sequence[str]) -> Iterator[Section]:
    found = analysed.found
    title = "Who stands above whom"
    if found.ballots.distinct < estimates.FEWEST:
        which = found.ballots.sources.by
        named = "iterations with a task" if which == "iteration" else "different tasks"
        yield Section(
            title,
            f"Refused: it takes {estimates.FEWEST} {named}, there are {found.ballots.distinct}.",
        )
        return
    shares = estimates.above(found)
    yield Section(
        title,
        "How likely the model of the row stands above the model of the column, were the tasks "
        "others of the same kind: 0.50 is a toss-up. By Student's t of the difference, with the "
        "spread of the bootstrap's draws. How far other judges could have changed the order it "
        "does not say.",
        figure=plots.heatmap(
            [[shares[row][column] for column in models] for row in models],
            rows=models,
            columns=models,
            label="chance to stand above",
        ),
    )
