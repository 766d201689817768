"""What is to be played, and what came of it."""

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fixture:
    """One match that is to be played."""

    game: str
    seats: tuple[str, ...]
    """The models, in the order of the game's roles."""
    seed: int
    """Decides everything random in the match. Fixtures that share it share their table, too."""

    def __str__(self) -> str:
        return f"{self.game}: {', '.join(self.seats)}; seed {self.seed}"


@dataclass(frozen=True, slots=True)
class Result:
    """How a match ended that counts."""

    fixture: Fixture
    scores: tuple[float, ...]
    """In the order of the seats: who has more has done better."""
    sides: tuple[str, ...] = ()
    """What each seat turned out to be, where that is dealt; those of one side win together."""


def derived(seed: int, *names: str | int) -> int:
    """Return the seed of something that has these names, in a run with that seed.

    53 bits: any reader of JSON holds them exactly, and two tables of a run hardly ever share one.
    """
    digest = hashlib.sha256("/".join(map(str, (seed, *names))).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 11
