"""Plackett–Luce ratings of models that met three or more at a time, or in teams.

    P(a comes first among S) = exp(θ_a) / Σ exp(θ_s), then the same among those that are left

with a strength θ for every model and an effect for every role or seat, fitted by maximum
likelihood. With two models this is Bradley–Terry, to the last digit; scale, components, bounds,
prior and intervals are those of `stats.bradley_terry`, as it is the same fit. The matches repeat,
so that the places within a match need not be independent for the intervals to hold.

*Ties* are draws: who shares a place counts as each of the possible orders, all equally often, which
is half a win each for two. (The other likelihood in use, of the event that they are ahead of the
rest in whatever order, says nothing of a draw of two: it would not be Bradley–Terry.) The sum over
orders is exact, and one over subsets: 2ⁿ for n that tie, at most twelve.

*Teams* are another matter: wolves that win together have not drawn with one another, and three
wolves do not come first, second and third by chance: the game knows two results only. So a team is
one side, whose strength is the mean of its players' strengths and roles. Mean and not sum: one of
five moves a team less than one of two, and a side's strength stays one that a model could have.
What a team gains by its number is in the effect of its role. A model's rating then says how a team
of it alone would fare.
"""

from collections.abc import Hashable, Iterable, Sequence
from functools import cache
from typing import NamedTuple

from raybench.errors import ConfigurationError, Problem
from raybench.stats.ratings.matches import Bundles, Match, Player, Side, bundled
from raybench.stats.ratings.outcome import Ratings
from raybench.stats.ratings.rated import rated


class Seat(NamedTuple):
    """Who sat somewhere in a match, and its place there: 1 is the best, equal places are ties."""

    model: str
    place: float
    role: str = ""
    """What it played, or where it sat, if that may be worth something."""
    team: str = ""
    """Those of one team have one place, and are rated as one side."""


def fit(
    results: Iterable[Sequence[Seat | tuple[str, float] | tuple[str, float, str]]],
    *,
    bootstrap: int = 1000,
    seed: int = 0,
    clusters: Sequence[Hashable] | None = None,
    prior: float | None = None,
) -> Ratings:
    """Rate the models of one game; each result has a seat, or (model, place, role), per player."""
    found = bundles(results, clusters=clusters)
    return rated(
        {"": found}, model="Plackett–Luce", replicates=bootstrap, seed=seed, prior=prior
    )  # fmt: skip


def bundles(
    results: Iterable[Sequence[Seat | tuple[str, float] | tuple[str, float, str]]],
    *,
    clusters: Sequence[Hashable] | None = None,
) -> Bundles:
    """Return matches as `stats.overall` takes them."""
    seated = (
        tuple(entry if type(entry) is Seat else Seat(*entry) for entry in result)
        for result in results
    )
    lone = cache(_lone)  # there are thousands of matches and some hundred sides

    def match(seats: tuple[Seat, ...]) -> Match:
        if len(seats) < 2 or any(seat.team for seat in seats):
            return _match(seats)
        return tuple(sorted(map(lone, seats)))

    return bundled(seated, clusters, match)


def _lone(seat: Seat) -> Side:
    if seat.place != seat.place:
        raise _placeless(seat)
    return Side((Player(seat.model, seat.role),), seat.place)


def _placeless(seat: Seat) -> ConfigurationError:
    return ConfigurationError(
        Problem("ratings.invalid", f"{seat.model} has no place", fix="Give one to each player.")
    )


def _match(seats: tuple[Seat, ...]) -> Match:
    sides: dict[str | int, list[Seat]] = {}
    for number, seat in enumerate(seats):
        sides.setdefault(seat.team or number, []).append(seat)
    if len(sides) < 2:
        raise ConfigurationError(
            Problem(
                "ratings.invalid",
                f"A match of {', '.join(seat.model for seat in seats) or 'nobody'} has one side. "
                "It takes two",
                fix="give each team its name, or leave the match out.",
            )
        )
    for team, members in sides.items():
        places = {seat.place for seat in members}
        if len(places) > 1:
            raise ConfigurationError(
                Problem(
                    "ratings.invalid",
                    f"The team {team} has the places {', '.join(map(str, sorted(places)))} in one "
                    "match",
                    fix="Give all of a team the same.",
                )
            )
        if any(place != place for place in places):
            raise _placeless(members[0])
    return tuple(
        sorted(
            Side(tuple(sorted(Player(seat.model, seat.role) for seat in members)), members[0].place)
            for members in sides.values()
        )
    )
