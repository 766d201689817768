"""Connections to an endpoint: as many as there are requests under way, and no more for long."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from virtual_time import Exchange, VirtualEndpoint, now

from raybench.fleet.connections import Connections

pytestmark = pytest.mark.virtual_time

MANY = 40


class Counting(VirtualEndpoint):
    """Replies when as many requests as `wanted` are there."""

    wanted: asyncio.Barrier

    async def play(self, exchange: Exchange) -> None:
        await self.wanted.wait()
        exchange.send(200, {})


@pytest.fixture
async def endpoint() -> AsyncIterator[Counting]:
    async with Counting() as server:
        yield server


@pytest.fixture
async def lending(endpoint: Counting) -> AsyncIterator[Connections]:
    lends = Connections(endpoint.url, {}, httpx.Timeout(30), now)
    yield lends
    await lends.close()


async def at_once(lending: Connections, endpoint: Counting, many: int) -> None:
    """Send so many requests, all of which are under way together."""

    async def one() -> None:
        with lending.lent() as client:
            (await client.post("", json={})).raise_for_status()

    endpoint.wanted = asyncio.Barrier(many)
    await asyncio.gather(*(one() for _ in range(many)))


async def test_connections_that_lie_idle_are_closed(
    lending: Connections, endpoint: Counting
) -> None:
    await at_once(lending, endpoint, MANY)
    assert endpoint.open == MANY
    with lending.lent() as used:
        await asyncio.sleep(60)
        assert endpoint.open == 1  # though nothing more is asked
        assert not used.is_closed, "it is not idle"
    await asyncio.sleep(60)
    assert endpoint.open == 0
    await at_once(lending, endpoint, 2)


async def test_a_connection_is_used_again(lending: Connections, endpoint: Counting) -> None:
    for _ in range(3):
        await at_once(lending, endpoint, 2)
    with lending.lent() as one:
        pass
    with lending.lent() as again:
        assert again is one
    assert endpoint.open == 2
