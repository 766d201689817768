"""Who can be compared with whom: the parts of a pool within which wins lead both ways.

Ratings by maximum likelihood exist where, of whatever two groups the models are split into, each
has won something from the other. Elsewhere the likelihood is highest with one group infinitely far
above the other, or does not know how far: then these are parts, each with a scale of its own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from raybench.stats.ratings.design import Floats
from raybench.stats.ratings.matches import Bundles, Match, Side
from raybench.stats.ratings.tally import Effect, Tally

Components = tuple[tuple[str, ...], ...]
"""Models by component, the models in the order of their names; no component is below a later one
that it has beaten, and of those that have not met the larger is first."""
Above = frozenset[tuple[int, int]]
"""Which component is above which for certain, both by their number, the first being 0."""

_MOVES = 1e-7
"""A direction that moves a parameter by less, of at most 1, is rounding."""
_APART = 0.5
"""A pair is moved apart by 1 or more, or not at all."""


def components(games: Mapping[str, Bundles], models: Sequence[str]) -> Components:
    """Return the strongly connected components of who was ahead of whom; ties lead both ways."""
    reached = _reached(_edges(games, {name: n for n, name in enumerate(models)}), len(models))
    # Who reaches each other is one component; it has the number of its first.
    first = (reached & reached.T).argmax(axis=1)
    # Who is above another reaches whatever the other reaches, and more.
    order = sorted({*first.tolist()}, key=lambda it: (-reached[it].sum(), -(first == it).sum(), it))
    return tuple(
        tuple(sorted(name for name, of in zip(models, first, strict=True) if of == it))
        for it in order
    )


def _reached(edges: set[tuple[int, int]], size: int) -> NDArray[np.bool_]:
    """Return whom everybody reaches, itself among them: with each squaring twice as far."""
    found = np.eye(size, dtype=bool)
    for ahead, behind in edges:
        found[ahead, behind] = True
    for _ in range(size.bit_length()):
        found = found.astype(np.float32) @ found > 0
    return found


def _edges(games: Mapping[str, Bundles], number: Mapping[str, int]) -> set[tuple[int, int]]:
    """Return who was ahead of whom, by the numbers that the models have."""
    return {
        (number[one.model], number[other.model])
        for bundles in games.values()
        for bundle in bundles
        for match, _ in bundle
        for ahead, behind in _pairs(match)
        for one in ahead.players
        for other in behind.players
    }


def above(games: Mapping[str, Bundles], found: Components) -> Above:
    """Return which components wins lead down to from which, straight or by way of others.

    For matches of single players; `above_by_teams` is for teams.
    """
    known = _edges(games, {name: n for n, part in enumerate(found) for name in part})
    reached: dict[int, set[int]] = {}
    # Wins lead to later components alone: whatever these reach is known by then.
    for here in reversed(range(len(found))):
        straight = {lower for upper, lower in known if upper == here} - {here}
        reached[here] = straight.union(*(reached[lower] for lower in straight))
    return frozenset((upper, lower) for upper, them in reached.items() for lower in them)


def above_by_teams(tally: Tally, found: Components) -> Above:
    """Return which components no direction that raises the likelihood for ever puts below which.

    A team's win is nobody's alone: it orders its models only where all that could explain it does.
    """
    place = {name: n for n, name in enumerate(tally.models)}
    first = [place[part[0]] for part in found]
    limits = -tally.ahead, np.zeros(tally.ahead.shape[0])

    def least(upper: int, lower: int) -> float:
        aim = np.zeros(tally.design.size)
        aim[first[upper]], aim[first[lower]] = 1.0, -1.0
        solved = _least(aim, *limits, (-1, 1))
        return float(solved.fun) if solved.status == 0 else -1.0

    pairs = combinations(range(len(found)), 2)
    return frozenset(pair for pair in pairs if least(*pair) > -_MOVES)


def within(match: Match, found: Components) -> Iterator[Match]:
    """Yield what a match tells of the models of each component; the rest is certain in the limit.

    A ranking of many that follows Plackett and Luce is, among some of them, a ranking of these.
    For matches of single players; `parted` is for teams.
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
            furthest = _least(aim, *limits, (-1, 1))
            if furthest.status != 0 or furthest.fun < -_MOVES:
                found.add(effect)
    return found


@dataclass(frozen=True, eq=False)
class Parted:
    """Components where teams play: who can be compared is no question of who beat whom alone."""

    parts: Components
    ground: Floats
    """What is left open once everything that is certain in the limit is left out: a projector."""
    direction: Floats
    """Parameters moved this way raise the likelihood for ever."""

    def within(self, tally: Tally, game: str, match: Match) -> Iterator[Match]:
        """Yield what a match tells of sides that stay as far from each other as they are."""
        place = {name: n for n, name in enumerate((*tally.models, *tally.effects))}
        levels: dict[int, list[Side]] = {}
        seen: list[float] = []
        for side in match:
            moves = [
                self.direction[place[player.model]]
                + (self.direction[place[game, player.role]] if (game, player.role) in place else 0)
                for player in side.players
            ]
            moved = float(np.mean(moves))
            near = [n for n, it in enumerate(seen) if abs(it - moved) < _APART]
            level = near[0] if near else len(seen)
            seen += [] if near else [moved]
            levels.setdefault(level, []).append(side)
        for sides in levels.values():
            if len(sides) > 1:
                yield tuple(sides)


def parted(tally: Tally) -> Parted:
    """Find the direction that takes the most pairs apart, and what the other pairs leave open.

    Of all directions that put nobody who was ahead further behind, the sum is one as well: so one
    direction moves apart, by 1 at least, every pair that any of them moves apart at all.
    """
    pairs, size = tally.ahead.shape
    aim = np.concatenate([np.zeros(size), -np.ones(pairs)])
    limits = sparse.hstack([-tally.ahead, sparse.eye_array(pairs)], format="csr")
    ends = [(None, None)] * size + [(0.0, 1.0)] * pairs
    solved = _least(aim, limits, np.zeros(pairs), ends)
    direction = solved.x[:size]
    rest = tally.ahead[np.flatnonzero(tally.ahead @ direction < _APART)].toarray()
    values, vectors = np.linalg.eigh(rest.T @ rest)
    free = vectors[:, values < _MOVES]
    ground = free @ free.T
    groups: dict[tuple[float, ...], list[int]] = {}
    for number in range(len(tally.models)):
        # Models that every direction left open moves alike.
        key = tuple(np.round(ground[number], 6) + 0.0)
        groups.setdefault(key, []).append(number)
    order = sorted(groups.values(), key=lambda them: (-direction[them[0]], -len(them), them))
    parts = tuple(tuple(tally.models[n] for n in them) for them in order)
    return Parted(parts, ground, direction)


def _pairs(match: Match) -> Iterable[tuple[Side, Side]]:
    return (
        (one, other)
        for at, one in enumerate(match)
        for of, other in enumerate(match)
        if at != of and one.place <= other.place
    )


def _least(aim: Floats, limits: Any, most: Floats, bounds: Any) -> Any:
    """Return what a linear programme finds to make the aim least."""
    from scipy import optimize  # a plan has nothing to solve, and would wait for the import

    return optimize.linprog(aim, limits, most, bounds=bounds, method="highs")
