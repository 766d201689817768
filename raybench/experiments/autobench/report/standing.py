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
        "Two intervals may overlap although the models differ, because hard tasks lower both "
        "scores: the next section compares pairs.",
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
    how = "over tasks of this kind, at 5 %, Holm-corrected for all pairs"
    return Statement(
        "standing.support",
        "{orders} Other judges may rank the models differently; no interval here covers that.",
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
        "Confidence that the model of the row scores higher than the model of the column over "
        "tasks of this kind: one minus the one-sided p of the difference (Student's t with the "
        "bootstrap spread). 0.50 is a toss-up; blank where the bootstrap draws do not differ. It "
        "is not a probability: for close models a pair at 0.90 is wrong more often than one time "
        f"in ten, and some of {pairs:,} pairs exceed 0.97 by chance. Other judges are not covered.",
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
            "{held:,} of {pairs:,} pairs differ at 5 %, corrected for all pairs (Holm): if no two "
            "models differed, one run in twenty would name a pair.",
            held=held,
            pairs=pairs,
        ),
        table=Table(
            ("model", "stands above", "which"),
            [
                (
                    model,
                    f"{len(surely[model])} of {len(models) - 1}",
                    ", ".join(surely[model]) or "—",
                )
                for model in models
            ],
        ),
        folded=f"Pairs of {len(models)} models" * (len(models) > LONG),
    )
