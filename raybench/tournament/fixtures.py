"""What is to be played, and what came of it."""

import hashlib
from collections.abc import Collection
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
    table: str = ""
    """What the match was drawn with, where its seed does not say it."""

    @property
    def drawn_with(self) -> str:
        """The name of what the match was drawn with: those that share it are not independent."""
        return drawn_with(self.fixture, self.table)


def drawn_with(fixture: Fixture, table: str) -> str:
    """Return what a match was drawn with: its table where it has one of its own, else its seed."""
    return table or str(fixture.seed)


def table(fixture: Fixture, start: str | None, greedy: Collection[str]) -> str:
    """Return the name of what a match was drawn with, from its first state's `start`.

    That is its seed. But models that always reply alike (`greedy`) play the same match again from
    the same start: what they do in a hundred matches from forty openings is known of forty.
    """
    if start is None or not all(model in greedy for model in fixture.seats):
        return str(fixture.seed)
    return f"{fixture.game}: {', '.join(sorted({*fixture.seats}))}: {start}"


def derived(seed: int, *names: str | int) -> int:
    """Return the seed of something that has these names, in a run with that seed.

    53 bits: any reader of JSON holds them exactly, and two tables of a run hardly ever share one.
    """
    digest = hashlib.sha256("/".join(map(str, (seed, *names))).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 11
