"""An engine as its clients see it, without Serve: which replica is asked what, and for how long."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fleet.fake_deployment import FakeDeployment

from raybench.config import FleetConf
from raybench.fleet import hosted
from raybench.fleet.hosted import HostedEngine
from raybench.types import Completion, Message, ModelSpec, Request

pytestmark = pytest.mark.virtual_time

MODEL = ModelSpec("mine", "vllm", "embedded")


class Leases:
    """Every replica's turn comes at once, or never."""

    def __init__(self, refused: dict[str, str]) -> None:
        self.refused = refused

    @asynccontextmanager
    async def hold(self, engine: str, work: int, model: str) -> AsyncIterator[str]:
        yield self.refused.get(engine, "")


class Served:
    """An engine whose replicas a test decides for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *names: str, **conf: Any) -> None:
        self.replicas = {name: FakeDeployment() for name in names}
        self.refused: dict[str, str] = {}
        leases: Any = Leases(self.refused)
        self.engine = HostedEngine("e", leases, FleetConf(**conf), names)
        monkeypatch.setattr(hosted, "handle", self.replicas.__getitem__)

    def asked(self) -> list[list[list[str]]]:
        return [replica.calls for replica in self.replicas.values()]

    async def replies(self, count: int) -> list[Completion]:
        return await self.engine.complete(MODEL, requests(count))


def requests(count: int) -> list[Request]:
    return [Request((Message("user", f"{number}"),), seed=1) for number in range(count)]


def texts(count: int) -> list[str]:
    return [f"{number}" for number in range(count)]


# --------------------------------------------------------------------------------- one replica


async def test_a_reply_may_take_as_long_as_its_replica_gives_signs_of_life(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """32,000 tokens at 10 a second take longer than fleet.reply_deadline_s."""
    served = Served(monkeypatch, "e", reply_deadline_s=600, attempts=1)
    served.replicas["e"].seconds = lambda request: 3200 if request.messages[0].content == "1" else 5
    assert [reply.text for reply in await served.replies(3)] == texts(3)
    assert served.asked() == [[["0", "1", "2"]]]


async def test_a_replica_without_a_sign_of_life_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    served = Served(monkeypatch, "e", attempts=2)
    served.replicas["e"].is_alive = False
    served.replicas["e"].seconds = lambda request: 70 if request.messages[0].content == "1" else 5
    replies = await served.replies(3)
    assert [reply.finish for reply in replies] == ["stop", "error", "stop"]
    assert replies[1].error is not None and replies[1].error.endswith(" 60 s")
    assert served.asked() == [[["0", "1", "2"], ["1"], ["1"]]]


@pytest.mark.parametrize(("starts_in_s", "finish"), [(800, "stop"), (1000, "error")])
async def test_a_replica_that_starts_again_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, starts_in_s: float, finish: str
) -> None:
    served = Served(monkeypatch, "e", start_deadline_s=900, attempts=1)
    served.replicas["e"].starts_in_s = starts_in_s
    assert [reply.finish for reply in await served.replies(1)] == [finish]


# ----------------------------------------------------------------------------------- replicas


async def test_replicas_share_a_batch_and_neighbours_stay_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    served = Served(monkeypatch, "e", "e-r1")
    assert [reply.text for reply in await served.replies(5)] == texts(5)
    assert served.asked() == [[["0", "1", "2"]], [["3", "4"]]]


async def test_a_request_goes_to_the_replica_with_the_fewest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    served = Served(monkeypatch, "e", "e-r1")
    for replica in served.replicas.values():
        replica.seconds = lambda request: 100
    first = asyncio.create_task(served.replies(3))  # two and one
    await asyncio.sleep(1)
    second = asyncio.create_task(served.replies(4))  # two and two would be uneven: one and three
    await asyncio.gather(first, second)
    assert [sum(map(len, calls)) for calls in served.asked()] == [4, 3]
    assert [len(calls[1]) for calls in served.asked()] == [2, 2]


async def test_a_replica_that_dies_costs_its_own_requests_and_gets_none_before_it_is_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    served = Served(monkeypatch, "e", "e-r1")
    dying, other = served.replicas.values()
    dying.dies, dying.replies_first = 1, True
    dying.healthy.clear()
    assert [reply.text for reply in await served.replies(6)] == texts(6)
    assert dying.calls == [["0", "1", "2"]]
    assert other.calls == [["3", "4", "5"], ["1", "2"]]
    await served.replies(2)
    assert len(dying.calls) == 1
    dying.healthy.set()
    await asyncio.sleep(1)
    await served.replies(2)
    assert dying.calls[1:] == [["0"]]


async def test_while_every_replica_restarts_requests_wait_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    served = Served(monkeypatch, "e", "e-r1")
    for replica in served.replicas.values():
        replica.dies = 1
        replica.healthy.clear()
    assert [reply.text for reply in await served.replies(4)] == texts(4)
    await served.engine.close()


async def test_a_replica_that_never_comes_up_leaves_its_requests_to_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    served = Served(monkeypatch, "e", "e-r1", "e-r2")
    served.refused |= {"e": "no memory", "e-r2": "no memory"}
    assert [reply.text for reply in await served.replies(6)] == texts(6)
    assert {*served.asked()[0], *served.asked()[2]} == set()
    served.refused["e-r1"] = "it died"
    assert {reply.error for reply in await served.replies(3)} <= {"no memory", "it died"}


async def test_what_nobody_waits_for_any_more_counts_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    served = Served(monkeypatch, "e", "e-r1")
    for replica in served.replicas.values():
        replica.seconds = lambda request: 100
    left = asyncio.create_task(served.replies(3))
    await asyncio.sleep(1)
    left.cancel()
    await asyncio.gather(left, return_exceptions=True)
    assert {*served.engine._outstanding.values()} == {0}
