"""The controller with the real scheduler, feeders and replica servers, in virtual time."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from virtual_time import until

from perf.rig.faults import Fault
from perf.rig.profile import EngineProfile
from perf.rig.world import VirtualWorld
from raybench.engines.scheduler.messages import (
    Device,
    DevicesLost,
    EngineNeed,
    MemoryBudget,
    Node,
    Rules,
)
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
