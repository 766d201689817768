"""What has to be said of judges that go together: only what can be believed."""

from collections.abc import Iterator, Mapping, Sequence

from raybench.autobench.analysis.echoes import Company, Echoes

LEVEL = 0.05
"""A family that lifts its own models is told where chance alone would do so as rarely as this."""


def warnings(found: Echoes, families: Mapping[str, str]) -> Iterator[str]:
    """Yield what has to be said: whose judges change the order, and are likely to.

    A cluster has been tested when it was found: its pairs need be likely. A family is warned of
    where it lifts its own more than judges by lot do; of its pairs those that are likely are named.
    """
    for company in found.clusters[:1]:
        if named := _named(company, families):
            yield f"without the {_many(company.judges)} of {company.name}, {named}"
    for company in found.families:
        p = company.lot.p if company.lot else None
        if company.swaps and p is not None and p <= LEVEL:
            yield (
                f"without the {_many(company.judges)} of {company.name}, its own models lose "
                f"{company.lifted.value:.2f} points against others as strong (p {_p(p)} beside "
                f"judges by lot), and the order changes: "
                + (_named(company, families) or "which pairs change places may be chance")
            )


def _named(company: Company, families: Mapping[str, str]) -> str:
    named = [swap for swap in company.swaps if swap.likely]
    if not named:
        return ""
    first = named[0]
    own = " (its own)" if families.get(first.up, first.up) == company.name else ""
    more = f", and {len(named) - 1} more pairs change places" if len(named) > 1 else ""
    sure = f"sure at {first.before:.2f} with them and {first.after:.2f} without"
    return f"{first.up}{own} falls below {first.down} ({sure}){more}"


def _many(judges: Sequence[str]) -> str:
    return "judge" if len(judges) == 1 else f"{len(judges)} judges"


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"
