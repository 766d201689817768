"""A whole peer assessment in this process, of which nothing is kept but the records."""

from dataclasses import replace

from raybench.arena.decoding import Decoding
from raybench.arena.gathering import Gathering
from raybench.arena.known import Addresses, Known
from raybench.arena.table import Table
from raybench.arena.tables import Tables
from raybench.autobench.course import Course
from raybench.autobench.records import Record
from raybench.autobench.settings import Settings
from raybench.autobench.standing import Standing
from raybench.fleet import Fleet


async def assess(
    settings: Settings,
    fleet: Fleet,
    decoding: Decoding,
    last: int,
    *,
    standing: Standing | None = None,
    at_once: int = 1,
    budget: float = 0.0,
) -> list[Record]:
    """Play the iterations up to the last one, from the beginning or from a standing.

    The requests' seeds come from that of the settings.
    """
    decoding = replace(decoding, seed=settings.seed)

    async def given() -> Fleet:
        return fleet

    table = Table(given, settings, decoding)
    tables = Tables([table])
    gathering = Gathering(
        Course(
            settings, standing or Standing.start(settings), last, at_once=at_once, budget=budget
        ),
        settings,
        tables,
        Addresses(dict.fromkeys(settings.everybody, ""), decoding),
        Known(),
        keep=lambda came, asked: None,
    )
    try:
        return [each.record async for done in gathering.iterations() for each in done]
    finally:
        await tables.close()
        await table.clear()
