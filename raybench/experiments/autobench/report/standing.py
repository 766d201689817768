"""Where the models stand, and how sure it is who stands above whom."""

import math
from collections.abc import Iterator, Mapping, Sequence

from raybench.autobench import summary
from raybench.autobench.analysis import estimates
from raybench.autobench.analysis.resample import Resampled
from raybench.autobench.analysis.whole import Analysed
from raybench.experiments.autobench.report.texts import LONG
from raybench.experiments.parts import supported
from raybench.statements import Statement
from raybench.tracking import plots
from raybench.tracking.report import Section, Table
from raybench.types import Estimate


def sections(
    analysed: Analysed, metrics: Mapping[str, Mapping[str, Estimate]]
) -> Iterator[Section]:
    """Yield the scores with their intervals, how sure each order of two is, and which hold."""
    models = best_first(metrics)
    if text := support(analysed.found, metrics):
        yield Section(supported.TITLE, text)
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


def support(found: Resampled, metrics: Mapping[str, Mapping[str, Estimate]]) -> str:
    """Return, in words, which orders of two models hold; '' where too little is there to tell."""
    if found.ballots.distinct < estimates.FEWEST:
        return ""
    ranked = [it for it in best_first(metrics) if metrics[it][summary.SCORE].value is not None]
    sure = {(it, other) for it, of in estimates.surely(found).items() for other in of}
    how = "were the tasks others of the same kind; at 5 % by Holm's steps over all pairs"
    return Statement(
        "standing.support",
        "{orders} It is what these judges hold: others may see it otherwise, which no interval "
        "here knows.",
        orders=supported.orders(ranked, sure, how),
    )


def _above(analysed: Analysed, models: Sequence[str]) -> Iterator[Section]:
    found = analysed.found
    title = "Who stands above whom"
    if found.ballots.distinct < estimates.FEWEST:
        which = found.ballots.sources.by
        named = "iterations with a task" if which == "iteration" else "different tasks"
        yield Section(
            title,
            Statement(
                "standing.refused",
                "Refused: it takes {least} {what}, there are {there}.",
                least=estimates.FEWEST,
                what=named,
                there=found.ballots.distinct,
                by=which,
            ),
        )
        return
    sure, surely = estimates.above(found), estimates.surely(found)
    pairs, held = math.comb(len(models), 2), sum(map(len, surely.values()))
    yield Section(
        title,
        "How sure the model of the row stands above the model of the column, were the tasks others "
        "of the same kind: one minus the one-sided p of the difference, by Student's t with the "
        "spread of the bootstrap's draws. 0.50 is a toss-up; blank where the draws do not differ. "
        "It is no probability: where models are close, pairs at 0.90 are the other way round more "
        f"often than one in ten, and of {pairs:,} pairs some lie beyond 0.97 by luck. How far "
        "other judges could have changed the order it does not say.",
        figure=plots.heatmap(
            [[sure[row][column] for column in models] for row in models],
            rows=models,
            columns=models,
            label="one-sided confidence to stand above",
        ),
    )
    if pairs == 0:
        return
    yield Section(
        "Orders that hold",
        Statement(
            "standing.pairs",
            "{held:,} of {pairs:,} pairs hold by Holm's steps over all of them: where no two "
            "models differ, one run in twenty names any.",
            held=held,
            pairs=pairs,
        ),
        table=Table(
            ("model", "stands above", "which"),
            [
                (model, f"{len(surely[model])} of {len(models) - 1}", ", ".join(surely[model]))
                for model in models
            ],
        ),
        folded=f"Pairs of {len(models)} models" * (len(models) > LONG),
    )
