"""The programs' stage: replies that are programs are run, in the slots of the sandbox."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from raybench.fleet.link import Link
from raybench.pipeline import rows
from raybench.pipeline.process import Block, prepare
from raybench.pipeline.stage_reports import PROGRAMS, Reporter, lane_of
from raybench.pipeline.stages import (
    Asking,
    Unit,
    graded,
    is_program,
    packed,
    ungraded,
    unpacked,
)
from raybench.sandbox import Profile, SandboxFaultError
from raybench.sandbox.places import Settings
from raybench.sandbox.pool import Pool
from raybench.types import Grader


@dataclass(frozen=True)
class Slots:
    """Where programs run."""

    settings: Settings = Settings()
    each: int | None = None
    """On every node; None for one of every core but one."""
    profiles: tuple[Profile, ...] = ("plain",)
    """What the programs may need."""
    on: Mapping[str, str] = field(default_factory=dict)
    """On nodes with these labels."""
    demand: str | None = None
    """The name of what is asked of the cluster for them."""


class Programs:
    """Has replies that are programs graded, each in a slot. One process of it feeds all slots.

    It is where the shards are: a row is read when a slot is about to take it, and so no row waits
    in memory with the blocks.
    """

    def __init__(self, slots: Slots, link: Link, asking: Asking, grader: Grader) -> None:
        prepare()
        self._slots, self._link, self._asking, self._grader = slots, link, asking, grader
        self._reporter = Reporter(link)
        self._opening: asyncio.Task[Pool] | None = None

    async def __call__(self, block: Block) -> Block:
        """Replace each unit's question by what its reply is worth."""
        return packed(await asyncio.gather(*map(self._graded, unpacked(block))))

    async def _graded(self, unit: Unit) -> Unit:
        if not is_program(unit):
            return unit
        pool, loop = await self._opened(), asyncio.get_running_loop()
        with self._reporter.work(PROGRAMS):
            async with pool.soon():
                begun = loop.time()
                if "row" not in unit:
                    unit["row"] = await asyncio.to_thread(rows.at, unit["place"])
                try:
                    done = await self._run(pool, unit)
                except SandboxFaultError as error:
                    done = ungraded(unit, str(error))
                seconds = loop.time() - begun
            self._reporter.add(lane_of(PROGRAMS, unit["benchmark"], PROGRAMS), seconds)
        return done

    async def _run(self, pool: Pool, unit: Unit) -> Unit:
        draw = self._asking.draw(unit)
        told = await pool.call(graded, unit, draw, self._grader)
        if told.get("details", {}).get("crowded"):
            # Too slow, or kept from the processor by others: alone on the node it shows.
            first = told["reason"]
            told = await pool.call(graded, unit, draw, self._grader, alone=True)
            told.setdefault("details", {})["first_try"] = first
        return told

    async def _opened(self) -> Pool:
        if self._opening is None:
            self._opening = asyncio.ensure_future(self._open())
        return await asyncio.shield(self._opening)

    async def _open(self) -> Pool:
        slots = self._slots
        pool = Pool(
            slots.settings, slots.each,
            on=slots.on, profiles=slots.profiles,
            say=partial(self._link.remark, lasting=True), demand=slots.demand,
        )  # fmt: skip
        await pool.ready()
        return pool
