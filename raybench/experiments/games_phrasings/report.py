"""What the report shows: ratings by phrasing, how far they lie apart, how far orders agree."""

from collections.abc import Iterator
from typing import Any

from raybench.experiments.games_phrasings import findings
from raybench.experiments.games_phrasings.comparison import Comparison
from raybench.experiments.parts import supported
from raybench.stats.orders import Orders
from raybench.tracking import plots
from raybench.tracking.report import Section, Table, Value


def sections(comparison: Comparison) -> Iterator[Section]:
    """Yield the ratings of all tournaments, and what wording does to them."""
    yield Section(supported.TITLE, findings.support(comparison))
    yield _ratings(comparison)
    yield _spread(comparison)
    yield _orders(comparison)


def _ratings(comparison: Comparison) -> Section:
    wordings = [it.label for it in comparison.cells if it.stage == comparison.stages[0]]
    titles = {it: f"{it} optimisation" for it in comparison.stages}
    panels = {
        titles[stage]: {
            model: [
                comparison.rating(cell, model).to_json()
                for cell in comparison.cells
                if cell.stage == stage
            ]
            for model in comparison.models
        }
        for stage in comparison.stages
    }
    return Section(
        "Ratings by phrasing",
        "Each point is a tournament of its own: the same models, games, seats and seeds, with "
        "rules and tasks in other words. A level line belongs to a model whose rating does not "
        "hang on these. 95 % intervals are those of each rating by itself; as all tournaments have "
        "the same matches, differences are surer than they seem.",
        figure=plots.across(panels, wordings, "phrasing", "rating"),
        table=Table(
            ("Model", *(f"{cell.stage}, {cell.label}" for cell in comparison.cells)),
            [
                (model, *(comparison.rating(cell, model) for cell in comparison.cells))
                for model in comparison.models
            ],
            digits=0,
        ),
    )


def _spread(comparison: Comparison) -> Section:
    stages, several = comparison.stages, comparison.before_and_after
    heads = [name for stage in stages for name in (f"Spread {stage}", f"with chance, {stage}")]

    def row(name: str, model: str | None) -> list[Value]:
        values: list[Value] = [name]
        for stage in stages:
            values += [comparison.spread(stage, model), comparison.raw(stage, model).value]
        return [*values, comparison.change(model)] if several else values

    return Section(
        "How far ratings lie apart",
        "The standard deviation of a model's rating over phrasings, in points. So many matches set "
        "ratings apart by chance alone, which the column beside has and the spread has not: what "
        "wording moves by one group of matches is multiplied with what it moves by another one, "
        "whose chance is its own. It is 0 on average where wording does not matter. It is of these "
        "phrasings: others may move ratings by more or less.",
        figure=plots.versus({"spread over phrasings, points": _spreads(comparison)}),
        table=Table(
            ("Model", *heads, *(["Change"] if several else [])),
            [
                row("all, root of the mean square", None),
                *(row(model, model) for model in comparison.models),
            ],
            digits=0,
        ),
    )


def _spreads(comparison: Comparison) -> dict[str, dict[str, dict[str, Any]]]:
    """Return every model's spread by stages."""
    return {
        f"{stage} optimisation": {
            model: comparison.spread(stage, model).to_json() for model in comparison.models
        }
        for stage in comparison.stages
    }


def _orders(comparison: Comparison) -> Section:
    def row(name: str, of: Orders) -> list[Value]:
        return [name, of.between, of.same, of.other, of.lost]

    rows = [row(f"{it} optimisation", comparison.orders[it]) for it in comparison.stages]
    if comparison.before_and_after:
        rows.append(row("after less before", comparison.orders_changed))
    return Section(
        "How far orders agree",
        "Kendall's τ of the order of models, 1 where two are the same. Two phrasings are compared "
        "by the same matches; then by halves of the matches, against what a phrasing agrees with "
        "itself by halves. The last column is what another phrasing takes of that: 0 on average "
        "where wording does not matter. Halves know less than all matches do, so that their τ lies "
        "lower.",
        table=Table(
            ("Stage", "two phrasings, same matches", "one phrasing, halves",
             "two phrasings, halves", "lost to phrasing"),
            rows,
            digits=2,
        ),
    )  # fmt: skip
