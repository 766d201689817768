"""Where matches are put and their turns picked up: one process's side of a tournament.

It lives in an actor of the cluster, or in the driver where no cluster is needed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from raybench import games, sandbox
from raybench.arena.chair import Chair, Decoding, Put
from raybench.arena.manager import Manager, Programs
from raybench.arena.scripted import Scripted
from raybench.errors import Problem, RunFailed
from raybench.fleet import Fleet
from raybench.games import MANAGER
from raybench.games.parts.wording import Wording
from raybench.sandbox.places import Settings
from raybench.tournament.fixtures import Fixture
from raybench.tournament.match import Seated, Terms, play
from raybench.tournament.strategies import Strategies
from raybench.tournament.turns import Ending, Turn
from raybench.types import Completion, Request


@dataclass(frozen=True)
class House:
    """What holds for all matches; it travels."""

    rules: Mapping[str, Mapping[str, Any]]
    """Of games that are not played by their own."""
    terms: Terms
    decoding: Decoding
    strategies: Strategies = field(default_factory=Strategies)
    wording: Wording = field(default_factory=Wording)
    """In which words players are told what they see."""
    scripts: Mapping[str, str] = field(default_factory=dict)
    """What those play by who are no models, by their names among these."""
    jurors: Sequence[str] = ()
    """Who plays in a match does not judge it."""
    stand_ins: frozenset[str] = frozenset()
    """Models that have to be told what they could play."""
    greedy: frozenset[str] = frozenset()
    """Models that reply alike whenever they are asked alike."""
    sandbox: Settings = Settings()
    slots: int | None = None
    at_once: int = 256
    """Matches that one room plays side by side; further ones wait there for their place."""

    def plays(self, model: str, game: str, role: str) -> str:
        """Return what a model, or who is none, plays by in a role."""
        if model in self.scripts:
            return f"script {self.scripts[model]}"
        return self.strategies.called(model, game, role)

    def alike(self, fixture: Fixture, roles: Sequence[str]) -> set[str]:
        """Return the models of a match that play it alike whenever it begins alike."""
        return {
            model
            for role, model in zip(roles, fixture.seats, strict=True)
            if model in self.greedy and not self.strategies.varies(model, fixture.game, role)
        }


@dataclass
class Begun:
    """A match to be played, from its beginning or from where it was cut off."""

    number: int
    attempt: int
    """How often it has been begun anew."""
    fixture: Fixture
    kept: list[Turn] = field(default_factory=list)

    @property
    def key(self) -> int:
        """What it is known by."""
        return self.number

    @property
    def turn(self) -> int:
        """Matches are dealt out one by one."""
        return self.number

    @property
    def name(self) -> str:
        """What tells it from other matches, and from itself begun anew: seeds come from it."""
        return f"{self.number}/{self.attempt}"

    def left(self, brought: "Told") -> "Begun | None":
        """Return the match as it is to be gone on with."""
        if brought.ending is not None:
            return None
        self.kept.extend(brought.turns)
        return self


@dataclass(slots=True)
class Told:
    """What happened in a match since it was told of last."""

    number: int
    turns: list[Turn]
    ending: Ending | None = None
    spent: list[tuple[str, Completion]] = field(default_factory=list)
    """What models were asked for it, jurors too."""

    @property
    def key(self) -> int:
        """That of the match."""
        return self.number


class Room:
    """Plays what is put into it, all of it at once; what happens is picked up."""

    gathers_s = 0.0
    """How long news are gathered, from the first on, before they are told."""

    def __init__(self, fleet: Callable[[], Awaitable[Fleet]], house: House) -> None:
        self._fleet = fleet
        self._house = house
        self._news: dict[int, Told] = {}
        """Of matches, what has not been picked up."""
        self._any = asyncio.Event()
        self._error: Exception | None = None
        self._closed = False
        self._working: set[asyncio.Task[None]] = set()
        self._places = asyncio.Semaphore(house.at_once)
        self._programs = Programs(house.slots)
        sandbox.configure(house.sandbox)

    async def put(self, orders: Sequence[Begun]) -> None:
        """Begin with these matches."""
        fleet = await self._fleet()
        for order in orders:
            work = asyncio.create_task(self._play(order, fleet))
            self._working.add(work)
            work.add_done_callback(self._working.discard)

    async def pick_up(self) -> list[Told]:
        """Wait for news, and return all since the last time."""
        await self._any.wait()
        if self.gathers_s:
            await asyncio.sleep(self.gathers_s)
        self._any.clear()
        if news := self._news:
            self._news = {}
            if self._error is not None:
                self._any.set()  # told when all before it is safe
            return [*news.values()]
        assert self._error is not None
        raise self._error

    def leave(self) -> None:
        """Go: nobody takes the place of the driver's own room."""

    async def close(self) -> None:
        """Stop playing. Programs that run already are waited for."""
        self._closed = True
        for work in self._working:
            work.cancel()
        await asyncio.gather(*self._working, return_exceptions=True)
        await self._programs.close()

    def seat(self, order: Begun, role: str, model: str, put: Put) -> Seated:
        """Return who sits at a role: the model, asked by its strategy, or a script."""
        house, game = self._house, order.fixture.game
        own = [turn for turn in order.kept if turn.role == role]
        if model in house.scripts:
            script = games.load(game).script(house.scripts[model])
            return Scripted(model, script, f"{house.decoding.seed}/{order.name}", len(own))
        return Chair(
            model,
            house.strategies.of(model, game, role),
            put,
            house.decoding,
            order.name,
            imitates=model in house.stand_ins,
            greedy=model in house.greedy,
            asked=sum(turn.calls for turn in own),
        )

    async def _play(self, order: Begun, fleet: Fleet) -> None:
        number, fixture, house = order.number, order.fixture, self._house

        def tell(turn: Turn) -> None:
            self._of(number).turns.append(turn)
            self._any.set()

        async def put(model: str, request: Request) -> Completion:
            (completion,) = await fleet.complete(model, [request])
            self._of(number).spent.append((model, completion))
            return completion

        try:
            game = games.load(fixture.game)
            first = game.new(fixture.seed, **house.rules.get(fixture.game, {}))
            seats = {
                role: self.seat(order, role, model, put)
                for role, model in zip(first.roles, fixture.seats, strict=True)
            }
            jurors = [it for it in house.jurors if it not in fixture.seats]
            asked = sum(turn.role == MANAGER for turn in order.kept)
            manager = Manager(put, self._programs, house.decoding, order.name, jurors, asked)
            async with self._places:
                ending = await play(
                    first, seats, manager.bring, house.terms, tell, [*order.kept],
                    zero_sum=game.zero_sum, words=house.wording.of(fixture.game),
                )  # fmt: skip
            self._of(number).ending = ending
        except Exception as error:  # ours, not a model's: whoever waits has to know
            self._error = error
        except asyncio.CancelledError:
            if not self._closed:  # somebody's own strategy cancelled more than it may
                self._error = RunFailed(
                    Problem(
                        "extension.failed",
                        "a strategy cancelled the match that it plays in",
                        setting="games.strategy",
                    )
                )
            raise
        finally:
            self._any.set()

    def _of(self, number: int) -> Told:
        if (told := self._news.get(number)) is None:
            told = self._news[number] = Told(number, [])
        return told
