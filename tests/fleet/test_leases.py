"""A client's side: what is held is given back, whatever happens, and the keeper's end is data."""

import asyncio
from typing import Any

import pytest
from fleet.fake_deployment import FakeDeployment
from fleet.fake_keeper import FakeKeeper
from virtual_time import until

from raybench.config import FleetConf
from raybench.fleet import hosted
from raybench.fleet.hosted import HostedEngine
from raybench.fleet.leases import Leases
from raybench.types import Completion, Message, ModelSpec, Request

pytestmark = pytest.mark.virtual_time

MODEL = ModelSpec("m", "vllm", "org/m")
BATCH = [Request((Message("user", str(number)),), seed=1) for number in range(3)]


@pytest.fixture
def deployment(monkeypatch: pytest.MonkeyPatch) -> FakeDeployment:
    found = FakeDeployment()
    monkeypatch.setattr(hosted, "handle", lambda name: found)
    return found


def engine(keeper: FakeKeeper) -> HostedEngine:
    return HostedEngine("e", Leases(keeper), FleetConf(attempts=3))


async def streamed(engine: HostedEngine) -> list[tuple[int, Completion]]:
    return [placed async for placed in engine.stream(MODEL, BATCH)]


# ------------------------------------------------------------------------------------------ hold


async def test_a_lease_is_held_for_the_work_and_no_longer() -> None:
    keeper = FakeKeeper()
    async with Leases(keeper).hold("e", 3) as reason:
        assert reason == ""
        assert list(keeper.held.values()) == [("e", 3)]
    await asyncio.sleep(0)
    assert keeper.held == {}


async def test_a_wait_that_is_cancelled_gives_its_lease_back() -> None:
    keeper = FakeKeeper()
    keeper.granting.clear()
    waits = asyncio.create_task(engine(keeper).complete(MODEL, BATCH))
    await asyncio.sleep(0.01)
    assert len(keeper.held) == 1
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits
    await asyncio.sleep(0)
    assert keeper.held == {}


async def test_a_body_that_fails_gives_its_lease_back() -> None:
    keeper = FakeKeeper()
    with pytest.raises(OSError, match="mine"):
        async with Leases(keeper).hold("e", 1):
            raise OSError("mine")
    await asyncio.sleep(0)
    assert keeper.held == {}


async def test_a_stream_that_nobody_reads_on_gives_its_lease_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def endless(self: Any, replica: str, requests: Any) -> Any:
        yield 0, Completion("0", "stop")
        await asyncio.sleep(1000)

    monkeypatch.setattr(HostedEngine, "_stream_once", endless)
    keeper = FakeKeeper()
    replies = engine(keeper).stream(MODEL, BATCH)
    assert (await anext(replies))[0] == 0
    assert len(keeper.held) == 1
    await replies.aclose()
    await asyncio.sleep(0)
    assert keeper.held == {}


# --------------------------------------------------------------------------------- hosted engines


async def test_a_batch_goes_to_the_replica_that_follows_one_that_died(
    deployment: FakeDeployment,
) -> None:
    deployment.dies = 2
    replies = await engine(FakeKeeper()).complete(MODEL, BATCH)
    assert [reply.text for reply in replies] == ["0", "1", "2"]
    deployment.calls, deployment.dies = [], 3
    replies = await engine(FakeKeeper()).complete(MODEL, BATCH)
    assert {reply.error for reply in replies} == {"engine e: ActorDiedError: the replica died"}


async def test_a_refusal_is_every_requests_error_and_the_engine_is_not_asked(
    deployment: FakeDeployment,
) -> None:
    reason = "engine e did not start"
    keeper = FakeKeeper(reason=reason)
    replies = await engine(keeper).complete(MODEL, BATCH)
    assert [(reply.finish, reply.error) for reply in replies] == [("error", reason)] * 3
    assert await streamed(engine(keeper)) == list(enumerate(replies))
    assert deployment.calls == []
    await asyncio.sleep(0)
    assert keeper.held == {}


async def test_the_end_of_the_keeper_is_every_requests_error(deployment: FakeDeployment) -> None:
    why = "Its worker was killed"
    keeper = FakeKeeper(error=RuntimeError(f"The actor died.\n{why}"))
    replies = await engine(keeper).complete(MODEL, BATCH)
    assert [(reply.finish, reply.error) for reply in replies] == [("error", f"engine e: {why}")] * 3
    assert await streamed(engine(keeper)) == list(enumerate(replies))
    assert deployment.calls == []


# ----------------------------------------------------------------------------------------- watch


async def test_the_watch_goes_on_when_a_sign_of_life_fails() -> None:
    keeper = FakeKeeper(error=ConnectionError("for a moment"))
    told: list[Any] = []
    watch = asyncio.create_task(Leases(keeper).watch(told.append))
    await until(lambda: len(told) >= 2)
    watch.cancel()
    assert told[:2] == ["status", "status"]
    assert len(set(keeper.clients)) == 1
    assert len(keeper.clients) > 2
