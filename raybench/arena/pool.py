"""Has a schedule's matches played, many at once, and hands on what happens in them."""

import asyncio
import math
import time
from collections import Counter, deque
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Collection,
    Mapping,
    Sequence,
)
from typing import Any

from raybench import games
from raybench.arena.absence import SUSPECT, Absence, Silence, Source
from raybench.arena.patience import Patience
from raybench.arena.room import Begun, House, Told
from raybench.arena.rooms import Rooms
from raybench.arena.under_way import Line, UnderWay, resumed
from raybench.errors import Problem, RunFailed
from raybench.games.parts import choice
from raybench.tournament import records
from raybench.tournament.fixtures import Fixture
from raybench.tournament.schedule import Schedule
from raybench.tournament.turns import Ending
from raybench.types import Completion

Lines = Sequence[Line]
_IN_VAIN = 10_000
"""So many matches in a row may lack somebody before no further one is looked at for now."""


class Unplayed(RunFailed):
    """All is played that can be, and matches are left that need somebody who is gone."""

    def __init__(self, gone: Mapping[Source, str], left: int, failed: Mapping[str, int]) -> None:
        """`gone` says why of each, `failed` how many requests of these matches got no reply."""
        told = " and ".join(f"{source} ({why})" for source, why in gone.items())
        super().__init__(
            Problem(
                "model.unreachable",
                f"{told} could not be had: {left:,} "
                f"{'match waits' if left == 1 else 'matches wait'} for that. All others are "
                "played, but for those drawn by their results",
            )
        )
        self.gone = gone
        self.failed = failed


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
        replied: Collection[str] = (),
        say: Callable[[str], None] = lambda text: None,
        phase: Callable[[str], None] = lambda text: None,
        patience_s: float | None = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`keep` takes the lines of turns before they count; `count` what was asked of models.

        So many matches at once are with the rooms: more than these play side by side, so that the
        next one begins in the moment when one ends.

        A match that is void is begun anew as often as `replays` says, in all sessions together.
        `unfinished` are matches that an earlier session began; `replied` are models that have done
        so there. `say` is told who cannot be reached, and who can be again; `phase` what goes on.
        Where all is played but for those who are gone, they are waited for as long as `patience_s`
        says; None is for ever. The clock returns seconds.
        """
        self._schedule = schedule
        self._rooms = rooms
        self._house = house
        self._at_once = at_once
        self._replays = replays
        self._keep = keep
        self._count = count
        self._unfinished = dict(unfinished)
        self._open: dict[int, UnderWay] = {}
        self._seats: dict[str, tuple[str, ...]] = {}
        self._again: list[Begun] = []
        self._lines: list[Line] = []
        """What the journal has still to be told of."""
        self._absent = Absence(house.jurors, replied, clock)
        self._waiting: dict[int, UnderWay] = {}
        """Matches that need somebody who is gone for a while."""
        self._back: deque[int] = deque()
        """Those of them that may go on."""
        self._void = 0
        """Matches that were void since the last reply of a player, but for want of who is gone."""
        self._why = ""
        """Why the last one was."""
        self._reached = bool(replied)
        """A player has replied."""
        self._say = say
        self._patience = Patience(patience_s, say, phase, clock)

    async def matches(self) -> AsyncGenerator[list[dict[str, Any]]]:
        """Yield the records of matches as they end.

        Raises RunFailed where one after the other is void: that is an outage, and nothing of it
        belongs in the journal. Where others still reply, all is played that can be, then those who
        are gone are waited for, and in the end it raises Unplayed.
        """
        while True:
            await self._begin()
            left = math.inf
            if self._is_stuck():
                if self._absent.untold:
                    if not self._reached or (self._void >= SUSPECT and self._absent.outage):
                        self._give_up_on_all()
                    if ended := self._told_void(everybody=not self._absent.gone):
                        yield ended
                        continue
                if not self._absent.gone:
                    break
                if (left := self._patience.left(self._absent.gone)) <= 0:
                    self._give_up_on_some()
            else:
                self._patience.rest()
            if ended := await self._take(await self._news(left)):
                yield ended

    def _is_stuck(self) -> bool:
        """Tell whether nothing else could begin, or is under way, but what needs who is gone."""
        if not self._open:
            return True
        needed = (self._absent.lacking(it.fixture) for it in self._open.values())
        return self._places() > 0 and all(needed)

    async def _news(self, patience: float) -> list[Told]:
        """Wait for news of the rooms, or until somebody is to be asked or patience ends."""
        seconds = min(patience, self._absent.asks_in)
        if not self._open:
            await asyncio.sleep(seconds)
            return []
        return await self._rooms.pick_up(None if seconds == math.inf else seconds)

    async def _begin(self) -> None:
        """Have as many matches under way as there may be."""
        orders, self._again = self._again, []
        async for match in self._due():
            self._lines += match.begin()
            self._open[match.number] = match
            orders.append(match.order)
        await self._keep_lines()
        if orders:
            await self._rooms.put(orders)

    async def _keep_lines(self) -> None:
        if lines := self._lines:
            self._lines = []
            await self._keep(lines)

    async def _due(self) -> AsyncGenerator[UnderWay]:
        """Yield the matches that may begin now; each is under way before the next is wanted."""
        for number in self._absent.again():
            yield self._waiting.pop(number)
        in_vain = 0
        while (free := self._places()) > 0 and (found := await self._next(free)):
            for match in found:
                if (source := self._absent.lacking(match.fixture)) is None:
                    in_vain = 0
                    yield match
                elif match.begun:
                    self._waiting[match.number] = match
                    self._absent.wait(source, match.number, match.fixture)
                else:
                    in_vain += 1
                    self._schedule.set_aside(match.number)
            if in_vain >= _IN_VAIN:
                return  # it may go on so without end, where only a budget ends it
            await asyncio.sleep(0)

    def _places(self) -> int:
        """Return how many more matches may begin.

        While it is not clear whether anybody can be reached, those that were void keep theirs: a
        reply may still come, and thousands would be void before it did.
        """
        unclear = min(self._void, self._absent.untold)
        most = min(self._at_once, max(self._at_once, SUSPECT) - unclear)
        return most - (len(self._open) - self._absent.asking)

    async def _next(self, count: int) -> list[UnderWay]:
        """Return up to so many matches that are next, those that had to wait before others."""
        if self._back:
            numbers = [self._back.popleft() for _ in range(min(count, len(self._back)))]
            return [self._waiting.pop(number) for number in numbers]
        return [self._new(number, fixture) for number, fixture in await self._taken(count)]

    async def _taken(self, count: int) -> list[tuple[int, Fixture]]:
        """Return up to so many matches of the schedule.

        Ratings are not fitted in the loop in which all matches go on. Nothing is told to the
        schedule meanwhile, so that it draws what it would have drawn at once.
        """
        try:
            if self._schedule.slow(count):
                return await asyncio.to_thread(self._schedule.take, count)
            return self._schedule.take(count)
        except ValueError as error:
            raise RunFailed(
                Problem("run.conflict", f"the run cannot go on as it began: {error}")
            ) from error

    def _new(self, number: int, fixture: Fixture) -> UnderWay:
        roles = self._roles(fixture.game)
        if (earlier := self._unfinished.pop(number, None)) is None:
            return UnderWay(number, fixture, roles, self._replays)
        match, lines = resumed(number, earlier, roles, self._house, self._replays)
        self._lines += lines
        return match

    def _roles(self, game: str) -> tuple[str, ...]:
        if game not in self._seats:
            self._seats[game] = choice.seats(games.load(game), self._house.rules.get(game, {}))
        return self._seats[game]

    async def _take(self, news: Sequence[Told]) -> list[dict[str, Any]]:
        """Keep turns, and return the records of what ended."""
        ended: list[dict[str, Any]] = []
        for told in news:
            match = self._open[told.number]
            for model, completion in told.spent:
                self._count(model, completion)
            self._lines += match.take(told)
            for turn in told.turns:
                if (back := self._absent.heard(match.fixture, turn)) is not None:
                    ended += self._welcome(*back)
            if any(turn.model and turn.model not in self._house.scripts for turn in told.turns):
                # Somebody can be reached: what was void before is no outage of all.
                self._reached, self._void = True, 0
                ended += self._told_void(everybody=False)
            if told.ending is not None:
                ended += self._ended(match, told.ending)
        await self._keep_lines()
        return ended

    def _welcome(self, source: Source, silence: Silence) -> list[dict[str, Any]]:
        """Go on with what waited for somebody who replies again; return what is told of as void."""
        if silence.void >= SUSPECT:
            self._say(f"{source} replies again: what waited for it goes on")
            self._schedule.bring_back()
        for number in silence.waiting:
            self._waiting[number].left = self._replays
        if silence.asking is not None:  # the one that found out waited like the others
            self._open[silence.asking].left = self._replays
        self._back += silence.waiting
        return self._done(silence.untold)

    def _ended(self, match: UnderWay, ending: Ending) -> list[dict[str, Any]]:
        gone = ending.missing is not None and self._absent.is_gone(match.fixture, ending.missing)
        if ending.void is not None and match.left and not gone:
            match.left -= 1
            self._lines.append(match.begin_anew(ending.void, ending.missing))
            self._again.append(match.order)
            return []
        del self._open[match.number]
        self._absent.ended(match.number)
        record = match.record(ending, self._house)
        if ending.void is not None and ending.missing is not None:
            if not gone:
                self._void, self._why = self._void + 1, ending.void
            self._missed(match, record)
            return []
        result = None  # where a jury cannot be read, say: nobody is gone
        if ending.void is None:
            result = records.result(
                match.fixture, match.roles, ending.scores, ending.sides, record["table"]
            )
        self._schedule.done(match.number, result)
        return [record]

    def _missed(self, match: UnderWay, record: dict[str, Any]) -> None:
        """Keep a void match back, until it is clear whether it is one of an outage."""
        self._waiting[match.number] = match
        self._lines.append(match.held(record, self._replays))
        if (source := self._absent.missed(match.fixture, record)) is not None:
            self._say(
                f"{source} cannot be reached: {record['void']}. Matches that need it wait, the "
                "others go on"
            )

    def _told_void(self, *, everybody: bool) -> list[dict[str, Any]]:
        """Return void matches that are no outage: their player cannot be had, or `everybody`'s."""
        return self._done(self._absent.told(everybody=everybody))

    def _done(self, void: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return void matches, with which nothing more is to be done.

        The schedule learns of them only now: what it draws from them may follow in the journal.
        """
        for record in void:
            del self._waiting[record["match"]]
            self._schedule.done(record["match"], None)
        return void

    def _give_up_on_all(self) -> None:
        raise RunFailed(
            Problem(
                "model.unreachable",
                f"{self._void} matches could not be played while nobody replied, the last because "
                f"{self._why}. They do not count and are kept for later",
            )
        )

    def _give_up_on_some(self) -> None:
        """End where all is played that can be without those who are gone."""
        begun = [*self._open.values(), *self._waiting.values()]
        raise Unplayed(
            {source: it.why for source, it in self._absent.gone.items()},
            len(begun) + self._schedule.aside,
            sum((it.failed for it in begun), Counter[str]()),
        )
