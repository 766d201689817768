"""A client process and the controller: what is reported, and what becomes of answers."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest
from engines.fake_controller import FakeController
from engines.replicas import Replica
from statements import code
from virtual_time import loop

from raybench.engines.assignments import AssignmentLoop, ControllerGoneError
from raybench.engines.base import DemandReport, ReplicaHandle

pytestmark = pytest.mark.virtual_time


class Feeder:
    """Notes what it is told."""

    def __init__(self, engine: str) -> None:
        self.engine = engine
        self.ready = self.outstanding = 0
        self.replicas: Mapping[str, ReplicaHandle] = {}
        self.refusal = ""

    def report(self) -> DemandReport:
        return DemandReport("here", self.engine, self.ready, self.outstanding, 0)

    def set_replicas(self, replicas: Mapping[str, ReplicaHandle]) -> None:
        self.replicas, self.refusal = replicas, ""

    def refuse(self, reason: str) -> None:
        self.refusal = reason


class World:
    """One client with the feeders of two engines."""

    def __init__(self) -> None:
        self.controller = FakeController("e")
        self.feeder, self.other = Feeder("e"), Feeder("f")
        self.handles: dict[str, ReplicaHandle] = {}
        feeders = {feeder.engine: feeder for feeder in (self.feeder, self.other)}
        assignments = AssignmentLoop("here", self.controller, feeders, self._connect)
        self.task = asyncio.create_task(assignments.run())

    def _connect(self, replica: str) -> ReplicaHandle:
        assert replica not in self.handles
        self.handles[replica] = Replica()
        return self.handles[replica]


@asynccontextmanager
async def client() -> AsyncIterator[World]:
    world = World()
    await asyncio.sleep(1)
    yield world
    world.task.cancel()
    await asyncio.gather(world.task, return_exceptions=True)


async def test_demand_is_reported_at_once_and_its_size_every_second() -> None:
    async with client() as world:
        world.feeder.ready = 1
        await asyncio.sleep(0.15)
        assert world.controller.wanted["e"] == 1
        reports = world.controller.reports
        for ready in range(2, 100):
            world.feeder.ready = ready
            await asyncio.sleep(0.1)
        assert world.controller.reports - reports <= 10
        await asyncio.sleep(1.5)
        assert world.controller.wanted["e"] == 99
        world.feeder.ready = 0
        await asyncio.sleep(0.15)
        assert world.controller.wanted["e"] == 0


async def test_what_does_not_change_is_not_reported_again() -> None:
    async with client() as world:
        world.feeder.ready = 5
        await asyncio.sleep(5)
        reports = world.controller.reports
        await asyncio.sleep(500)
        assert world.controller.reports == reports


async def test_a_replica_keeps_its_handle_while_it_is_away() -> None:
    async with client() as world:
        world.controller.assign("e-r0", "e-r1")
        await asyncio.sleep(1)
        assert world.feeder.replicas == world.handles
        assert {*world.handles} == {"e-r0", "e-r1"}
        world.controller.assign("e-r1")
        await asyncio.sleep(1)
        assert {*world.feeder.replicas} == {"e-r1"}
        world.controller.assign("e-r0", "e-r1")
        await asyncio.sleep(1)
        assert world.feeder.replicas == world.handles
        assert world.other.replicas == {}


async def test_an_engine_is_refused_while_the_controller_says_so() -> None:
    async with client() as world:
        world.controller.assign(failure="no weights")
        await asyncio.sleep(1)
        assert (world.feeder.refusal, world.other.refusal) == ("no weights", "")
        world.controller.assign()
        await asyncio.sleep(1)
        assert world.feeder.refusal == ""


async def test_an_engine_with_a_replica_is_not_refused() -> None:
    async with client() as world:
        world.controller.assign("e-r0", failure="another replica failed")
        await asyncio.sleep(1)
        assert world.feeder.refusal == ""


async def test_a_controller_that_was_started_again_learns_what_is_wanted() -> None:
    async with client() as world:
        world.feeder.ready = 5
        world.controller.assign("e-r0")
        await asyncio.sleep(5)
        world.controller.fail(ConnectionError("it died"))
        await asyncio.sleep(30)
        assert {*world.feeder.replicas} == {"e-r0"}  # which may live
        world.controller.begin_again()
        world.controller.assign("e-r7")  # by chance the version that the client knows
        await asyncio.sleep(5)
        assert world.controller.wanted == {"e": 5, "f": 0}
        assert {*world.feeder.replicas} == {"e-r7"}


async def test_a_client_that_was_suspended_reports_again() -> None:
    async with client() as world:
        world.feeder.ready = 5
        await asyncio.sleep(5)
        world.controller.wanted = {}  # the client is given up after two minutes
        loop().advance(200)
        world.controller.assign()
        await asyncio.sleep(5)
        assert world.controller.wanted["e"] == 5


async def test_where_the_controller_is_gone_all_requests_are_refused() -> None:
    async with client() as world:
        world.controller.assign("e-r0")
        await asyncio.sleep(1)
        world.controller.fail(ControllerGoneError("its node died"))
        await world.task
        for feeder in (world.feeder, world.other):
            assert feeder.replicas == {}
            assert code(feeder.refusal) == "engine.controller_lost"
