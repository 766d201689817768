"""The controller with the real scheduler, feeders and replica servers, in virtual time."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from virtual_time import now, until

from perf.rig.faults import Fault
from perf.rig.profile import EngineProfile
from perf.rig.world import VirtualWorld
from raybench.engines.base import DemandReport
from raybench.engines.controller import EngineController, MoveFailedError
from raybench.engines.scheduler import EngineScheduler
from raybench.engines.scheduler.messages import (
    Device,
    DevicesFound,
    DevicesLost,
    EngineNeed,
    MemoryBudget,
    Node,
    Rules,
    SleepLevel,
    WeightsMissing,
)
from raybench.engines.weight_fetcher import WeightFetcher
from raybench.errors import Problem
from raybench.types import Completion, Message, Request

pytestmark = pytest.mark.virtual_time

PROFILE = EngineProfile(load_s=30.0, profile_s=2.0, kv_gib=20.0, max_num_seqs=8, reply_tokens=100.0)
MEMORY = MemoryBudget(weights=16.0, kv=20.0, activations=2.0, graphs=1.5, context=0.6)
Answers = Mapping[str, list[Completion]]


def node(name: str, devices: int, gib: float = 80.0) -> Node:
    return Node(name, tuple(Device(f"{name}/{n}", gib) for n in range(devices)), host_gib=500.0)


def need(engine: str, **more: Any) -> EngineNeed:
    return EngineNeed(engine, MEMORY, share=0.9, **more)


@asynccontextmanager
async def world(
    *engines: str, devices: int = 1, load_s: float = 30.0, **more: Any
) -> AsyncIterator[VirtualWorld]:
    found = VirtualWorld(
        [node("a", devices)],
        [need(engine, load_s=load_s, **more) for engine in engines],
        {engine: replace(PROFILE, model=engine, load_s=load_s) for engine in engines},
        rules=Rules(patience_s=600.0),
        reply_deadline_s=60.0,
    )
    await found.start()
    try:
        yield found
    finally:
        await found.stop()


def requests(count: int) -> list[Request]:
    return [Request((Message("user", f"question {n}"),), seed=n) for n in range(count)]


async def answers(there: VirtualWorld, count: int, client: str = "client") -> Answers:
    """Ask every engine so many questions at once; return the replies in order."""
    feeders = there.client(client)

    async def ask(engine: str) -> list[Completion]:
        found: dict[int, Completion] = {}
        async with aclosing(feeders[engine].stream(requests(count))) as replies:
            async for place, completion in replies:
                assert place not in found
                found[place] = completion
        return [found[place] for place in range(count)]

    engines = [*there.profiles]
    return dict(zip(engines, await asyncio.gather(*map(ask, engines)), strict=True))


def texts(found: Answers) -> dict[str, list[str]]:
    return {engine: [it.text for it in completions] for engine, completions in found.items()}


async def undisturbed(*engines: str, count: int) -> dict[str, list[str]]:
    async with world(*engines, devices=len(engines)) as there:
        found = texts(await answers(there, count))
    assert all(text for replies in found.values() for text in replies)
    return found


async def test_engines_take_turns_on_one_device() -> None:
    async with world("one", "two", "three") as there:
        found = await answers(there, 40)
        assert there.scheduler.costs.loads == 3  # each once
    assert texts(found) == await undisturbed("one", "two", "three", count=40)


async def test_no_device_is_held_while_weights_are_fetched() -> None:
    """The engine whose weights are here uses the devices until those of the other have come."""
    engines = {name: need(name, load_s=30.0, replicas=2) for name in ("here", "fetched")}
    lacking = replace(node("a", 2), lacks=frozenset({"fetched"}))
    there = VirtualWorld(
        [lacking],
        [*engines.values()],
        {name: replace(PROFILE, model=name) for name in engines},
        rules=Rules(patience_s=600.0),
    )

    async def fetch(node: str, engine: str) -> Problem | None:
        await asyncio.sleep(400)
        assert len(there.processes) == 2
        assert there.controller.status().engines["fetched"].waits_for_weights
        return None

    fetcher = WeightFetcher(
        {"fetched": engines["fetched"]}, fetch, there.controller.note, there.said.append, 7200.0
    )
    await there.start()
    fetcher.add([lacking])
    try:
        found = await answers(there, 1500)
        assert there.scheduler.costs.loads == 4
    finally:
        await fetcher.close()
        await there.stop()
    assert texts(found) == await undisturbed("here", "fetched", count=1500)


async def test_an_engine_whose_weights_cannot_be_fetched_is_refused_with_the_reason() -> None:
    async with controlled("one") as (controller, _):
        controller.note(DevicesFound((replace(node("b", 1), lacks=frozenset({"one"})),)))
        controller.note(DevicesLost(frozenset({"a/0"})))
        assert controller.status().engines["one"].waits_for_weights
        await want(controller, "one", 5)
        assert (await controller.assignments("client", -1)).failures == {}
        controller.note(WeightsMissing("one", "no network"))
        found = await controller.assignments("client", -1)
        assert found.failures == {"one": "no network"}


async def test_free_devices_become_replicas() -> None:
    async with world("one", devices=4, load_s=5.0) as there:
        found = await answers(there, 2000)
        assert there.scheduler.costs.loads == 4
    assert texts(found) == await undisturbed("one", count=2000)


@pytest.mark.parametrize(
    "fault",
    [
        Fault("die_after", "*-r1", 20),
        Fault("silent_after", "*-r0", 20),
        Fault("oom_at_load", "*-r1"),
        Fault("die_at_load", "*-r0"),
        Fault("slow_load", "*-r0", 500),
    ],
    ids=lambda fault: str(fault.kind),
)
async def test_a_fault_changes_no_reply(fault: Fault) -> None:
    async with world("one", devices=2, replicas=2) as there:
        there.faults.open.append(fault)
        found = await answers(there, 400)
        assert not there.faults.open
    assert texts(found) == await undisturbed("one", count=400)


@pytest.mark.parametrize("level", [1, 2])
async def test_a_replica_that_is_another_model_after_its_sleep_is_loaded_again(level: int) -> None:
    async with world("one", "two", can_sleep=frozenset({level})) as there:
        there.faults.open.append(Fault("garbage_after_wake", "one-*", level))
        first = await answers(there, 40, "first")
        second = await answers(there, 40, "second")
        assert there.controller.wrong_wakes == 1
        assert not there.faults.open
    assert texts(first) == texts(second) == await undisturbed("one", "two", count=40)


async def test_a_wake_that_hangs_ends_in_a_load() -> None:
    async with world("one", "two", can_sleep=frozenset({1})) as there:
        there.faults.open.append(Fault("hang_in_wake", "one-*"))
        first = await answers(there, 40, "first")
        second = await answers(there, 40, "second")
        assert not there.faults.open
    assert texts(first) == texts(second)


async def test_what_was_on_devices_that_are_lost_is_answered_by_others() -> None:
    async with world("one", devices=2, replicas=2) as there:
        asked = asyncio.create_task(answers(there, 400))
        await asyncio.sleep(60)
        for name, process in [*there.processes.items()]:
            if name.endswith("-r0"):
                process.die()
        there.controller.note(DevicesLost(frozenset({"a/0"})))
        found = await asked
    assert texts(found) == await undisturbed("one", count=400)


async def test_a_close_that_hangs_ends_with_its_replica(monkeypatch: pytest.MonkeyPatch) -> None:
    """Serve keeps a call to a replica that died for the next one of the same name."""
    closes: list[str] = []

    async def hang(self: object, replica: str, *, cut_waiting: bool) -> None:
        closes.append(f"{replica} begins")
        try:
            await asyncio.Event().wait()
        finally:
            closes.append(f"{replica} ends")

    monkeypatch.setattr("perf.rig.world._Backend.close", hang)
    async with world("one", "two") as there:
        asked = asyncio.create_task(answers(there, 20))
        await until(lambda: bool(closes))
        there.controller.note(DevicesLost(frozenset({"a/0"}), awaited=True))
        await until(lambda: len(closes) == 2)
        assert closes == ["one-r0 begins", "one-r0 ends"]
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)


async def test_an_engine_that_cannot_be_loaded_fails_alone() -> None:
    async with world("one", "two", devices=2) as there:
        there.faults.open += [Fault("die_at_load", "one-*")] * 4
        found = await answers(there, 20)
    assert {completion.finish for completion in found["one"]} == {"error"}
    assert {completion.finish for completion in found["two"]} <= {"stop", "length"}


async def test_the_demand_of_a_client_that_vanishes_is_dropped() -> None:
    async with world("one", "two") as there:
        there.client("gone")
        vanished = asyncio.create_task(answers(there, 10_000, "vanishing"))
        await asyncio.sleep(50)
        for loop in there._loops:
            loop.cancel()
        vanished.cancel()
        await asyncio.gather(vanished, return_exceptions=True)
        await asyncio.sleep(300)
        assert there.scheduler.waiting() == {}
        found = await answers(there, 10, "new")
    assert texts(found) == await undisturbed("one", "two", count=10)


# ---------------------------------------------------------------------------------- by itself


class SlowBackend:
    """Notes moves; each waits until a test lets it end."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self.is_slow: set[str] = set()
        """The kinds of moves that wait."""
        self.waiting = 0
        """Moves that wait now."""
        self.errors: dict[str, Exception] = {}
        """What moves raise."""

    def end(self, move: str) -> None:
        self._ends.setdefault(move, asyncio.Event()).set()

    async def _move(self, name: str, replica: str) -> None:
        move = f"{name} {replica}"
        self.began.append(move)
        if name in self.is_slow:
            self.waiting += 1
            try:
                await self._ends.setdefault(move, asyncio.Event()).wait()
            finally:
                self.waiting -= 1
        if error := self.errors.get(move):
            raise error

    async def load(
        self, replica: str, engine: str, devices: Sequence[str], *, has_process: bool
    ) -> float | None:
        await self._move("continue" if has_process else "load", replica)
        return None

    async def wake(self, replica: str, level: SleepLevel) -> bool:
        await self._move("wake", replica)
        return True

    async def close(self, replica: str, *, cut_waiting: bool) -> None:
        await self._move("close", replica)

    async def reopen(self, replica: str) -> None:
        await self._move("reopen", replica)

    async def sleep(self, replica: str, level: SleepLevel) -> tuple[float | None, float | None]:
        await self._move("sleep", replica)
        return None, None

    async def unload(self, replica: str) -> None:
        await self._move("unload", replica)


