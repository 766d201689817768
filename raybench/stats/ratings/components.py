"""Who can be compared with whom: the parts of a pool within which wins lead both ways.

Ratings by maximum likelihood exist where, of whatever two groups the models are split into, each
has won something from the other. Elsewhere the likelihood is highest with one group infinitely far
above the other, or does not know how far: then these are parts, each with a scale of its own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from scipy import optimize, sparse
from scipy.sparse import csgraph

from raybench.stats.ratings.matches import Bundles, Match, Side
from raybench.stats.ratings.tally import Effect, Tally

Components = tuple[tuple[str, ...], ...]
"""Models by component, the models in the order of their names; no component is below a later one
that it has beaten, and of those that have not met the larger is first."""

_MOVES = 1e-7
"""A direction that moves a parameter by less, of at most 1, is rounding."""


def components(games: Mapping[str, Bundles], models: Sequence[str]) -> Components:
    """Return the strongly connected components of who was ahead of whom; ties lead both ways."""
    number = {name: n for n, name in enumerate(models)}
    edges = {
        (number[one.model], number[other.model])
        for bundles in games.values()
        for bundle in bundles
        for match, _ in bundle
        for above, below in _pairs(match)
        for one in above.players
        for other in below.players
    }
    size = len(models)
    ahead, behind = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2).T
    graph = sparse.csr_array((np.ones(len(ahead)), (ahead, behind)), shape=(size, size))
    count, label = csgraph.connected_components(graph, connection="strong")
    between = sparse.csr_array((np.ones(len(ahead)), (label[ahead], label[behind])), (count, count))
    # Who is above another reaches whatever the other reaches, and more.
    reached = np.isfinite(csgraph.shortest_path(between, unweighted=True))
    many = np.bincount(label, minlength=count)
    order = sorted(range(count), key=lambda it: (-int((reached[it] * many).sum()), -many[it], it))
    return tuple(
        tuple(sorted(name for name, of in zip(models, label, strict=True) if of == it))
        for it in order
    )


def within(match: Match, found: Components) -> Iterator[Match]:
    """Yield what a match tells of the models of each component; the rest is certain in the limit.

    A ranking of many that follows Plackett and Luce is, among some of them, a ranking of these.
    Only matches of single players are taken apart; in others all have to be of one component.
    """
    component = {name: n for n, them in enumerate(found) for name in them}
    parts: dict[int, list[Side]] = {}
    for side in match:
        parts.setdefault(component[side.players[0].model], []).append(side)
    for sides in parts.values():
        if len(sides) > 1:
            yield tuple(sides)


def untold(tally: Tally) -> set[Effect]:
    """Return the effects that the matches do not tell: where the likelihood never stops rising.

    That is where some direction moves the effect and puts nobody who was ahead further behind: all
    matches won by who moved first, for one, or one model that always moves first.
    """
    models = len(tally.models)
    found = set()
    for number, effect in enumerate(tally.effects):
        for sign in (1.0, -1.0):
            aim = np.zeros(tally.design.size)
            aim[models + number] = sign
            limits = -tally.ahead, np.zeros(tally.ahead.shape[0])
            furthest = optimize.linprog(aim, *limits, bounds=(-1, 1), method="highs")
            if furthest.status != 0 or furthest.fun < -_MOVES:
                found.add(effect)
    return found


def _pairs(match: Match) -> Iterable[tuple[Side, Side]]:
    return (
        (one, other)
        for at, one in enumerate(match)
        for of, other in enumerate(match)
        if at != of and one.place <= other.place
    )
