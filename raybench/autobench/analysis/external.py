"""How far an assessment's order agrees with another benchmark's: the paper's Table 1.

Each correlation has two intervals. One is over iterations: these models, other tasks. The other
also draws the models anew: other models of the same kind, too; it is the wider by far. Both reach
to where the correlation would be if every pair of models whose order does not hold after so few
iterations stood as the table has it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from raybench.autobench.analysis import bounds
from raybench.autobench.analysis.ballots import Flags, Floats
from raybench.autobench.analysis.estimates import confidence
from raybench.autobench.analysis.resample import Resampled
from raybench.autobench.analysis.tables import FEWEST, Table
from raybench.autobench.analysis.variants import Variant
from raybench.statements import Statement
from raybench.stats.ranks import Correlation, furthest, holds, kendall, order, spearman
from raybench.types import Estimate


@dataclass(frozen=True)
class Agreement:
    """A correlation with a table, and how far the run's own rule is ahead of the variant."""

    iterations: Estimate
    """With the interval over iterations, the models as they are."""
    models: Estimate
    """With the interval over iterations and models."""
    ahead: Estimate | None
    """The run's own correlation less the variant's, over the same models and draws. None for the
    run itself."""


@dataclass(frozen=True)
class Compared:
    """A variant beside a table."""

    variant: str
    table: str
    kendall: Agreement
    spearman: Agreement


def compared(
    found: Sequence[Variant], tables: Sequence[Table], *, seed: int = 0
) -> tuple[Compared, ...]:
    """Correlate each variant's scores with each table's; the first variant is the run itself."""
    if not found:
        return ()
    return tuple(_compared(variant, found[0], table, seed) for variant in found for table in tables)


def _compared(variant: Variant, full: Variant, table: Table, seed: int) -> Compared:
    places, theirs = _common(variant.found, full.found, table.scores)
    if refusal := _refusal(_settled(variant.found.scores[places]), theirs, table.name):
        refused = Estimate(None, None, None, len(places), refusal)
        both = Agreement(refused, refused, None if variant is full else refused)
        return Compared(variant.name, table.name, both, both)
    orders = _orders(variant.found, None if variant is full else full.found, places, theirs, seed)
    return Compared(
        variant.name,
        table.name,
        _agreement("Kendall's τ-b", kendall, orders),
        _agreement("Spearman's ρ", spearman, orders),
    )


@dataclass(frozen=True, eq=False)
class _Orders:
    """Who stands above whom, of the models that all three know."""

    table: Floats
    ours: Floats
    drawn: Floats
    holds: Flags
    """Which pairs of ours do."""
    full: tuple[Floats, Floats] | None
    """The run's own, and drawn. None for the run itself."""
    others: tuple[Floats, Floats]
    """Ours and the table's, of models drawn anew."""
    tasks: int
    over: str
    """What was drawn."""
    beside: str
    """How the variant's draws lie to the run's own."""


def _orders(
    variant: Resampled, full: Resampled | None, places: list[int], theirs: Floats, seed: int
) -> _Orders:
    scores = _settled(variant.drawn.scores[:, places])
    models = np.random.default_rng(seed).integers(0, len(places), scores.shape)
    return _Orders(
        order(theirs),
        order(_settled(variant.scores[places])),
        order(scores),
        holds(confidence(variant)[np.ix_(places, places)]),
        None
        if full is None
        else (order(_settled(full.scores[places])), order(_settled(full.drawn.scores[:, places]))),
        (order(np.take_along_axis(scores, models, 1)), order(theirs[models])),
        variant.ballots.distinct,
        f"bootstrap over {variant.ballots.sources.over('iterations')}",
        "paired"
        if full is None or variant.ballots.sources.by == full.ballots.sources.by
        else "drawn apart",
    )


def _agreement(name: str, correlation: Correlation, of: _Orders) -> Agreement:
    n, tasks = len(of.table), of.tasks
    value = float(correlation(of.ours, of.table))
    drawn, others = correlation(of.drawn, of.table), correlation(*of.others)
    far = furthest(correlation, of.ours, of.table, of.holds)
    ahead = None
    if of.full is not None:
        own, own_drawn = of.full
        ahead = bounds.estimate(
            f"difference of {name}, {of.beside}",
            float(correlation(own, of.table)) - value,
            correlation(own_drawn, of.table) - drawn,
            n,
            tasks,
            over=of.over,
            within=(-2.0, 2.0),
        )
    return Agreement(
        bounds.estimate(name, value, drawn, n, tasks, over=of.over, furthest=far),
        bounds.estimate(name, value, others, n, tasks, over=f"{of.over} and models", furthest=far),
        ahead,
    )


def _common(
    variant: Resampled, full: Resampled, theirs: Mapping[str, float]
) -> tuple[list[int], Floats]:
    """Return the places of the models that all three know, and the table's scores of them."""
    models = variant.ballots.contestants
    known = ~np.isnan(variant.scores) & ~np.isnan(full.scores)
    places = [at for at, model in enumerate(models) if model in theirs and known[at]]
    return places, np.array([theirs[models[at]] for at in places], dtype=np.float64)


def _refusal(ours: Floats, theirs: Floats, table: str) -> str:
    if len(theirs) < FEWEST:
        return Statement(
            "refused.few_in_table",
            "not computed: fewer than {least} models have a score here and in {table}",
            least=FEWEST,
            table=table,
        )
    if np.ptp(theirs) == 0:
        return Statement(
            "refused.table_equal", "not computed: all models score the same in {table}", table=table
        )
    if np.ptp(ours) == 0:
        return Statement("refused.scores_equal", "not computed: all models score the same here")
    return ""


def _settled(scores: Floats) -> Floats:
    """Return scores in which those apart by rounding alone are equal."""
    return np.round(scores, 9)
