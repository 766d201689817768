"""The stage that asks models: what is read and asked when, and in which groups it is handed on."""

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import asdict
from typing import Any, cast

import pytest
from virtual_time import now

from raybench.config import FleetConf
from raybench.engines.base import Placed
from raybench.errors import Problem, RunFailed
from raybench.fleet.link import Door, Link
from raybench.fleet.streams import Room
from raybench.pipeline import generation
from raybench.pipeline.generation import Generate
from raybench.pipeline.stages import JOBS, Asking, Unit, unpacked
from raybench.pipeline.units import Job
from raybench.types import Completion, ModelSpec, Request

pytestmark = pytest.mark.virtual_time


class Engines:
    """A fleet whose models take their time for each reply, two at a time."""

    def __init__(self, **seconds: float) -> None:
        self.seconds = seconds
        self.rooms = {model: Room(128) for model in seconds}
        self.places = {model: asyncio.Semaphore(2) for model in seconds}
        self.expected = Counter[str]()
        self.replied = Counter[str]()
        self.error: Exception | None = None

    async def fleet(self) -> "Engines":
        return self

    def expect(self, model: str, requests: int) -> None:
        self.expected[model] = requests

    async def wait_for_room(self, model: str) -> None:
        await self.rooms[model].wait()

    async def stream(self, model: str, requests: Sequence[Request]) -> AsyncGenerator[Placed]:
        if self.error is not None:
            raise self.error
        asked = [self._reply(model, place) for place in range(len(requests))]
        for each in asyncio.as_completed(asked):
            yield await each

    async def _reply(self, model: str, place: int) -> Placed:
        with self.rooms[model].taken():
            async with self.places[model]:
                await asyncio.sleep(self.seconds[model])
        self.replied[model] += 1
        return place, Completion("Answer: A", "stop")


class Stage(Generate):
    """Asks units that it makes up; counts the jobs that it has read."""

    def __init__(self, engines: Engines) -> None:
        models = {name: ModelSpec(name, "openai", "weights") for name in engines.seconds}
        super().__init__(Link((), FleetConf(), None, {}), Asking(models, 0))
        self._door = cast(Door, engines)
        self.read = Counter[str]()

    def _units(self, job: Job) -> list[Unit]:
        self.read[job.model] += 1
        request = {"messages": [["user", "?", []]], "seed": 7, "max_tokens": 16}
        request |= {"temperature": 0.0, "gold": None}
        names = {"model": job.model, "benchmark": job.benchmark, "language": "en", "repeat": 0}
        return [
            {**names, "key": f"{row}", "request": request} for row in range(job.start, job.stop)
        ]


@pytest.fixture(autouse=True)
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation, "prepare", lambda: None)


def jobs(model: str, units: int, benchmark: str = "mmlu_pro") -> list[Job]:
    ends = [*range(0, units, 64), units]
    return [Job(model, benchmark, "", *each, 1) for each in itertools.pairwise(ends)]


async def groups(stage: Stage, jobs: Sequence[Job]) -> list[list[Unit]]:
    return [group async for group in stage.answered(jobs)]


async def test_a_slow_model_holds_up_no_other() -> None:
    engines = Engines(slow=100.0, quick=0.1)
    asked = [*jobs("slow", 1000), *jobs("quick", 5000)]
    under_way = asyncio.create_task(groups(Stage(engines), asked))
    await asyncio.sleep(5000 / 2 * 0.1 + 5)
    assert engines.replied["quick"] == 5000
    under_way.cancel()


async def test_questions_are_read_as_there_is_room_for_them() -> None:
    engines = Engines(m=10.0)
    stage = Stage(engines)
    under_way = asyncio.create_task(groups(stage, jobs("m", 64 * 20)))
    await asyncio.sleep(5)
    # Two are asked, which fills the room, and one is at hand.
    assert stage.read["m"] == 3
    assert engines.expected["m"] == 64 * 17
    under_way.cancel()
    await asyncio.gather(under_way, return_exceptions=True)
    assert engines.expected["m"] == 0


async def test_replies_go_on_soon_after_they_have_come() -> None:
    stage = Stage(Engines(m=10.0))
    begun, keys = now(), Counter[str]()
    async for group in stage.answered(jobs("m", 100)):
        keys.update(unit["key"] for unit in group)
        assert 2 * (now() - begun - 1) / 10 <= keys.total() + 2
        assert all(unit["finish"] == "stop" and "request" not in unit for unit in group)
    assert keys == Counter(f"{row}" for row in range(100))


async def test_what_is_finished_while_nobody_takes_it_is_taken_later() -> None:
    engines = Engines(m=1.0)
    answered = Stage(engines).answered(jobs("m", 300))
    taken = len(await anext(answered))
    await asyncio.sleep(1000)
    assert engines.replied["m"] == 300
    async for group in answered:
        taken += len(group)
    assert taken == 300


async def test_programs_go_on_in_small_groups_of_their_own() -> None:
    stage = Stage(Engines(a=0.0, b=0.0))
    found = await groups(stage, [*jobs("a", 300), *jobs("b", 20, "humaneval")])
    assert max(map(len, found)) <= 128
    assert all(len({unit["benchmark"] for unit in group}) == 1 for group in found)
    assert max(len(group) for group in found if group[0]["benchmark"] == "humaneval") == 8
    assert sum(map(len, found)) == 320


async def test_what_breaks_a_model_breaks_the_stage_as_it_is() -> None:
    engines = Engines(m=1.0, other=1000.0)
    asking = asyncio.create_task(
        groups(Stage(engines), [*jobs("other", 10), *jobs("m", 100), *jobs("m", 5, "scicode")])
    )
    engines.error = RunFailed(Problem("file.unwritable", "the disk is full"))
    with pytest.raises(RunFailed) as caught:
        await asking
    assert caught.value is engines.error


async def test_no_more_is_asked_while_nobody_takes_what_is_finished(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(generation, "_WAITING", 256)
    engines = Engines(m=0.0)
    answered = Stage(engines).answered(jobs("m", 5000))
    taken = len(await anext(answered))
    await asyncio.sleep(100)
    assert engines.replied["m"] <= 2 * (256 + 3 * 64)  # here, and where they wait to be taken
    async for group in answered:
        taken += len(group)
    assert taken == 5000


def test_a_process_of_ray_takes_groups_one_by_one() -> None:
    """In the thread of Ray Data, while the engines' loop runs in another."""
    asked = [json.dumps([asdict(job) for job in jobs("m", 300)])]
    blocks: Iterator[Any] = Stage(Engines(m=0.0))({JOBS: asked})
    units = [unit for block in blocks for unit in unpacked(block)]
    assert len(units) == 300
