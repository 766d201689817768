"""What has to be said of judges that go together: only what can be believed."""

from collections.abc import Iterator, Mapping, Sequence

from raybench.autobench.analysis.echoes import Company, Echoes
from raybench.statements import Statement

LEVEL = 0.05
"""A family that lifts its own models is told where chance alone would do so as rarely as this."""
_CHANCE = Statement("echoes.chance", "which pairs change places may be chance")


def warnings(found: Echoes, families: Mapping[str, str]) -> Iterator[str]:
    """Yield what has to be said: whose judges change the order, and are likely to.

    A cluster has been tested when it was found: its pairs need be likely. A family is warned of
    where it lifts its own more than judges by lot do; of its pairs those that are likely are named.
    """
    for company in found.clusters[:1]:
        if named := _named(company, families):
            yield Statement(
                "echoes.cluster",
                "without the {judges} of {name}, {named}",
                judges=_many(company.judges),
                name=company.name,
                named=named,
            )
    for company in found.families:
        p = company.lot.p if company.lot else None
        if company.swaps and p is not None and p <= LEVEL:
            yield Statement(
                "echoes.family",
                "without the {judges} of {name}, its own models lose {points:.2f} points against "
                "others as strong (p {p} beside judges by lot), and the order changes: {named}",
                judges=_many(company.judges),
                name=company.name,
                points=company.lifted.value,
                p=_p(p),
                named=_named(company, families) or _CHANCE,
            )


def _named(company: Company, families: Mapping[str, str]) -> Statement | None:
    named = [swap for swap in company.swaps if swap.likely]
    if not named:
        return None
    first = named[0]
    own = families.get(first.up, first.up) == company.name
    return Statement(
        "echoes.swap",
        "{up}{own} falls below {down} (sure at {before:.2f} with them and {after:.2f} without)"
        "{more}",
        up=first.up,
        own=" (its own)" if own else "",
        down=first.down,
        before=first.before,
        after=first.after,
        more=f", and {len(named) - 1} more pairs change places" if len(named) > 1 else "",
    )


def _many(judges: Sequence[str]) -> str:
    return "judge" if len(judges) == 1 else f"{len(judges)} judges"


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"
