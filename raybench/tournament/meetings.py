"""Who met whom, and what came of it: counts of results by pair, seat and end."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from raybench.tournament.pairing.seats import points
from raybench.tournament.records import Match
from raybench.tournament.shares import Share
from raybench.types import Estimate


@dataclass
class Tally:
    """What one has won against another."""

    wins: int = 0
    ties: int = 0
    losses: int = 0

    def add(self, ahead: float) -> None:
        """Count a result, by how many points it was ahead."""
        self.wins += ahead > 0
        self.ties += ahead == 0
        self.losses += ahead < 0

    @property
    def n(self) -> int:
        """Return how often they met."""
        return self.wins + self.ties + self.losses

    @property
    def points(self) -> float | None:
        """Return the share won, a tie being half a win; None where they never met."""
        return (self.wins + self.ties / 2) / self.n if self.n else None


def tallies(matches: Iterable[Match], models: Sequence[str]) -> dict[str, dict[str, Tally]]:
    """Return what each model has won against each other: a table of many is as many meetings.

    Those of one side have not met.
    """
    found = {one: {other: Tally() for other in models if other != one} for one in models}
    for match in matches:
        if match.void is not None:
            continue
        seats = [(role, model) for role, model in match.seats.items() if model in found]
        for role, model in seats:
            for against, other in seats:
                if other == model or _together(match, role, against):
                    continue
                found[model][other].add(match.scores[role] - match.scores[against])
    return found


WON_BY = (
    "matches with an opponent that were not void; won: alone in first place; drawn: first place "
    "shared with an opponent; lost: all others; no interval: a count, not an estimate"
)
"""What wins, draws and losses of a model are, at tables of any size."""


def results(matches: Iterable[Match], models: Sequence[str]) -> dict[str, Tally]:
    """Return how many matches each model has won, tied and lost; each match counts once.

    A model wins if none of its opponents scores as much as the best of its seats, and ties if one
    scores the same. Seats of its own side are no opponents, so that a model that sits on all sides
    has none.
    """
    found = {model: Tally() for model in models}
    for match in matches:
        if match.void is not None:
            continue
        for model in {*match.seats.values()} & {*found}:
            own = [role for role, seated in match.seats.items() if seated == model]
            others = [
                match.scores[role]
                for role, seated in match.seats.items()
                if seated != model and not any(_together(match, role, it) for it in own)
            ]
            if others:
                found[model].add(max(match.scores[role] for role in own) - max(others))
    return found


def repeats(matches: Iterable[Match]) -> int:
    """Return how many matches that count repeat another.

    That is, models that always reply alike went on from the same start in the same seats.
    """
    counted = [(it.drawn_with, it.fixture.seats) for it in matches if it.void is None]
    return len(counted) - len({*counted})


def in_roles(matches: Sequence[Match], model: str) -> dict[str, Estimate]:
    """Return which share of the others a model has beaten in each role; matches are of one game.

    Where sides are dealt, they are the roles. Where it sits in several seats, it is no other.
    """
    won: dict[str, Share] = {}
    for match in matches:
        if match.void is not None:
            continue
        for role, seated in match.seats.items():
            if seated != model:
                continue
            played = match.sides.get(role, role)
            for against, other in match.seats.items():
                if other != model and not _together(match, role, against):
                    ahead = points(match.scores[role], match.scores[against])
                    won.setdefault(played, Share()).add(match.drawn_with, ahead)
    return {role: of.estimate("meetings, ties as half") for role, of in sorted(won.items())}


def outcomes(matches: Iterable[Match]) -> Mapping[str, int]:
    """Return how often matches of a game ended in which way, seats and numbers left out."""
    return Counter("void" if it.void is not None else _kind(it) for it in matches)


def _kind(match: Match) -> str:
    if match.forfeits:
        return "forfeit: " + ", ".join(sorted({it.reason for it in match.forfeits}))
    best = max(match.scores.values())
    winners = [role for role in match.roles if match.scores[role] == best]
    if len(winners) == len(match.roles):
        return "draw"
    return "won by " + ", ".join(sorted({match.sides.get(role, role) for role in winners}))


def _together(match: Match, one: str, other: str) -> bool:
    return bool(match.sides) and match.sides[one] == match.sides[other]