@asynccontextmanager
async def controlled(
    *engines: str, errors: Mapping[str, Exception] | None = None, **more: Any
) -> AsyncIterator[tuple[EngineController, SlowBackend]]:
    """Yield a controller with one device, on which the first engine is loaded."""
    scheduler = EngineScheduler(
        [node("a", 1)], [need(engine, **more) for engine in engines], Rules(600.0), now()
    )
    backend = SlowBackend()
    backend.errors |= errors or {}
    controller = EngineController(scheduler, backend, lambda _: None, now)
    await controller.start()
    await asyncio.sleep(1)
    yield controller, backend
    await controller.stop()


async def want(controller: EngineController, engine: str, ready: int, outstanding: int = 0) -> None:
    await controller.report([DemandReport("client", engine, ready, outstanding, 0)])
    await asyncio.sleep(1)


async def test_who_waits_is_refused_when_the_engines_are_stopped_and_no_move_begins() -> None:
    async with controlled("one", "two") as (controller, backend):
        await want(controller, "two", 5)
        await want(controller, "one", 0, 1)
        known = (await controller.assignments("client", -1)).version
        answer = asyncio.create_task(controller.assignments("client", known))
        await asyncio.sleep(1)
        began = [*backend.began]
        await controller.turn_away("it stops")
        found = await answer
        assert (found.replicas, found.failures) == ({}, {"one": "it stops", "two": "it stops"})
        await want(controller, "one", 0, 0)
        await asyncio.sleep(1000)
        assert backend.began == began


