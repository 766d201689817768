"""Rounds in which every game has as many matches as any other.

A table is chosen; its seatings are played with one seed, so that everybody has every seat under the
same luck: the same cards, the same start. They follow one another, and tables of different games
alternate, so that whenever the schedule ends there is little to balance.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random

from raybench.tournament.fixtures import Fixture, Result, derived
from raybench.tournament.pairing.contract import Chooser, Seated, Table
from raybench.tournament.pairing.random_balanced import RandomBalanced
from raybench.tournament.pairing.seats import seatings

Choosing = Callable[[int, int, Random], Chooser]
"""Makes what chooses for so many models and seats, no more seats than models."""


class Rounds:
    """Matchmaking for several games, each by a chooser of its own: a `Pairing`.

    In a game with more seats than models there is little to choose: the seats are filled at random,
    as evenly as can be (`RandomBalanced`).
    """

    def __init__(
        self,
        choosing: Choosing,
        models: Sequence[str],
        games: Mapping[str, int],
        *,
        seed: int,
        size: int,
        endless: bool = True,
    ) -> None:
        """Draw for the models, and the games with their numbers of seats.

        `size` is how many matches of each game a round has, up to the end of a table. Where rounds
        depend on results, two of them are under way at most (`schedule.py`): the last one's end and
        all of the next. To keep so many matches under way always, a round of all games has to hold
        as many; a smaller one knows more when it is drawn. Raises ValueError for what cannot be
        played.
        """
        if len(set(models)) < len(models):
            raise ValueError("two models have the same name: rename one of them")
        if len(models) < 2:
            raise ValueError("one model has nobody to play against: name two or more")
        if not games:
            raise ValueError("there is no game to play: name one or more")
        if wrong := [f"{game} has {seats}" for game, seats in games.items() if seats < 2]:
            raise ValueError(f"a match needs two seats or more: {', '.join(wrong)}")
        if size < 1:
            raise ValueError(f"a round has {size} matches of each game: it needs one or more")
        self.seed = seed
        self.size = size
        self.endless = endless
        self._models = sorted(models)  # the order in which they are listed changes nothing
        self._games = sorted(games)
        self._index = {name: i for i, name in enumerate(self._models)}
        self._choosers: dict[str, Chooser] = {}
        for game in self._games:
            makes = choosing if games[game] <= len(models) else RandomBalanced
            rng = Random(derived(seed, game, "matchmaking"))
            self._choosers[game] = makes(len(models), games[game], rng)
        self._tables = dict.fromkeys(self._games, 0)
        self._matches = dict.fromkeys(self._games, 0)
        self._rounds = 0
        self._learnt = 0

    @property
    def adaptive(self) -> bool:
        """Whether a round depends on results."""
        return any(chooser.adaptive for chooser in self._choosers.values())

    def round(
        self, number: int, results: Sequence[Result], to_come: Sequence[Fixture]
    ) -> list[Fixture]:
        """Return the fixtures of a round, in the order in which they are to begin."""
        if number != self._rounds + 1:
            raise ValueError(f"round {number} was asked for: round {self._rounds + 1} comes next")
        self._rounds = number
        if self.adaptive:
            self._learn(results, to_come)
        drawn: list[tuple[float, list[Fixture]]] = []
        for game in self._games:
            tables = self._draw(game)
            drawn += [((i + 0.5) / len(tables), table) for i, table in enumerate(tables)]
        drawn.sort(key=lambda one: one[0])
        return [fixture for _, table in drawn for fixture in table]

    def _learn(self, results: Sequence[Result], to_come: Sequence[Fixture]) -> None:
        here: dict[str, list[Seated]] = {game: [] for game in self._games}
        due: dict[str, list[Table]] = {game: [] for game in self._games}
        for result in results[self._learnt :]:
            here[result.fixture.game].append((self._table(result.fixture), result.scores))
        self._learnt = len(results)
        for fixture in to_come:
            due[fixture.game].append(self._table(fixture))
        for game, chooser in self._choosers.items():
            chooser.learn(here[game], due[game])

    def _table(self, fixture: Fixture) -> Table:
        return tuple(self._index[name] for name in fixture.seats)

    def _draw(self, game: str) -> list[list[Fixture]]:
        tables = []
        while self._matches[game] < self._rounds * self.size:
            if (table := self._choosers[game].draw()) is None:
                break
            self._tables[game] += 1
            seed = derived(self.seed, game, self._tables[game])
            seated = seatings([self._models[i] for i in table])
            self._matches[game] += len(seated)
            tables.append([Fixture(game, seats, seed) for seats in seated])
        return tables
