"""Random tables at which everybody sits equally often.

All models are dealt in random order, table by table, and dealt again when all have been: at the end
of any table nobody has played more than one table more than anybody else. The seatings of a table
take every member to every seat, so that this holds for each seat as well; between two seatings of
one table the difference can be two, where a table takes the last ones of one deal and the first
ones of the next.
"""

from collections import Counter
from collections.abc import Sequence
from random import Random

from raybench.tournament.pairing.contract import Seated, Table


class RandomBalanced:
    """Deals the models; a table seats nobody twice where there are enough, else all as evenly."""

    adaptive = False

    def __init__(self, models: int, seats: int, rng: Random) -> None:
        self._models, self._seats, self._rng = models, seats, rng
        self._hand: list[int] = []

    def learn(self, results: Sequence[Seated], to_come: Sequence[Table]) -> None:
        """Begin a round; results change nothing."""

    def draw(self) -> Table:
        """Return the next table."""
        table: list[int] = []
        while len(table) < self._seats:
            if not self._hand:
                self._hand = self._deal(table)
            wanted = self._seats - len(table)
            table += self._hand[:wanted]
            del self._hand[:wanted]
        self._rng.shuffle(table)
        return tuple(table)

    def _deal(self, table: list[int]) -> list[int]:
        """Return all models in random order, those who sit at the table already behind."""
        order = self._rng.sample(range(self._models), self._models)
        sitting = Counter(table)
        return sorted(order, key=lambda model: sitting[model]) if table else order
