"""Tournaments of the same fixtures beside each other: each group's part of every rating.

Fixtures count that have a result in all of them. Those that share a seed, or what else they were
drawn with, are in one group. Ratings are the games' overall ones, of models that can be compared in
every tournament, whichever group is left out, around the mean of these.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from raybench.statements import Statement
from raybench.stats.ratings.outcome import Ratings
from raybench.stats.ratings.scale import SPREAD
from raybench.stats.steadiness import LEAST_GROUPS, Floats, Parts, parts
from raybench.tournament.fixtures import Fixture, Result

GROUPS = 20
"""As many as there are seeds, where there are fewer."""
Fit = Callable[[Sequence[Result]], Ratings | None]


@dataclass(frozen=True)
class Beside:
    """What several tournaments have in common, taken apart."""

    fixtures: int
    """Those that count in all of them."""
    groups: int
    models: tuple[str, ...]
    """Those that are compared."""
    parts: Parts
    """By group, tournament and model; empty where `refused` says why."""
    refused: str = ""

    def of(self, tournaments: Sequence[int]) -> Parts:
        """Return the parts of some of the tournaments."""
        return np.asarray(self.parts[:, tournaments])


def beside(tournaments: Sequence[Sequence[Result]], fit: Fit, *, seed: int = 0) -> Beside:
    """Take apart the ratings of several tournaments; `fit` rates the models of one."""
    by = [{it.fixture: it for it in results} for results in tournaments]
    common = [it for it in by[0] if all(it in results for results in by)]
    groups = dealt(common, by, seed)
    many = max(groups.values(), default=-1) + 1

    def none(why: str) -> Beside:
        return Beside(
            len(common),
            many,
            (),
            np.zeros((many, len(by), 0)),
            Statement("beside.refused", "not computed: {why}", why=why),
        )

    if many < LEAST_GROUPS:
        return none(
            Statement(
                "beside.few_groups",
                "{matches} matches count in all tournaments, of {groups} seeds or starts; "
                "{least} tell the least about chance",
                matches=len(common),
                groups=many,
                least=LEAST_GROUPS,
            )
        )
    found = [
        [
            fit([results[it] for it in common if groups[it] != left_out])
            for left_out in (-1, *range(many))
        ]
        for results in by
    ]
    models = _compared([it for some in found for it in some])
    if len(models) < 2:
        return none(
            Statement(
                "beside.few_models",
                "no two models could be compared in every tournament, with any group of matches "
                "left out: nobody beat one of them, or it beat nobody",
            )
        )
    at = np.array([[_ratings(it, models) for it in some] for some in found])
    return Beside(len(common), many, models, parts(at[:, 0], at[:, 1:].swapaxes(0, 1)))


def dealt(
    fixtures: Sequence[Fixture], results: Sequence[Mapping[Fixture, Result]], seed: int
) -> dict[Fixture, int]:
    """Return the group of each fixture; each group has its share of every game's."""
    drawn = {it: _drawn_with([of[it] for of in results]) for it in fixtures}
    clusters: dict[str, dict[str, None]] = {}
    for it in fixtures:
        clusters.setdefault(it.game, {})[drawn[it]] = None
    rng, order = random.Random(seed), list[str]()
    for game in sorted(clusters):
        order += rng.sample([*clusters[game]], len(clusters[game]))
    number = {name: at for at, name in enumerate(dict.fromkeys(order))}
    many = min(GROUPS, len(number))
    return {it: number[drawn[it]] % many for it in fixtures}


def _drawn_with(results: Sequence[Result]) -> str:
    """Return what a fixture was drawn with: where some played alike from its start, by that."""
    own = str(results[0].fixture.seed)
    return next((it.drawn_with for it in results if it.drawn_with != own), own)


def _compared(found: Sequence[Ratings | None]) -> tuple[str, ...]:
    """Return the models that are in the largest component of every one of these ratings."""
    if any(it is None for it in found):
        return ()
    largest = [{*max(it.components, key=len)} for it in found if it is not None]
    return tuple(sorted(set.intersection(*largest)))


def _ratings(found: Ratings | None, models: Sequence[str]) -> Floats:
    """Return ratings in points around their mean."""
    assert found is not None
    at = np.array([found.strengths[found.models.index(it)] for it in models])
    return np.asarray(SPREAD * (at - at.mean()))
