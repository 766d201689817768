"""What the sections of the report are made of."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raybench import games
from raybench.experiments.games.ratings import Both
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
    rated: Both
    reliable: Mapping[str, Reliability]
    metrics: Mapping[str, Mapping[str, Estimate]]
    journal: Path
    """That of the matches, with all texts."""
    rules: Mapping[str, Mapping[str, Any]]
    """Of games that were not played by their own."""

    @property
    def best_first(self) -> list[str]:
        """Return the models in the leaderboard's order: those without a rating last."""

        def at(model: str) -> float:
            value = self.metrics[model]["games/rating"].value
            return float("inf") if value is None else -value

        return sorted(self.models, key=at)

    def of(self, game: str) -> list[Match]:
        """Return the matches of a game."""
        return [match for match in self.matches if match.fixture.game == game]

    def roles(self, game: str, of: Collection[str]) -> list[str]:
        """Return roles in the order of the game's seats; those of no seat, as sides, stand last."""
        seats = choice.seats(games.load(game), self.rules.get(game, {}))
        return sorted(of, key=lambda it: (seats.index(it) if it in seats else len(seats), it))
