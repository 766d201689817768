"""Echo chambers: judges that go together, and what the order would be without them."""

from collections.abc import Iterator

from raybench.autobench.analysis import echoes
from raybench.autobench.analysis.echoes import Company
from raybench.autobench.analysis.estimates import scores
from raybench.autobench.analysis.whole import Analysed
from raybench.tracking.report import Section, Table, Value

_MOST = 8
"""Pairs that a row names."""


def sections(analysed: Analysed) -> Iterator[Section]:
    """Yield clusters, the order without the largest, and families with theirs."""
    found = analysed.echoes
    warned = [f"Warning: {text}." for text in echoes.warnings(found, analysed.families)]
    yield Section(
        "Echo chambers",
        "\n".join([*warned, _clusters(analysed)]),
        table=Table(
            ("Cluster", "Judges", "Share of the judging weight"),
            [(one.name, ", ".join(one.judges), one.weight) for one in found.clusters],
        )
        if found.clusters
        else None,
    )
    if found.clusters:
        yield _without(analysed, found.clusters[0])
    if found.families:
        yield _families(analysed)


def note(analysed: Analysed) -> str:
    """Return the warnings as one short line, or ''."""
    warned = list(echoes.warnings(analysed.echoes, analysed.families))
    more = f" ({len(warned) - 1} more in the report)" if len(warned) > 1 else ""
    return f"{warned[0]}{more}" if warned else ""


def _clusters(analysed: Analysed) -> str:
    found = analysed.echoes
    if found.refusal:
        return f"Clusters of judges are {found.refusal}."
    if not found.clusters:
        return (
            "No judges share a taste beyond what chance would make of independent ones: with what "
            "they all see taken out, their ratings go separate ways."
        )
    return (
        "Clusters are judges whose ratings go together once what all judges see is taken out, "
        "beyond what chance makes of independent ones. They may be right together, and they may "
        "err together: only the order without them says what hangs on it."
    )


def _without(analysed: Analysed, cluster: Company) -> Section:
    title = "Consensus without the largest cluster"
    if cluster.refusal:
        return Section(title, f"{cluster.refusal.capitalize()}.")
    every = scores(analysed.found)
    ranked = sorted(every, key=lambda model: -(every[model].value or 0))
    return Section(
        title,
        _changes(cluster),
        table=Table(
            ("Model", "All judges", f"Without {cluster.name}"),
            [(model, every[model], cluster.without[model]) for model in ranked],
        ),
    )


def _families(analysed: Analysed) -> Section:
    rows: list[tuple[Value, ...]] = [
        (
            family.name,
            ", ".join(family.judges),
            family.weight,
            f"{family.refusal.capitalize()}." if family.refusal else _changes(family),
        )
        for family in analysed.echoes.families
    ]
    return Section(
        "Without one family's judges",
        "Families with two judges or more. A pair that changes places is told with the share of "
        f"bootstrap draws in which it does so in the same way; below {echoes.SURE:.0%} that is a "
        "toss-up, and no warning.",
        table=Table(("Family", "Judges", "Share of the weight", "Order without them"), rows),
    )


def _changes(company: Company) -> str:
    if not company.swaps:
        return "The order does not change."
    told = [
        f"{swap.up} falls below {swap.down} ("
        + ("too few iterations to say how surely" if swap.share is None else _sure(swap.share))
        + ")"
        for swap in sorted(company.swaps, key=lambda swap: -(swap.share or 0))
    ]
    more = f"; and {len(told) - _MOST} pairs more" if len(told) > _MOST else ""
    return "Changed: " + "; ".join(told[:_MOST]) + more + "."


def _sure(share: float) -> str:
    return f"{share:.0%} of draws" + (", a toss-up" if share < echoes.SURE else "")
