"""Requests of the endpoint: which replica each goes to, and when it is refused."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from raybench.engines.base import ReplicaClosed
from raybench.fleet.replica_picker import EngineUnavailableError, ReplicaPicker

pytestmark = pytest.mark.virtual_time

HANDLE: Any = None
"""A picker does not call replicas."""


def picker_of(*replicas: str) -> ReplicaPicker:
    picker = ReplicaPicker("here", "e")
    name(picker, *replicas)
    return picker


def name(picker: ReplicaPicker, *replicas: str) -> None:
    picker.set_replicas(dict.fromkeys(replicas, HANDLE))


def counts(picker: ReplicaPicker) -> tuple[int, int]:
    """Return the requests that wait, and those that are with a replica."""
    report = picker.report()
    assert (report.client, report.engine, report.remaining) == ("here", "e", 0)
    return report.ready, report.outstanding


class Request:
    """A request that stays with its replica until it is told to end."""

    def __init__(self, picker: ReplicaPicker) -> None:
        self.replica = ""
        self.ending = asyncio.Event()
        self.task = asyncio.create_task(self._run(picker))

    async def _run(self, picker: ReplicaPicker) -> None:
        async with picker.pick() as self.replica:
            await self.ending.wait()


@asynccontextmanager
async def asked(picker: ReplicaPicker, count: int) -> AsyncIterator[list[Request]]:
    """Yield requests that have chosen a replica, if there is one."""
    requests = [Request(picker) for _ in range(count)]
    await asyncio.sleep(1)
    yield requests
    for request in requests:
        request.task.cancel()
    await asyncio.gather(*(request.task for request in requests), return_exceptions=True)


async def test_a_request_waits_until_there_is_a_replica() -> None:
    picker = picker_of()
    async with asked(picker, 3) as requests:
        assert counts(picker) == (3, 0)
        name(picker, "e-r0")
        await asyncio.sleep(1)
        assert [request.replica for request in requests] == ["e-r0"] * 3
        assert counts(picker) == (0, 3)
    assert counts(picker) == (0, 0)


async def test_the_replica_with_the_fewest_requests_is_chosen() -> None:
    picker = picker_of("e-r0", "e-r1")
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(asked(picker, 5))
        chosen = [request.replica for request in first]
        assert sorted(chosen) == ["e-r0"] * 3 + ["e-r1"] * 2
        for request in first:
            if request.replica == "e-r1":
                request.ending.set()
        second = await stack.enter_async_context(asked(picker, 3))
        assert {request.replica for request in second} == {"e-r1"}


async def test_a_new_replica_is_chosen_until_it_has_as_many() -> None:
    picker = picker_of("e-r0")
    async with asked(picker, 4):
        name(picker, "e-r0", "e-r1")
        async with asked(picker, 4) as requests:
            assert {request.replica for request in requests} == {"e-r1"}


async def test_a_request_that_is_given_up_counts_no_more() -> None:
    picker = picker_of()
    async with asked(picker, 2):
        assert counts(picker) == (2, 0)
    assert counts(picker) == (0, 0)


async def test_what_waits_and_what_comes_is_refused_for_the_reason() -> None:
    picker = picker_of()
    async with asked(picker, 2) as requests:
        picker.refuse("no weights")
        await asyncio.sleep(1)
        for request in requests:
            assert str(request.task.exception()) == "no weights"
    with pytest.raises(EngineUnavailableError, match="no weights"):
        async with picker.pick():
            raise AssertionError("there is no replica")
    assert counts(picker) == (0, 0)


@pytest.mark.parametrize("replicas", [(), ("e-r0",)])
async def test_after_a_refusal_that_is_over_requests_wait_or_are_answered(
    replicas: tuple[str, ...],
) -> None:
    """Only what waits makes the controller load the engine."""
    picker = picker_of()
    picker.refuse("no memory")
    name(picker, *replicas)
    async with asked(picker, 1) as (request,):
        assert not request.task.done()
        assert counts(picker) == ((0, 1) if replicas else (1, 0))


async def test_a_refusal_leaves_requests_alone_that_are_with_a_replica() -> None:
    picker = picker_of("e-r0")
    async with asked(picker, 1) as (request,):
        name(picker)
        picker.refuse("it stops")
        await asyncio.sleep(1)
        assert not request.task.done()


async def close(picker: ReplicaPicker, *, reopened: bool = False) -> str:
    """Meet a replica that is closed; return which one."""
    replica = ""
    with pytest.raises(ReplicaClosed):
        async with picker.pick() as replica:
            if reopened:
                name(picker, "e-r0")
            raise ReplicaClosed
    return replica


async def test_a_closed_replica_is_chosen_no_more_until_it_is_named_again() -> None:
    picker = picker_of("e-r0", "e-r1")
    assert {await close(picker), await close(picker)} == {"e-r0", "e-r1"}
    async with asked(picker, 1) as (request,):
        assert request.replica == ""
        name(picker, "e-r1")
        await asyncio.sleep(1)
        assert request.replica == "e-r1"
    assert counts(picker) == (0, 0)


async def test_a_replica_that_was_opened_since_stays_open() -> None:
    picker = picker_of("e-r0")
    assert await close(picker, reopened=True) == "e-r0"
    async with asked(picker, 1) as (request,):
        assert request.replica == "e-r0"
