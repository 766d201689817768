"""Has a schedule's matches played, many at once, and hands on what happens in them."""

import gc
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from raybench import games
from raybench.arena.room import Begun, House, Room, Told
from raybench.arena.seats import Seats, in_actors
from raybench.errors import RunFailed
from raybench.fleet import Fleet
from raybench.fleet.client import Say
from raybench.fleet.link import Door, Link, listening
from raybench.games.parts import choice
from raybench.tournament import records
from raybench.tournament.fixtures import Fixture
from raybench.tournament.match import told_again
from raybench.tournament.schedule import Schedule
from raybench.tournament.turns import Ending, Turn
from raybench.types import Completion

Lines = Sequence[Mapping[str, Any]]
Rooms = Seats[Begun, Told]
_SUSPECT = 10
"""So many matches may be void, and nobody reply in between, before it is called an outage."""


@dataclass
class _Open:
    """A match under way."""

    fixture: Fixture
    roles: tuple[str, ...]
    attempt: int
    turns: list[Turn]
    since: float = field(default_factory=time.monotonic)


class Pool:
    """Drives a schedule."""

    def __init__(
        self,
        schedule: Schedule,
        rooms: Rooms,
        house: House,
        *,
        at_once: int,
        replays: int,
        keep: Callable[[Lines], Awaitable[None]],
        count: Callable[[str, Completion], None] = lambda model, completion: None,
        unfinished: Mapping[int, records.Unfinished] = {},
        reached: bool = False,
    ) -> None:
        """`keep` takes the lines of turns before they count; `count` what was asked of models.

        So many matches at once are with the rooms: more than these play side by side, so that the
        next one begins in the moment when one ends.

        A match that is void is begun anew as often as `replays` says. `unfinished` are matches that
        an earlier session began; `reached` says that models replied there.
        """
        self._schedule = schedule
        self._rooms = rooms
        self._house = house
        self._at_once = at_once
        self._replays = replays
        self._keep = keep
        self._count = count
        self._unfinished = dict(unfinished)
        self._open: dict[int, _Open] = {}
        self._seats: dict[str, tuple[str, ...]] = {}
        self._again: list[Begun] = []
        self._void: deque[dict[str, Any]] = deque()
        """Void matches since the last reply of a model: they may be part of an outage."""
        self._reached = reached
        """A model has replied."""

    async def matches(self) -> AsyncGenerator[list[dict[str, Any]]]:
        """Yield the records of matches as they end.

        Raises RunFailed where one after the other is void: that is an outage, and nothing of it
        belongs in the journal.
        """
        while True:
            await self._begin()
            if not self._open:
                if not (self._void and self._reached):
                    break
                yield self._told_void()
                continue
            ended = await self._take(await self._rooms.pick_up())
            if ended:
                yield ended
        if self._void:
            self._give_up()

    async def _begin(self) -> None:
        """Have as many matches under way as there may be."""
        orders, self._again = self._again, []
        lines = []
        for number, fixture in self._due():
            attempt, turns = 0, list[Turn]()
            if (earlier := self._unfinished.pop(number, None)) is None:
                lines.append(records.begun(number, fixture))
            else:
                attempt, turns = self._gone_on_with(earlier)
            self._open[number] = _Open(fixture, self._roles(fixture.game), attempt, turns)
            orders.append(Begun(number, attempt, fixture, [*turns]))
        if lines:
            await self._keep(lines)
        if orders:
            await self._rooms.put(orders)

    def _due(self) -> list[tuple[int, Fixture]]:
        """Return the matches that may begin now."""
        try:
            return self._schedule.take(self._at_once - len(self._open))
        except ValueError as error:
            raise RunFailed(f"the run cannot go on as it began: {error}") from error

    def _gone_on_with(self, earlier: records.Unfinished) -> tuple[int, list[Turn]]:
        """Return which attempt at a match it is, and the turns with which it goes on."""
        fixture = earlier.fixture
        rules = self._house.rules.get(fixture.game, {})
        first = games.load(fixture.game).new(fixture.seed, **rules)
        try:
            return earlier.attempt, told_again(first, earlier.turns, self._house.terms)
        except games.InvalidMove:
            # The game's rules are others by now: from the beginning.
            return earlier.attempt + 1, []

    def _roles(self, game: str) -> tuple[str, ...]:
        if game not in self._seats:
            self._seats[game] = choice.seats(games.load(game), self._house.rules.get(game, {}))
        return self._seats[game]

    async def _take(self, news: Sequence[Told]) -> list[dict[str, Any]]:
        """Keep turns, and return the records of what ended.

        Of a match that ended, the record has all turns: what is cut off before that is on the disk
        is played again from the last turn that was kept.
        """
        lines = [
            records.turned(told.number, self._open[told.number].attempt, turn)
            for told in news
            if told.ending is None
            for turn in told.turns
        ]
        if lines:
            await self._keep(lines)
        ended: list[dict[str, Any]] = []
        for told in news:
            for model, completion in told.spent:
                self._count(model, completion)
            match = self._open[told.number]
            match.turns += told.turns
            if any(turn.model for turn in told.turns):
                # Somebody can be reached: what was void before is no outage, and is told of.
                self._reached = True
                ended += self._told_void()
            if told.ending is not None:
                ended += self._ended(told.number, match, told.ending)
        return ended

    def _ended(self, number: int, match: _Open, ending: Ending) -> list[dict[str, Any]]:
        if ending.void is not None and match.attempt < self._replays:
            match.attempt, match.turns = match.attempt + 1, []
            self._again.append(Begun(number, match.attempt, match.fixture))
            return []
        del self._open[number]
        record = records.finished(
            number, match.attempt, match.fixture, match.roles, match.turns, ending
        ) | {
            "seconds": round(time.monotonic() - match.since, 3),
            "ended_ms": time.time_ns() // 1_000_000,
        }
        if ending.void is not None and ending.missing is None:
            self._schedule.done(number, None)  # a jury that cannot be read, say: nobody is gone
            return [record]
        if ending.void is not None:
            self._void.append(record)
            if len(self._void) >= _SUSPECT:
                self._give_up()
            return []
        self._schedule.done(number, records.kept(record).result)
        return [record]

    def _told_void(self) -> list[dict[str, Any]]:
        """Return the void matches: somebody could be reached after them, so they are no outage.

        The schedule learns of them only now: what it draws from them may follow in the journal.
        """
        void, self._void = [*self._void], deque()
        for record in void:
            self._schedule.done(record["match"], None)
        return void

    def _give_up(self) -> None:
        last = self._void[-1]
        raise RunFailed(
            f"{len(self._void)} matches could not be played while nobody replied, the last because "
            f"{last['void']}. They do not count and are kept for later"
        )


