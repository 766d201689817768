"""What the report shows: Table 1, how weights come to rest, and where the models stand."""

from collections.abc import Iterator
from typing import Any

from raybench.autobench.analysis.beside import authority
from raybench.autobench.analysis.external import Agreement, Compared
from raybench.autobench.standing import judging_weights
from raybench.experiments.autobench.report.convergence import moved
from raybench.experiments.autobench.report.validation import FEW
from raybench.experiments.autobench_ablations import findings
from raybench.experiments.autobench_ablations.comparison import Comparison, Played
from raybench.experiments.parts import supported
from raybench.statements import Statement
from raybench.tracking import plots
from raybench.tracking.report import Section, Table, Value
from raybench.types import Estimate

_BOTH = (("τ", "kendall"), ("ρ", "spearman"))


def sections(comparison: Comparison) -> Iterator[Section]:
    """Yield how the variants compare, and then each one's leaderboard."""
    yield Section(supported.TITLE, findings.told(comparison))
    if comparison.tables:
        yield from _table_1(comparison)
    yield _order(comparison)
    yield from _convergence(comparison)
    yield _took(comparison)
    for played in comparison.played:
        yield _leaderboard(comparison, played)


def _table_1(comparison: Comparison) -> Iterator[Section]:
    tables = comparison.tables
    heads = [f"{sign}, {table.name}" for table in tables for sign, _ in _BOTH]
    rows: list[list[Value]] = []
    for played in comparison.played:
        rows.append([played.label])
        again: list[Value] = [f"{played.label}, replayed"]
        for table in tables:
            rows[-1] += _pair(comparison.external(played, table))
            if (found := comparison.replayed(played, table)) is not None:
                again += _pair(found)
        if len(again) > 1:
            rows.append(again)
    missing = [f"{table.remark}." for table in tables if table.remark]
    yield Section(
        "Agreement with other tables",
        "Kendall's τ and Spearman's ρ of the scores with each table's. Every variant was played "
        "for itself and accepted tasks by its own ratings. Where it says replayed, the full "
        "protocol's ratings were counted by the variant's rule instead, its tasks kept: what lies "
        "between the two lines is what the variant's own acceptance of tasks changes.",
        table=Table(
            ["Variant", *heads],
            rows,
            " ".join(
                ["Intervals: 95 %, bootstrap over iterations, each variant's weights replayed. A "
                 "draw takes the same iterations of all variants.",
                 *_apart(comparison), FEW, *missing]
            ),
        ),
    )  # fmt: skip
    others: list[list[Value]] = [
        [
            played.label,
            *(
                agreement.ahead
                for table in tables
                for agreement in _agreements(comparison.external(played, table))
            ),
        ]
        for played in comparison.played[1:]
    ]
    if others:
        yield Section(
            "What the full protocol adds",
            "The full protocol's correlation less the variant's, over the same draws of "
            "iterations. Above 0, the full protocol agrees better with the table.",
            table=Table(["Variant", *heads], others),
        )


def _apart(comparison: Comparison) -> Iterator[str]:
    """Yield which variants have tasks that come again, and how these are drawn."""
    found = zip(comparison.played, comparison.found.played, strict=True)
    several = [it.label for it, of in found if of.found.ballots.sources.shared is not None]
    if several:
        yield Statement(
            "ablations.drawn_apart",
            "The tasks of {variants} come more than once: they are drawn apart from those of "
            "other variants, each with all its iterations.",
            variants=", ".join(several),
        )


def _order(comparison: Comparison) -> Section:
    rows: list[list[Value]] = [
        [played.label, *_pair(found)]
        for played in comparison.played
        if (found := comparison.order(played)) is not None
    ]
    if not rows:
        return Section("Agreement with the full protocol", "No other variant was played.")
    return Section(
        "Agreement with the full protocol",
        "How far each variant's scores order the models as the full protocol's do, which are taken "
        "as they are.",
        figure=plots.forest(_taus(comparison), "Kendall's τ with the full protocol"),
        table=Table(["Variant", "τ", "ρ"], rows),
    )


def _taus(comparison: Comparison) -> dict[str, dict[str, Any]]:
    """Return τ of each variant with the full protocol, by the variants' names."""
    found = {it.label: comparison.order(it) for it in comparison.played}
    return {label: it.kendall.iterations.to_json() for label, it in found.items() if it is not None}


def _convergence(comparison: Comparison) -> Iterator[Section]:
    yield from moved(
        "L1 distance (the sum of absolute differences) between successive vectors of the models' "
        "shares of the scores: the judging weights by equation 3, were all contestants to judge. "
        "For the full protocol among contestants those are its judging weights; a single judge "
        "always weighs 1, so that what it moves shows only here.",
        {
            played.label: authority(played.records, played.settings.models)
            for played in comparison.played
        },
    )


def _took(comparison: Comparison) -> Section:
    rows: list[list[Value]] = []
    for played in comparison.played:
        took = played.took
        counts = (took[name] for name in ("calls", "shared", "reused", "discarded", "asked"))
        rows.append([played.label, played.found, played.parsed, *counts])
    return Section(
        "What each variant took",
        "Replies that a variant before had to the very same question were shared; reused are those "
        "of a run that this one extends; discarded those whose tasks were not accepted after all.",
        table=Table(
            ["Variant", "found a task", "ratings read", "calls", "shared", "reused", "discarded",
             "asked anew"],
            rows,
        ),
    )  # fmt: skip


def _leaderboard(comparison: Comparison, played: Played) -> Section:
    scores = comparison.scores(played)
    judging = judging_weights(played.standing.scores, played.settings)
    best_first = sorted(scores, key=lambda model: -(scores[model].value or 0))
    rows: list[list[Value]] = [
        [place, model, scores[model], judging.get(model)]
        for place, model in enumerate(best_first, start=1)
    ]
    outsiders = [judge for judge in played.settings.panel if judge not in scores]
    return Section(
        f"Leaderboard: {played.label}",
        f"Judges from outside: {', '.join(outsiders)}." if outsiders else "",
        table=Table(["#", "model", "score (1-5)", "judging weight"], rows),
        folded=f"{len(rows)} models",
    )


def _pair(found: Compared) -> list[Estimate]:
    return [agreement.iterations for agreement in _agreements(found)]


def _agreements(found: Compared) -> list[Agreement]:
    return [getattr(found, which) for _, which in _BOTH]