async def test_a_process_that_waits_for_its_devices_ends_with_the_controller() -> None:
    async with controlled("one", "two") as (controller, backend):
        backend.is_slow |= {"continue", "unload"}
        assert backend.began == ["load one-r0"]
        await want(controller, "two", 5)
        await asyncio.sleep(100)
        assert "unload one-r0" in backend.began
        waiting = asyncio.create_task(controller.begin_load("one-r0"))
        await asyncio.sleep(1)
        await controller.turn_away("it stops")
        assert not await waiting
        assert not await controller.begin_load("one-r0")


async def test_a_process_that_starts_while_its_replica_is_unloaded_ends() -> None:
    async with controlled("one", "two") as (controller, backend):
        backend.is_slow.add("unload")
        await want(controller, "two", 5)
        await asyncio.sleep(100)
        assert backend.began[-1] == "unload one-r0"
        waiting = asyncio.create_task(controller.begin_load("one-r0"))
        await asyncio.sleep(1)
        assert not waiting.done()
        backend.end("unload one-r0")
        assert not await waiting
        backend.is_slow.clear()
        await want(controller, "two", 0)
        await want(controller, "one", 5)
        await asyncio.sleep(100)
        assert backend.began[-1] == "load one-r0"  # its process is a new one


async def test_a_reopened_replica_is_named_once_it_is_open() -> None:
    async with controlled("one", "two") as (controller, backend):
        backend.is_slow |= {"close", "reopen"}
        await want(controller, "one", 0)
        await want(controller, "two", 5)
        await asyncio.sleep(100)
        assert backend.began[-1] == "close one-r0"
        await want(controller, "two", 0)
        assert backend.began[-1] == "reopen one-r0"
        assert (await controller.assignments("client", -1)).replicas == {}
        backend.end("reopen one-r0")
        await asyncio.sleep(1)
        assert (await controller.assignments("client", -1)).replicas == {"one": ("one-r0",)}


