"""What the variants tell, in plain words: of the models, of the rules, and of the tables."""

from collections.abc import Iterator, Sequence

from raybench.autobench import summary
from raybench.autobench.analysis.tables import Table
from raybench.experiments.autobench.report import standing
from raybench.experiments.autobench_ablations.comparison import Comparison, Played
from raybench.statements import Statement


def told(comparison: Comparison) -> str:
    """Return which orders hold under the full protocol, and what other rules change."""
    return "\n".join([*_models(comparison), *_rules(comparison), *_tables(comparison)])


def _models(comparison: Comparison) -> Iterator[str]:
    full = comparison.played[0]
    scores = {model: {summary.SCORE: it} for model, it in comparison.scores(full).items()}
    text = standing.support(comparison.found.played[0].found, scores)
    if text:
        yield Statement(
            "ablations.models", "The models, under the full protocol: {orders}", orders=text
        )
    else:
        yield Statement(
            "ablations.too_few",
            "Of the models nothing is told: too few iterations of the full protocol found a task.",
        )


def _rules(comparison: Comparison) -> Iterator[str]:
    """Yield which variant orders the models least as the full protocol does."""
    found = {
        it.label: order.kendall.iterations
        for it in comparison.played
        if (order := comparison.order(it)) is not None
        and order.kendall.iterations.value is not None
    }
    if not found:
        return
    label, least = min(found.items(), key=lambda it: it[1].value or 0.0)
    ends = f", 95 % from {least.ci95[0]:.2f} to {least.ci95[1]:.2f}" if least.ci95 else ""
    yield Statement(
        "ablations.rules",
        "The rules: of {variants} variants none orders the models less as the full protocol does "
        "than '{variant}' (Kendall's τ {tau:.2f}{ends}).",
        variants=len(found),
        variant=label,
        tau=least.value,
        ends=ends,
    )


def _tables(comparison: Comparison) -> Iterator[str]:
    """Yield with which tables the full protocol agrees better than variants do, or worse."""
    others = comparison.played[1:]
    for table in comparison.tables if others else ():
        signs = {it.label: _sign(comparison, it, table) for it in others}
        told = [
            f"{how} than {_listed([label for label, it in signs.items() if it == sign])}"
            for sign, how in ((1, "better"), (-1, "worse"))
            if sign in signs.values()
        ]
        open_ = sum(it == 0 for it in signs.values())
        yield Statement(
            "ablations.table",
            "The table '{table}': {agrees}{untold}That is by Kendall's τ, where the interval of "
            "the difference excludes 0: each at 5 %.",
            table=table.name,
            agrees=f"the full protocol agrees with it {' and '.join(told)}. " if told else "",
            untold=f"Of {open_} of {len(signs)} variants nothing is told. " if open_ else "",
            signs=signs,
        )


def _sign(comparison: Comparison, played: Played, table: Table) -> int:
    """Return 1 where the full protocol agrees better, -1 where worse, 0 where it is not told."""
    ahead = comparison.external(played, table).kendall.ahead
    if ahead is None or ahead.ci95 is None:
        return 0
    low, high = ahead.ci95
    return 1 if low > 0 else -1 if high < 0 else 0


def _listed(labels: Sequence[str]) -> str:
    return ", ".join(f"'{it}'" for it in labels)
