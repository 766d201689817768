"""What was found, in plain words."""

from collections.abc import Mapping, Sequence
from typing import Any

from raybench.experiments.games_phrasings.comparison import Comparison
from raybench.statements import Statement
from raybench.tournament.records import Match
from raybench.types import Estimate, reason_of


def notes(
    comparison: Comparison, matches: Sequence[Match], studies: Sequence[Mapping[str, Any]]
) -> dict[str, str]:
    """Return what there is to say, by short names."""
    found, beside = dict[str, str](), comparison.beside
    many = len(comparison.cells)
    void = sum(it.void is not None for it in matches)
    found["Matches"] = (
        f"{len(matches):,} in {many} tournaments; {beside.fixtures:,} count in all of them, by "
        "which wordings are compared" + (f"; {void:,} are void" if void else "")
    )
    if studies:
        cached = sum(bool(it["cached"]) for it in studies)
        found["Studies"] = f"{len(studies)}" + (f", {cached} compiled before" if cached else "")
    if beside.refused:
        found["Compared"] = beside.refused
        return found
    if out := [it for it in comparison.models if it not in beside.models]:
        found["Left out"] = f"{', '.join(out)}: not to be compared in every tournament"
    for stage in comparison.stages:
        found[f"Spread, {stage}"] = _spread(comparison.spread(stage))
        found[f"Order, {stage}"] = _order(comparison, stage)
    if comparison.before_and_after:
        found["Optimised"] = steadied(comparison.change())
    return found


def support(comparison: Comparison) -> str:
    """Say what the tournaments tell of wording, in sentences."""
    if why := comparison.beside.refused:
        return f"Of wording nothing is told: {reason_of(why)}."
    told = [
        f"{stage} optimisation, {it}"
        for stage in comparison.stages
        for it in (_spread(comparison.spread(stage)), _order(comparison, stage))
    ]
    if comparison.before_and_after:
        told.append(steadied(comparison.change()))
    sentences = " ".join(f"{it[0].upper()}{it[1:]}." for it in told)
    return f"{sentences} It is true of these phrasings: others may move ratings by more or less."


def steadied(change: Estimate) -> str:
    """Say whether optimisation made ratings steadier."""
    if change.value is None or change.ci95 is None:
        return f"whether ratings hang less on wording after it is not known ({change.method})"
    low, high = change.ci95
    told = f"{change.value:+.0f} points of spread, 95 % from {low:+.0f} to {high:+.0f}"
    if high < 0:
        return Statement(
            "phrasings.steadier", "ratings hang less on wording after it: {change}", change=told
        )
    if low > 0:
        return Statement(
            "phrasings.less_steady", "ratings hang more on wording after it: {change}", change=told
        )
    return Statement(
        "phrasings.open",
        "whether ratings hang less on wording after it cannot be told from chance: {change}",
        change=told,
    )


def _spread(found: Estimate) -> str:
    if found.value is None:
        return found.method
    told = f"ratings lie {found.value:.0f} points apart over phrasings (standard deviation"
    if found.ci95 is None:
        return f"{told}; {found.method.rpartition('; ')[2]})"
    low, high = found.ci95
    sure = "" if low > 0 else ", which may be chance"
    return f"{told} beyond chance; 95 % from {low:.0f} to {high:.0f}){sure}"


def _order(comparison: Comparison, stage: str) -> str:
    found = comparison.orders[stage]
    if found.between.value is None or found.same.value is None or found.other.value is None:
        return found.between.method
    return (
        f"two phrasings agree by τ {found.between.value:.2f} on the same matches; on other matches "
        f"by {found.other.value:.2f}, and a phrasing with itself by {found.same.value:.2f}"
    )
