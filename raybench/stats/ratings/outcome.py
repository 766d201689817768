"""Ratings, and what can be told from them: chances, differences, what a role is worth."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from raybench.errors import ConfigurationError, Problem, did_you_mean
from raybench.statements import Statement
from raybench.stats.ratings.components import Above, Components
from raybench.stats.ratings.design import Floats
from raybench.stats.ratings.scale import MEAN, SCALE, SPREAD, told
from raybench.types import Estimate, Interval


@dataclass(frozen=True, slots=True)
class Bound:
    """Where a model without a rating is, on the scale of those that it is compared with."""

    interval: Interval
    """A 95 % interval, one end of which is infinite: JSON has no such number, `told` has words."""
    beside: tuple[str, ...]
    """The component whose mean is 1000 on this scale."""
    told: str


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings on one scale per component, best component and best model first."""

    table: Mapping[str, Estimate]
    components: Components
    """Only models of one component can be compared: see `stats.ratings.components`."""
    above: Above
    """Of two components, which is the better where wins lead from the one to the other alone."""
    bounds: Mapping[str, Bound]
    """For those alone in their component, as far as their matches say anything."""
    roles: Mapping[str, tuple[str, ...]]
    """The roles of each game that are worth something, by `advantage`."""
    notes: tuple[str, ...]
    """What a reader of the table has to know: models that cannot be compared, terms left out."""
    models: tuple[str, ...]
    """Whose strengths come first in what follows: natural logarithms, then the roles' effects."""
    effects: tuple[tuple[str, str], ...]
    strengths: Floats
    spreads: Floats
    """What each game adds to the covariance, games in the order of their names."""
    draws: Floats
    """Bootstrap replicates by strengths and effects."""
    n: Mapping[str, int]
    """Matches of each model."""
    played: Mapping[str, int]
    """Matches of each game."""
    degrees: Floats
    """Of each game: its matches, or clusters of them, beyond the parameters that it tells."""
    method: str
    scale: str = SCALE

    @property
    def covariance(self) -> Floats:
        """Return the sandwich's covariance of strengths and effects."""
        return np.asarray(self.spreads.sum(axis=0))

    def freedom(self, aim: Floats) -> float:
        """Return the degrees of freedom of the standard error of a sum of parameters.

        Satterthwaite's, of a sum of variances of which each game has one to estimate. 0 where a
        game has too few matches for that.
        """
        least = float(self.degrees.min())
        if least < 1 or len(self.degrees) == 1:
            return max(least, 0.0)
        parts = np.einsum("i,gij,j->g", aim, self.spreads, aim)
        whole = float(parts.sum())
        return whole**2 / float(np.sum(parts**2 / self.degrees)) if whole > 0 else least

    def chance(
        self, one: str, other: str, *, role: str = "", against: str = "", game: str = ""
    ) -> Estimate:
        """Return how often the one comes before the other, ties counted as half.

        Without roles as if neither had any; in games of two `role="first", against="second"`.
        """
        self._known(one, other)
        if bool(role) != bool(against):
            raise ConfigurationError(
                Problem("ratings.invalid", "A chance takes a role for both sides, or for neither.")
            )
        if (why := self._apart(one, other)) is not None:
            return self._refused(why)
        aim = self.pair(one, other)
        if role:
            if (why := self._untold(game, role, against)) is not None:
                return self._refused(why)
            aim += self._role(role, game) - self._role(against, game)
        odds = self._told(aim, self._n(one, other), "chance", points=1.0)
        assert odds.value is not None
        value = float(special.expit(odds.value))
        ends = odds.ci95
        return replace(
            odds,
            value=value,
            stderr=None if odds.stderr is None else odds.stderr * value * (1 - value),
            ci95=ends and (float(special.expit(ends[0])), float(special.expit(ends[1]))),
        )

    def difference(self, one: str, other: str) -> Estimate:
        """Return by how many points the one is above the other."""
        self._known(one, other)
        if (why := self._apart(one, other)) is not None:
            return self._refused(why)
        return self._told(self.pair(one, other), self._n(one, other), "difference of ratings")

    def advantage(self, role: str, over: str, *, game: str = "") -> Estimate:
        """Return how many points a role is worth more than another."""
        if (why := self._untold(game, role, over)) is not None:
            return self._refused(why)
        aim = self._role(role, game) - self._role(over, game)
        return self._told(aim, self.played[game], f"advantage of {role} over {over}")

    @property
    def first_mover(self) -> Mapping[str, Estimate]:
        """Return what it is worth to move first, in points, by game."""
        return {
            game: self.advantage("first", "second", game=game)
            for game, roles in self.roles.items()
            if roles == ("first", "second")
        }

    def rating(self, name: str) -> Estimate:
        """Return a model's rating on the scale of its component."""
        aim = np.zeros(len(self.strengths))
        aim[self.models.index(name)] = 1
        found = self._told(aim, self.n[name], "rating")
        assert found.value is not None
        ends = found.ci95
        return replace(
            found,
            value=MEAN + found.value,
            ci95=ends and (MEAN + ends[0], MEAN + ends[1]),
            method=f"{found.method}; {self.scale}",
        )

    def pair(self, one: str, other: str) -> Floats:
        """Return the difference of two strengths, as what to multiply parameters with."""
        aim = np.zeros(len(self.strengths))
        aim[self.models.index(one)] += 1
        aim[self.models.index(other)] -= 1
        return aim

    def _role(self, role: str, game: str) -> Floats:
        """Return the effect of a role; the last of a game's is what the others are measured by."""
        aim = np.zeros(len(self.strengths))
        if (game, role) in self.effects:
            aim[len(self.models) + self.effects.index((game, role))] = 1
        return aim

    def _untold(self, game: str, *roles: str) -> str | None:
        there = self.roles.get(game, ())
        for name in roles:
            if name not in there:
                of = f" in {game}" if game else ""
                told = f"told are {', '.join(there)}" if there else "none is told"
                return Statement(
                    "refused.role_untold",
                    "not computed: the matches do not tell what the role {role} is worth{of}: "
                    "{told}",
                    role=name,
                    of=of,
                    told=told,
                )
        return None

    def _told(self, aim: Floats, n: int, what: str, *, points: float = SPREAD) -> Estimate:
        degrees = self.freedom(aim)
        estimate = told(
            aim, self.strengths, self.covariance, self.draws, degrees=degrees, points=points
        )
        return replace(estimate, n=n, method=f"{what}; {self.method}{estimate.method}")

    def _n(self, one: str, other: str) -> int:
        return min(self.n[one], self.n[other])

    def rated(self, name: str) -> bool:
        """Tell whether a model has a number."""
        return self.table[name].value is not None

    def group(self, name: str) -> int:
        """Return the place of the model's component among all, the first being 0."""
        return next(place for place, part in enumerate(self.components) if name in part)

    def _apart(self, one: str, other: str) -> str | None:
        for component in self.components:
            if one in component and other in component:
                unrated = [name for name in (one, other) if not self.rated(name)]
                if not unrated or (one == other and len(component) == 1):
                    return None
                return self.table[unrated[0]].method
        return Statement(
            "refused.not_connected",
            "not computed: {one} and {other}: no wins lead both from the one to the other and back",
            one=one,
            other=other,
        )

    def _known(self, *names: str) -> None:
        for name in names:
            if name not in self.table:
                message, fix = f"No model '{name}' was rated", did_you_mean(name, self.table)
                raise ConfigurationError(Problem("ratings.invalid", message, given=name, fix=fix))

    @staticmethod
    def _refused(why: str) -> Estimate:
        return Estimate(None, None, None, 0, why)
