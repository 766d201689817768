"""Where a tournament's matches are played: a room in this process, or in actors of the cluster."""

import gc
import math
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from types import MappingProxyType

from raybench.arena.manager import programs_at_once
from raybench.arena.room import Begun, House, Room, Told
from raybench.arena.seats import Seats, in_actors
from raybench.fleet import Fleet
from raybench.fleet.client import Say
from raybench.fleet.cluster import count
from raybench.fleet.link import Door, Link, listening

Rooms = Seats[Begun, Told]


@asynccontextmanager
async def rooms(
    fleet: Fleet,
    link: Link,
    house: House,
    *,
    actors: int,
    say: Say,
    room: type[Room] = Room,
    on: Mapping[str, str] = MappingProxyType({}),
) -> AsyncIterator[Rooms]:
    """Set up so many actors, or one `room` in this process where it is 0.

    `say` is told what actors wait for; the fleet of this process tells that by itself. `on` chooses
    the actors' nodes by their labels.
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
    async with (
        listening(link, say) as heard,
        in_actors(
            actors, _Remote, heard, house, math.ceil(actors / max(1, count(on))),
            on=on, say=say, within_s=link.conf.start_deadline_s,
        ) as seats,
    ):  # fmt: skip
        yield seats


class _Remote(Room):
    """A room in a process of its own."""

    gathers_s = 0.02
    # Every call costs both processes: measured, with 256 matches in two, half of the driver's work.

    def __init__(self, link: Link, house: House, sharing: int) -> None:
        """Play in one of so many processes that share the machine."""
        slots = house.slots or programs_at_once(sharing)
        super().__init__(Door(link).fleet, replace(house, slots=slots))
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
