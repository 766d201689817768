"""What the sections of the report are made of."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from raybench import games
from raybench.experiments.games.ratings import RatedTwice
from raybench.experiments.games.recorded import Recorded
from raybench.experiments.games.standings import Standing
from raybench.experiments.parts.deviations import Deviation
from raybench.games.parts import choice
from raybench.tournament.records import Match
from raybench.tournament.reliability import Reliability
from raybench.types import Estimate

LONG = 12
"""A table of more rows is folded away."""


@dataclass(frozen=True)
class Shown:
    """A run that is over."""

    models: Sequence[str]
    games: Sequence[str]
    """Those that were played, by name."""
    matches: Sequence[Match]
    rated: RatedTwice
    stood: Standing | None
    """Over all games; None where nothing was rated."""
    reliable: Mapping[str, Reliability]
    metrics: Mapping[str, Mapping[str, Estimate]]
    """Of the models in the leaderboard's order."""
    recorded: Recorded
    """The matches with all texts."""
    rules: Mapping[str, Mapping[str, Any]]
    """Of games that were not played by their own."""
    deviations: Sequence[Deviation] = ()
    """From the source."""

    @property
    def best_first(self) -> list[str]:
        """Return the models in the leaderboard's order: the best group first."""
        return [*self.metrics]

    def of(self, game: str) -> list[Match]:
        """Return the matches of a game."""
        return [match for match in self.matches if match.fixture.game == game]

    def roles(self, game: str, of: Collection[str]) -> list[str]:
        """Return roles in the order of the game's seats; those of no seat, as sides, stand last."""
        seats = choice.seats(games.load(game), self.rules.get(game, {}))
        return sorted(of, key=lambda it: (seats.index(it) if it in seats else len(seats), it))

    def worth(self, game: str) -> list[tuple[str, str, Estimate]]:
        """Return by how many points of the rating each role is worth more than each other."""
        ratings = self.rated.all.games.get(game)
        if ratings is None:
            return []
        return [
            (role, over, ratings.advantage(role, over, game=game))
            for role, over in combinations(self.roles(game, ratings.roles.get(game, ())), 2)
        ]
