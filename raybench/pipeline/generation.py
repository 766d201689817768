"""The stage that asks the models. It reads questions as the engines have room for them.

Each model has its own jobs: a model that is slow, or whose engine is not loaded, holds up no other.
A unit is handed on to grading as soon as its reply is there.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from queue import SimpleQueue
from threading import Thread
from typing import Any

from raybench import benchmarks
from raybench.fleet import Fleet
from raybench.fleet.link import Door, Link
from raybench.pipeline import chains
from raybench.pipeline.chains import Said
from raybench.pipeline.process import Block, prepare
from raybench.pipeline.reply_log import ReplyWriter
from raybench.pipeline.stage_reports import Lane, Reporter, lane_of
from raybench.pipeline.stages import (
    JOBS,
    Asking,
    Unit,
    light,
    packed,
    put,
    reply_of,
    request,
    request_of,
)
from raybench.pipeline.units import Job, unit_id

_GATHER_S = 0.5
"""Units that are finished within this time are handed on together."""
_GROUP = 128
"""The largest number of units that are handed on together."""
_PROGRAMS = 8
"""Programs that are handed on together, on a small cluster. A group counts as done when all of it
is graded, and what a kill interrupts is graded again."""
_GROUPS = 16
"""While this many groups wait for the stages that grade, no more are handed on."""
_WAITING = 4096
"""While this many units wait for that, no more models are asked."""
_CHAINED_JOBS = 16
"""Jobs of a model whose questions follow others that are under way at once."""


class Generate:
    """Asks the models all of their questions, in one process with one event loop."""

    def __init__(
        self, link: Link, asking: Asking, known: Any = None, programs: int = _PROGRAMS
    ) -> None:
        """`known` is Ray's reference to what is known of units that are done.

        These are their ids, as a sorted array, and what was replied to those that others follow.
        `programs` is how many are handed on together, if more than 8 and less than 128.
        """
        prepare()
        self._done: Any = ()
        self._said: Said = {}
        if known is not None:
            import ray

            self._done, self._said = ray.get(known)
        self._programs = min(_GROUP, max(_PROGRAMS, programs))
        self._door = Door(link)
        self._asking = asking
        self._replies = ReplyWriter(asking.log)
        self._reporter = Reporter(link)

    def __call__(self, block: Block) -> Iterator[Block]:
        """Yield the units of the block's jobs with what their models made of the prompts."""
        jobs = [Job(**job) for text in block[JOBS] for job in json.loads(text)]
        loop, groups = asyncio.new_event_loop(), SimpleQueue[list[Unit] | None]()
        # The engines' events have to be heard while nobody takes what is finished. The loop stays:
        # the connection to the engines lives in it until this process ends.
        Thread(target=loop.run_forever, daemon=True).start()

        async def answer() -> None:
            try:
                async with aclosing(self.answered(jobs)) as answered:
                    async for group in answered:
                        groups.put(group)
                        while groups.qsize() >= _GROUPS:
                            await asyncio.sleep(_GATHER_S)
            finally:
                groups.put(None)

        answering = asyncio.run_coroutine_threadsafe(answer(), loop)
        try:
            while (group := groups.get()) is not None:
                yield packed(group)
            answering.result()
        finally:
            answering.cancel()

    async def answered(self, jobs: Sequence[Job]) -> AsyncGenerator[list[Unit]]:
        """Yield units in groups as they are finished."""
        by_model: dict[str, list[Job]] = {}
        for job in jobs:
            by_model.setdefault(job.model, []).append(job)
        finished: list[Unit] = []
        asking = asyncio.gather(*(self._ask_all(*each, finished) for each in by_model.items()))
        try:
            while finished or not asking.done():
                await asyncio.wait([asking], timeout=_GATHER_S)
                groups = [*self._groups(finished)]
                finished.clear()
                for group in groups:
                    yield group
            try:
                await asking
            except ExceptionGroup as broken:
                raise _first(broken) from None
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    def _groups(self, units: Sequence[Unit]) -> Iterator[list[Unit]]:
        """Yield units in groups as large as may be, programs apart."""
        for is_program, most in ((False, _GROUP), (True, self._programs)):
            alike = [unit for unit in units if _is_program(unit) == is_program]
            for start in range(0, len(alike), most):
                yield alike[start : start + most]

    async def _ask_all(self, model: str, jobs: Sequence[Job], finished: list[Unit]) -> None:
        """Have a model answer all of its jobs, each as soon as there is room for it."""
        left = sum(job.units for job in jobs)
        chained = asyncio.Semaphore(_CHAINED_JOBS)
        counted, counting = set[Job](), None
        fleet: Fleet | None = None
        try:
            async with asyncio.TaskGroup() as asking:
                for number, job in enumerate(jobs, start=1):
                    left -= job.units
                    units = await asyncio.to_thread(self._units, job)
                    missing = [unit for unit in units if "finish" not in unit]
                    known = [unit for unit in units if "finish" in unit]
                    if known and counting is None:
                        later = self._count_known(jobs[number:], counted)
                        counting = asking.create_task(later)
                    if job not in counted:
                        counted.add(job)
                        self._reporter.add_known(map(_lane, known))
                    finished += map(_asked, known)
                    while len(finished) >= _WAITING:
                        await asyncio.sleep(_GATHER_S)
                    if not missing:
                        continue
                    fleet = await self._door.fleet()
                    fleet.expect(model, left)
                    if benchmarks.load(job.benchmark).chained:
                        await chained.acquire()
                        said = chains.heard(known)
                        following = asking.create_task(self._follow(fleet, missing, said, finished))
                        following.add_done_callback(lambda _: chained.release())
                    else:
                        await fleet.wait_for_room(model)
                        asking.create_task(self._ask(fleet, model, missing, finished))
                if counting is not None:
                    counting.cancel()
        finally:
            if fleet is not None:
                fleet.expect(model, 0)

    async def _count_known(self, jobs: Sequence[Job], counted: set[Job]) -> None:
        """Report which replies of later jobs are known, for the time left."""
        for job in jobs:
            units = await asyncio.to_thread(self._units, job)
            if job not in counted:
                counted.add(job)
                self._reporter.add_known(_lane(unit) for unit in units if "finish" in unit)

    def _units(self, job: Job) -> list[Unit]:
        return [light(unit) for unit in put(job, self._asking, self._done, self._said)]

    async def _follow(
        self, fleet: Fleet, units: Sequence[Unit], heard: Said, finished: list[Unit]
    ) -> None:
        """Ask for each unit when what it follows is answered; no chain waits for another."""
        said = dict(heard)
        for unit in units:
            said |= dict(unit.pop("said", ()))
        answered = {unit_id(unit): asyncio.Event() for unit in units}

        async def ask(unit: Unit) -> None:
            for number in chains.before(unit).values():
                if number in answered:
                    await answered[number].wait()
            if "request" not in unit:
                request(unit, self._asking, said)
            if "finish" in unit:
                finished.append(_asked(unit))
            else:
                await self._ask(fleet, unit["model"], [unit], finished)
            said.update(chains.heard([unit]))
            answered[unit_id(unit)].set()

        async with asyncio.TaskGroup() as asking:  # one that breaks ends those that wait for it
            for unit in units:
                asking.create_task(ask(unit))

    async def _ask(
        self, fleet: Fleet, model: str, units: Sequence[Unit], finished: list[Unit]
    ) -> None:
        """Add its reply to each unit: from the log of this run, else from the model."""
        keys = [self._asking.key(unit) for unit in units]
        logged = await self._replies.find([key for key in keys if key])
        missing = []
        for unit, key in zip(units, keys, strict=True):
            if key in logged:
                self._reporter.add_known([_lane(unit)])
                finished.append(_asked(unit, logged[key]))
            else:
                missing.append((unit, key))
        if not missing:
            return
        written: asyncio.Task[None] | None = None
        requests = [request_of(unit) for unit, _ in missing]
        with self._reporter.work(model):
            async with aclosing(fleet.stream(model, requests)) as replies:
                async for place, completion in replies:
                    unit, key = missing[place]
                    reply = reply_of(completion)
                    self._reporter.add(_lane(unit), completion.own_seconds)
                    if key and completion.finish != "error":
                        written = self._replies.add(unit_id(unit), key, reply)
                    finished.append(_asked(unit, reply))
        if written is not None:
            await written


def _asked(unit: Unit, reply: Mapping[str, Any] | None = None) -> Unit:
    """Add a reply to a unit, which needs its request no more."""
    unit.pop("request", None)
    unit |= reply or {}
    return unit


def _is_program(unit: Unit) -> bool:
    """Tell whether a unit's reply is a program to run."""
    return benchmarks.load(unit["benchmark"]).sandboxed


def _lane(unit: Unit) -> Lane:
    return lane_of(unit["model"], unit["benchmark"])


def _first(broken: ExceptionGroup[Exception]) -> Exception:
    error: Exception = broken
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error
