"""What a reader is told of components, there called groups: who is in which, what orders them."""

from collections.abc import Iterator, Mapping

from raybench.statements import Statement
from raybench.stats.ratings.components import Above, Components
from raybench.stats.ratings.outcome import Bound
from raybench.stats.ratings.scale import MEAN

_MOST = 4
"""Relations of groups told one by one; with more, the heat map of chances shows them."""


def told(found: Components, above: Above, bounds: Mapping[str, Bound], *, teams: bool) -> str:
    """Return in sentences how groups stand to each other, '' where there is but one."""
    if len(found) == 1:
        return ""
    listed = "; ".join(f"group {number} is {', '.join(it)}" for number, it in enumerate(found, 1))
    relations = [*_lower(found, above, bounds, teams), *_open(found, above, teams)]
    some = Statement(
        "ratings.groups_apart", "Between groups, wins go one way only, or there are none."
    )
    return Statement(
        "ratings.groups",
        "{listed}. {told} Each group has a scale of its own.",
        listed=f"{listed[0].upper()}{listed[1:]}",
        told=" ".join(relations) if len(relations) <= _MOST else some,
        relations=relations,
    )


def _lower(
    found: Components, above: Above, bounds: Mapping[str, Bound], teams: bool
) -> Iterator[str]:
    """Yield which groups are next below each; those below these are below it as well."""
    for upper in range(len(found)):
        below = {lower for it, lower in above if it == upper}
        next_to = sorted(it for it in below if not any((of, it) in above for of in below))
        if next_to:
            points = _far(found, upper, next_to, bounds)
            yield Statement(
                "ratings.group_above",
                "Group {group} {verb} {others}: how far above is not known{far}.",
                group=upper + 1,
                verb="is, by all results, above" if teams else "won every match against",
                others=_groups(next_to),
                far="" if points is None else f" (at least {points:.0f} points)",
                points=points,
            )


def _far(
    found: Components, upper: int, lower: list[int], bounds: Mapping[str, Bound]
) -> float | None:
    """Return by how many points at least, where something is known."""
    if len(lower) > 1:
        return None
    below = found[lower[0]]
    for part, beside in ((found[upper], below), (below, found[upper])):
        bound = bounds.get(part[0]) if len(part) == 1 else None
        if bound is not None and bound.beside == beside:
            low, high = bound.interval
            points = low - MEAN if part is found[upper] else MEAN - high
            if points > 0:
                return points
    return None


def _open(found: Components, above: Above, teams: bool) -> Iterator[str]:
    """Yield which groups nothing compares."""
    numbers = range(len(found))
    for one in numbers:
        if others := [it for it in numbers[one + 1 :] if (one, it) not in above]:
            if teams:
                yield Statement(
                    "ratings.group_open",
                    "Nothing tells whether group {group} is above or below {others}.",
                    group=one + 1,
                    others=_groups(others),
                )
            else:
                yield Statement(
                    "ratings.group_unmet",
                    "Group {group} never met {others}: they are not compared.",
                    group=one + 1,
                    others=_groups(others),
                )


def _groups(numbers: list[int]) -> str:
    *most, last = [str(it + 1) for it in numbers]
    return f"groups {', '.join(most)} and {last}" if most else f"group {last}"
