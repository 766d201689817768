"""What matchmaking offers to the schedule, and what a way to choose tables offers to it."""

from collections.abc import Sequence
from typing import Protocol

from raybench.tournament.fixtures import Fixture, Result

Table = tuple[int, ...]
"""Who sits together, by number, in the order in which they sit around it."""
Seated = tuple[Table, tuple[float, ...]]
"""Who sat where, and their scores."""


class Pairing(Protocol):
    """Says what is played in each round."""

    @property
    def adaptive(self) -> bool:
        """Whether a round depends on results, so that it has to wait for them."""

    @property
    def endless(self) -> bool:
        """Whether there is always another round."""

    def round(
        self, number: int, results: Sequence[Result], to_come: Sequence[Fixture]
    ) -> list[Fixture]:
        """Return the fixtures of a round, none once all has been played.

        Rounds are asked for in order from 1, each once: a pairing remembers what it has drawn.
        `results` are those that count for the round: the ones that counted for the round before,
        and then those that have come since. `to_come` are the matches that were drawn before and
        do not count yet, whether they have ended or not: of what is in neither nothing comes any
        more. Both matter where it is adaptive, and may lack something where it is not.
        """


class Chooser(Protocol):
    """Chooses the tables of one game, one after the other."""

    @property
    def adaptive(self) -> bool:
        """Whether it chooses by results."""

    def learn(self, results: Sequence[Seated], to_come: Sequence[Table]) -> None:
        """Begin a round, with the results that count from now on beside those before.

        `to_come` are the seatings that were drawn before and whose results do not count yet.
        """

    def draw(self) -> Table | None:
        """Return the next table of the round; None once all have been drawn."""
