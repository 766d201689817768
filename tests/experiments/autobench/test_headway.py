"""What a person is told of the replies of an assessment, and of the time that is left."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
from statements import values
from time_left import watched
from virtual_time import now

from raybench.arena.decoding import Decoding
from raybench.arena.gathering import Came, Gathering
from raybench.arena.known import Addresses, Known
from raybench.arena.seats import Seats
from raybench.arena.table import Table
from raybench.autobench.course import Course
from raybench.autobench.settings import Settings
from raybench.autobench.standing import Standing
from raybench.autobench.steps import Address, Kind, Reply
from raybench.experiments.autobench.headway import Headway
from raybench.experiments.parts.session import Session
from raybench.fleet import Fleet, group_engines
from raybench.fleet.simulated import SimulatedEngine
from raybench.tracking.console import Progress
from raybench.types import Completion, ModelSpec, Request

TOKENS: dict[Kind, int] = {"task": 65, "task_rating": 16, "answer": 64, "answer_rating": 16}
SECONDS = {65: 6.0, 64: 20.0, 16: 1.0}
"""Of a reply, from a model of speed 1, by how long it may be."""


class Heard:
    """A session that only remembers what it was told."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.phases: list[str] = []
        self.spent: list[dict[str, int]] = []

    def phase(self, name: str) -> None:
        self.phases.append(name)

    def spend(self, **counts: int) -> None:
        self.spent.append(counts)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_known_replies_count_but_say_nothing_of_the_pace() -> None:
    clock = Clock()
    heard = Heard(Progress(10, "iterations", clock=clock))
    headway = Headway(cast(Session, heard), 1_210, [])
    heard.progress.start()
    headway.known({("a", "answer"): 210})
    assert heard.progress.eta() is None
    came = Reply("yes", prompt_tokens=3, output_tokens=2)
    failed = Reply(None, finish="error", prompt_tokens=3)
    clock.now += 60
    step: Address = (1, 1, "answer")
    headway.asked([(step, "a", [came, failed] * 125), (step, "b", [came, failed] * 125)])
    clock.now += 5
    assert [values(it) for it in heard.phases] == [
        {"replies": 210, "least": 1210},
        {"replies": 710, "least": 1210},
    ]
    assert heard.progress.eta() == pytest.approx(55, abs=1)
    assert heard.spent == [{"prompt_tokens": 1_500, "output_tokens": 500, "errors": 250}]


def test_more_replies_than_there_are_at_least_have_an_unknown_end() -> None:
    clock = Clock()
    heard = Heard(Progress(10, "iterations", clock=clock))
    headway = Headway(cast(Session, heard), 12, [])
    for _ in range(2):
        clock.now += 60
        headway.asked([((1, 1, "answer"), "a", [Reply("yes")] * 6)])
    clock.now += 5
    assert heard.progress.eta() is None


class Slow(SimulatedEngine):
    """Takes its time with each reply, a few at once."""

    def __init__(self, speeds: dict[str, float], at_once: int) -> None:
        super().__init__()
        self._speeds, self._random = speeds, random.Random(5)
        self._limits = {name: asyncio.Semaphore(at_once) for name in speeds}

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        return [*await asyncio.gather(*(self._reply(model, it) for it in requests))]

    async def _reply(self, model: ModelSpec, request: Request) -> Completion:
        async with self._limits[model.name]:
            seconds = SECONDS[request.max_tokens or 0] / self._speeds[model.name]
            seconds *= self._random.lognormvariate(-0.08, 0.4)
            await asyncio.sleep(seconds)
        return replace((await super().complete(model, [request]))[0], seconds=seconds)


@pytest.mark.virtual_time
@pytest.mark.slow
@pytest.mark.parametrize("at_once", [16, 150])
async def test_the_time_left_of_an_assessment(at_once: int) -> None:
    """Answers take 20 times as long as ratings, of which there are four times as many."""
    iterations, speeds = 150, {"a": 0.4, "b": 1.0, "c": 1.5, "d": 5.0}
    models = [
        ModelSpec(name, "simulated", "", options={"ability": 0.7 - 0.1 * place})
        for place, name in enumerate(speeds)
    ]
    settings = Settings(tuple(speeds))
    (spec,) = group_engines(models)
    fleet = Fleet([spec], {spec.name: Slow(speeds, 8)})
    heard = Heard(Progress(iterations, "iterations", clock=now))
    expected: dict[tuple[str, Kind], float] = {}
    for name in speeds:
        expected |= {(name, "task"): iterations / 4, (name, "task_rating"): iterations}
        expected |= {(name, "answer"): iterations, (name, "answer_rating"): 4 * iterations}
    headway = Headway(cast(Session, heard), iterations * 25, models, expected)
    heard.progress.start()

    async def given() -> Fleet:
        return fleet

    def keep(came: Sequence[Came], asked: bool) -> None:
        headway.asked((step, model, by.values()) for step, model, by in came)

    gathering = Gathering(
        Course(
            settings,
            Standing.start(settings),
            iterations,
            at_once=at_once,
            budget=0.5 * 25 * iterations,
        ),
        settings,
        cast(Any, Seats([Table(given, settings, Decoding(TOKENS))])),
        Addresses(dict.fromkeys(speeds, ""), Decoding(TOKENS)),
        Known(),
        keep,
        skip=headway.known,
    )

    async def run() -> None:
        async for done in gathering.iterations():
            heard.progress.advance(len(done))

    found = await watched(heard.progress, run())
    assert found.error() < 0.3
