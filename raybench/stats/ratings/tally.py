"""Matches as choices from sets: the numbers that a likelihood is made of.

Whoever comes first was chosen from all, whoever comes next from those that are left: the
log-likelihood is a sum of strengths less weighted log-sums of exponentials over sets. Two models
are the case of one set with two in it, so that Bradley–Terry and Plackett–Luce are one sum, which
is concave and counts equal matches once.

Those that share a place count as every order of them, equally often: half a win each where two
tie. Which of n that tie are still left when k are is every subset of k with the same weight, so
that a set has the weight 1/C(n, k), and none of the n! orders is gone through.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from raybench.errors import ConfigurationError, Problem
from raybench.stats.ratings.design import Design, Floats, Integers, Sparse, design, made
from raybench.stats.ratings.matches import Bundles, Match, Player

Effect = tuple[str, str]
"""A game and a role in it: what the role adds to whoever plays it."""

MOST_TIED = 12
"""Sides that may share a place: there are 2ⁿ sets of them."""


@dataclass(frozen=True, eq=False)
class Tally:
    """A design with what was found: one row for every kind of bundle."""

    models: tuple[str, ...]
    effects: tuple[Effect, ...]
    """Parameters are the models' strengths, then these."""
    design: Design
    chosen: Sparse
    """Kinds by parameters: the sum of what was chosen."""
    drawn_from: Sparse
    """Kinds by sets: how often a choice was made from each."""
    times: Integers
    """How often each kind was found."""
    game: Integers
    """The number of each kind's game."""
    share: Floats
    """What a match of each game weighs."""
    ahead: Sparse
    """Who was ahead of whom, each pair once: the difference of their rows. Ties: both ways."""

    def sums(self, counts: Floats) -> tuple[Floats, Floats]:
        """Return what was chosen, and from which sets, for counts of kinds: rows are draws."""
        weighed = counts * self.share[self.game]
        return np.asarray(weighed @ self.chosen), np.asarray(weighed @ self.drawn_from)


def tally(
    games: Mapping[str, Bundles],
    models: Sequence[str],
    effects: Sequence[Effect],
    share: Mapping[str, float],
) -> Tally:
    """Turn matches into sums; roles that are not among `effects` add nothing."""
    build = _Build(models, effects)
    kinds, times, game = [], [], []
    for number, (name, bundles) in enumerate(games.items()):
        # In one order, whatever the one was in which the matches ended: draws hang on it.
        for bundle, many in sorted(bundles.items()):
            kinds.append([(build.read(name, match), count) for match, count in bundle])
            times.append(many)
            game.append(number)
    chosen: list[tuple[int, int, float]] = []
    drawn: list[tuple[int, int, float]] = []
    for row, parts in enumerate(kinds):
        for (sides, sets), count in parts:
            chosen += [(row, side, count * weight) for side, weight in sides]
            drawn += [(row, number, count * weight) for number, weight in sets]
    rows, cols, values = build.rows()
    size = len(models) + len(effects)
    sides = made(rows, cols, values, (len(build.sides) + 1, size))
    return Tally(
        models=tuple(models),
        effects=tuple(effects),
        design=design(sides, list(build.numbers)),
        chosen=_triples(chosen, (len(kinds), sides.shape[0])) @ sides,
        drawn_from=_triples(drawn, (len(kinds), len(build.numbers))),
        times=np.array(times, dtype=np.int64),
        game=np.array(game, dtype=np.int64),
        share=np.array([share[name] for name in games]),
        ahead=_differences(sides, build.ahead),
    )


class _Build:
    """The sides and sets met so far."""

    def __init__(self, models: Sequence[str], effects: Sequence[Effect]) -> None:
        self.column: dict[str, int] = {name: n for n, name in enumerate(models)}
        self.effect: dict[Effect, int] = {it: len(models) + n for n, it in enumerate(effects)}
        self.sides: dict[tuple[str, tuple[Player, ...]], int] = {}
        self.numbers: dict[tuple[int, ...], int] = {}
        self.ahead: set[tuple[int, int]] = set()
        self.matches: dict[tuple[str, Match], _Read] = {}

    def read(self, game: str, match: Match) -> "_Read":
        """Return which sides a match chose, and from which sets, with weights."""
        key = (game, match)
        if key not in self.matches:
            self.matches[key] = self._read(game, match)
        return self.matches[key]

    def _read(self, game: str, match: Match) -> "_Read":
        placed = sorted(
            ((side.place, self._side(game, side.players)) for side in match), reverse=True
        )
        chosen: dict[int, float] = {}
        drawn: dict[int, float] = {}
        behind: list[int] = []
        while placed:
            tied = [side for place, side in placed if place == placed[0][0]]
            placed = placed[len(tied) :]
            if len(tied) > MOST_TIED:
                raise ConfigurationError(
                    Problem(
                        "ratings.invalid",
                        f"{len(tied)} sides share a place in one match of {game or 'the game'}. "
                        f"At most {MOST_TIED} can",
                        fix="give a place to each, or leave the match out.",
                    )
                )
            self.ahead |= {(one, other) for one in tied for other in behind}
            self.ahead |= {(one, other) for one in tied for other in tied if one != other}
            for side in tied:
                chosen[side] = chosen.get(side, 0.0) + 1
            if len(tied) == 1:  # Nearly always: one set, and no orders of those that tie.
                if behind:
                    number = self._number((*tied, *behind))
                    drawn[number] = drawn.get(number, 0.0) + 1
                else:
                    chosen[side] -= 1
                behind += tied
                continue
            for left, weight in _left(tied):
                them = (*left, *behind)
                if len(them) == 1:  # There was no choice.
                    chosen[them[0]] -= weight
                    continue
                number = self._number(them)
                drawn[number] = drawn.get(number, 0.0) + weight
            behind += tied
        return [it for it in chosen.items() if it[1]], list(drawn.items())

    def _number(self, them: Iterable[int]) -> int:
        return self.numbers.setdefault(tuple(sorted(them)), len(self.numbers))

    def _side(self, game: str, players: tuple[Player, ...]) -> int:
        return self.sides.setdefault((game, players), len(self.sides))

    def rows(self) -> tuple[list[int], list[int], list[float]]:
        """Return the sides' parameters: means over their players."""
        found: list[tuple[int, int, float]] = []
        for (game, players), number in self.sides.items():
            for model, role in players:
                found.append((number, self.column[model], 1 / len(players)))
                if (game, role) in self.effect:
                    found.append((number, self.effect[game, role], 1 / len(players)))
        rows, cols, values = zip(*found, strict=True) if found else ((), (), ())
        return list(rows), list(cols), list(values)


_Read = tuple[list[tuple[int, float]], list[tuple[int, float]]]


def _left(tied: list[int]) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield who of those that tie may be left to choose from, and how often that is the case."""
    for many in range(1, len(tied) + 1):
        for left in combinations(tied, many):
            yield left, 1 / comb(len(tied), many)


def _differences(rows: Sparse, pairs: set[tuple[int, int]]) -> Sparse:
    if not pairs:
        return rows[:0]
    ahead, behind = np.array(sorted(pairs)).T
    return rows[ahead] - rows[behind]


def _triples(found: list[tuple[int, int, float]], shape: tuple[int, int]) -> Sparse:
    rows, cols, values = zip(*found, strict=True) if found else ((), (), ())
    return made(rows, cols, values, shape)
