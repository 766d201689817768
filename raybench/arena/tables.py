"""The tables of a peer assessment: here, or in actors of the cluster."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from raybench.arena.decoding import Decoding
from raybench.arena.seats import Seats, in_actors
from raybench.arena.table import Batch, Order, Table
from raybench.autobench.settings import Settings
from raybench.fleet import Fleet
from raybench.fleet.client import Say
from raybench.fleet.link import Door, Link, listening

Tables = Seats[Order, Batch]


@asynccontextmanager
async def tables(
    fleet: Fleet, link: Link, settings: Settings, decoding: Decoding, *, actors: int, say: Say
) -> AsyncIterator[Tables]:
    """Set up so many actors, or one table in this process where it is 0.

    `say` is told what actors wait for; the fleet of this process tells that by itself.
    """
    if not actors:
        table = Table(lambda: _given(fleet), settings, decoding)
        opened: Tables = Seats([table])
        try:
            yield opened
        finally:
            await opened.close()
            await table.clear()
        return
    async with (
        listening(link, say) as heard,
        in_actors(
            actors, _Seated, heard, settings, decoding,
            on=link.conf.work_nodes, say=say, within_s=link.conf.start_deadline_s,
        ) as seats,
    ):  # fmt: skip
        yield seats


class _Seated(Table):
    """A table in a process of its own."""

    def __init__(self, link: Link, settings: Settings, decoding: Decoding) -> None:
        super().__init__(Door(link).fleet, settings, decoding)


async def _given(fleet: Fleet) -> Fleet:
    return fleet