async def test_a_call_to_a_replica_ends_with_it() -> None:
    """Serve keeps a call for the next replica of the same name."""
    async with controlled("one", "two") as (controller, backend):
        backend.is_slow.add("close")
        await want(controller, "one", 0)
        await want(controller, "two", 5)
        await asyncio.sleep(100)
        assert backend.began[-1] == "close one-r0"
        assert not await controller.begin_load("one-r0")  # it died, and is to leave
        await asyncio.sleep(100)
        assert backend.began[-2:] == ["unload one-r0", "load two-r0"]
        assert backend.waiting == 0


@pytest.mark.parametrize(
    ("error", "reason"),
    [(MoveFailedError("no weights", "permanent"), "no weights"), (KeyError(), "KeyError")],
)
async def test_a_load_that_fails_refuses_its_engine_though_its_remains_cannot_be_cleared(
    error: Exception, reason: str
) -> None:
    errors = {f"load one-r{number}": error for number in range(2)}
    errors |= {f"unload one-r{number}": OSError("and that") for number in range(2)}
    async with controlled("one", "two", errors=errors) as (controller, _):
        await want(controller, "one", 5)
        await want(controller, "two", 5)
        await asyncio.sleep(100)
        found = await controller.assignments("client", -1)
        assert found.failures == {"one": reason}
        assert found.replicas == {"two": ("two-r0",)}
        assert controller.status().engines["one"].failure == reason


async def test_a_replica_that_cannot_sleep_is_unloaded_and_loaded_again() -> None:
    can_sleep = frozenset({1})
    async with controlled("one", "two", can_sleep=can_sleep) as (controller, backend):
        backend.errors["sleep one-r0"] = OSError("no")
        for engine in ("two", "one", "two", "one"):
            await want(controller, engine, 5)
            await asyncio.sleep(100)
            assert (await controller.assignments("client", -1)).replicas == {
                engine: (f"{engine}-r0",)
            }
            await want(controller, engine, 0)
            backend.errors.clear()
        moves = [move for move in backend.began if not move.startswith("close")]
    assert moves == [
        "load one-r0", "sleep one-r0", "unload one-r0", "load two-r0",
        "sleep two-r0", "load one-r0", "sleep one-r0", "wake two-r0", "sleep two-r0", "wake one-r0",
    ]  # fmt: skip
