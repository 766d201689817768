"""How far the order agrees with tables from elsewhere, as run and under other rules."""

from collections.abc import Iterator, Mapping, Sequence

from raybench.autobench import summary
from raybench.autobench.analysis.external import Compared
from raybench.autobench.analysis.variants import FULL
from raybench.autobench.analysis.whole import Analysed
from raybench.experiments.autobench.report.texts import LONG
from raybench.tracking.report import Section, Table
from raybench.types import Estimate

TITLE = "Agreement with other tables"
SCORES = "Scores in the other tables"
_TASKS = (
    "Every row is made from the same ratings; the tasks stay those that were accepted in the run."
)


def sections(
    analysed: Analysed, metrics: Mapping[str, Mapping[str, Estimate]], models: Sequence[str]
) -> Iterator[Section]:
    """Yield the paper's Tables 1 and 3, where tables were given to compare with.

    `models` are in the leaderboard's order.
    """
    if not analysed.tables:
        return
    yield Section(
        TITLE,
        "Kendall's τ and Spearman's ρ of the scores with each table's, as run and as other rules "
        f"would have made them. {_TASKS}",
        table=Table(_columns(analysed), _rows(analysed, "iterations"), _caption(analysed)),
    )
    yield Section(
        "Agreement, were the models others too",
        "The same correlations, with intervals that also draw the models anew: what they would be "
        "over other models of the same kind.",
        table=Table(_columns(analysed), _rows(analysed, "models")),
        folded="Intervals over iterations and models",
    )
    yield Section(
        SCORES,
        "The scores of this run with those of the other tables, as their files have them.",
        table=Table(
            ("model", "AutoBench", *(table.name for table in analysed.tables)),
            [
                (
                    model,
                    metrics[model][summary.SCORE],
                    *(table.scores.get(model) for table in analysed.tables),
                )
                for model in models
            ],
        ),
        folded=f"Scores of {len(models)} models" * (len(models) > LONG),
    )
    if len(analysed.variants) > 1:
        yield Section(
            "What the full protocol adds",
            "The correlation as run less that under each other rule, over the same models and the "
            "same draws. Above 0, the protocol as run agrees better with the table.",
            table=Table(_columns(analysed), _rows(analysed, "ahead")),
            folded="Differences, in pairs",
        )


def _columns(analysed: Analysed) -> list[str]:
    names = (table.name for table in analysed.tables)
    return ["Rule", *(f"{sign}, {name}" for name in names for sign in ("τ", "ρ"))]


def _rows(analysed: Analysed, which: str) -> list[list[str | Estimate | None]]:
    by = {(found.variant, found.table): found for found in analysed.compared}
    rows: list[list[str | Estimate | None]] = []
    for variant in analysed.variants:
        if which == "ahead" and variant.name == FULL:
            continue
        row: list[str | Estimate | None] = [
            f"{variant.name} ({variant.note})" if variant.note else variant.name
        ]
        for table in analysed.tables:
            row += _pair(by[variant.name, table.name], which)
        rows.append(row)
    return rows


def _pair(found: Compared, which: str) -> list[Estimate | None]:
    return [getattr(found.kendall, which), getattr(found.spearman, which)]


FEW = (
    "Few iterations lower a correlation: where models are close, the true one is higher (or lower, "
    "below 0). So intervals reach to where it would be if every pair whose order does not hold by "
    "Holm's steps stood as the table has it."
)
"""What a correlation of few iterations is worth."""


def _caption(analysed: Analysed) -> str:
    told = [
        f"Intervals: 95 %, {_method(analysed)}: these models, other tasks. A rule under "
        "which a model has no score is compared without that model.",
        FEW,
        *(f"{table.remark}." for table in analysed.tables if table.remark),
    ]
    return " ".join(told)


def _method(analysed: Analysed) -> str:
    return f"bootstrap over iterations with {len(analysed.found.drawn.scores):,} draws"