@asynccontextmanager
async def rooms(
    fleet: Fleet, link: Link, house: House, *, actors: int, say: Say, room: type[Room] = Room
) -> AsyncIterator[Rooms]:
    """Set up so many actors, or one `room` in this process where it is 0.

    `say` is told what actors wait for; the fleet of this process tells that by itself.
    """
    if not actors:

        async def given() -> Fleet:
            return fleet

        mine = room(given, house)
        opened: Rooms = Seats([mine])
        thresholds = gc.get_threshold()
        _collect_seldom()
        try:
            yield opened
        finally:
            gc.set_threshold(*thresholds)
            gc.unfreeze()
            await opened.close()
            await mine.close()
        return
    async with listening(link, say) as heard, in_actors(actors, _Remote, heard, house) as seats:
        yield seats


class _Remote(Room):
    """A room in a process of its own."""

    def __init__(self, link: Link, house: House) -> None:
        super().__init__(Door(link).fleet, house)
        _collect_seldom()

    async def pick_up(self) -> list[Told]:
        """Wait for news; texts of completions stand in the turns already."""
        news = await super().pick_up()
        for told in news:
            told.spent = [(model, replace(it, text="", reasoning="")) for model, it in told.spent]
        return news


def _collect_seldom() -> None:
    """Look for cycles of garbage rarely: turns make none, and every look costs all matches time.

    What has been imported by now is not looked at again. Measured: a seventh of a move's time.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
