"""Echo chambers: judges that go together, and what the order would be without them."""

from collections.abc import Iterator

from raybench.autobench.analysis import warned
from raybench.autobench.analysis.echoes import Company
from raybench.autobench.analysis.estimates import scores
from raybench.autobench.analysis.swaps import LIKELY, Swap
from raybench.autobench.analysis.whole import Analysed
from raybench.statements import Statement
from raybench.tracking.report import Section, Table, Value

_MOST = 8
"""Pairs that a row names."""


def sections(analysed: Analysed) -> Iterator[Section]:
    """Yield clusters, the order without the largest, and families with theirs."""
    found = analysed.echoes
    told = [f"Warning: {text}." for text in warned.warnings(found, analysed.families)]
    clusters = _clusters(analysed)
    yield Section(
        "Echo chambers",
        "\n".join([*told, clusters]) if told else clusters,
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
    told = list(warned.warnings(analysed.echoes, analysed.families))
    more = f" ({len(told) - 1} more in the report)" if len(told) > 1 else ""
    return f"{told[0]}{more}" if told else ""


def _clusters(analysed: Analysed) -> str:
    found = analysed.echoes
    if found.refusal:
        return Statement(
            "echoes.refused", "Clusters of judges are {refusal}.", refusal=found.refusal
        )
    if not found.clusters:
        return Statement(
            "echoes.none",
            "No group of judges agrees more than independent judges would by chance, after "
            "removing the common opinion of all judges and each judge's severity at a task.",
        )
    return (
        "Judges form a cluster if their ratings agree more than independent judges' would by "
        "chance and rounding, after removing the common opinion of all judges and each judge's "
        "severity at a task. A cluster may be right or wrong together: the next section shows the "
        "ranking without it. A cluster of half of the judges cannot be told from the common "
        "opinion; the other judges then appear as the cluster."
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
            family.lifted,
            _tested(family),
            f"{family.refusal.capitalize()}." if family.refusal else _changes(family),
        )
        for family in analysed.echoes.families
    ]
    return Section(
        "Without one family's judges",
        "Families with two judges or more. Lifted by: how many points the family's own models "
        "lose, against others as strong, where its judges are left out. p: how often as many "
        "judges drawn by lot would lift their own models as far, by Student's t and raised by "
        f"Holm's steps for the number of families; above {warned.LEVEL} there is no warning. "
        "Close models change places whoever is left out: a pair is called likely where its order "
        f"is sure at {LIKELY} (one minus a one-sided p) or more, with the judges and without them.",
        table=Table(
            ("Family", "Judges", "Share of the weight", "Lifted by", "p", "Order without them"),
            rows,
        ),
    )


def _tested(family: Company) -> Value:
    if family.lot is None or family.lot.p is None:
        return family.lot.refusal if family.lot else None
    return "< 0.001" if family.lot.p < 0.001 else family.lot.p


def _changes(company: Company) -> str:
    if not company.swaps:
        return "The order does not change."
    told = [
        f"{swap.up} falls below {swap.down} ({_chance(swap)})" for swap in company.swaps[:_MOST]
    ]
    more = len(company.swaps) - len(told)
    return "Changed: " + "; ".join(told) + (f"; pairs more: {more}" if more else "") + "."


def _chance(swap: Swap) -> str:
    if swap.before is None or swap.after is None:
        return "too few iterations to say how sure"
    return "likely" if swap.likely else "may be chance"
