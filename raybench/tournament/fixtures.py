"""Who meets whom, in which seats, and what came of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fixture:
    """A match to be played."""

    game: str
    seats: tuple[str, ...]
    """The models, in the order of the game's roles."""
    seed: int
    """Decides everything random in the match."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a match came to."""

    fixture: Fixture
    scores: tuple[float, ...]
    """In the order of the seats."""
