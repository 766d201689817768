"""Connections to an endpoint: as many as there are requests under way, and no more for long."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
from http_endpoint import Handler, HttpEndpoint

from raybench.fleet import connections
from raybench.fleet.connections import Connections

MANY = 40


class Counting(HttpEndpoint):
    """Counts its open connections, and replies when as many as `wanted` are there."""

    request_queue_size = MANY

    def __init__(self) -> None:
        super().__init__()
        self.open = 0
        self.wanted = threading.Barrier(1)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        with self.lock:
            self.open += 1
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self.lock:
                self.open -= 1

    def play(self, handler: Handler) -> None:
        self.wanted.wait(30)
        handler.send(200, {})


@pytest.fixture
def endpoint() -> Iterator[Counting]:
    with Counting() as server:
        yield server


@pytest.fixture
async def lending(endpoint: Counting) -> AsyncIterator[Connections]:
    found = Connections(endpoint.url, {}, httpx.Timeout(30))
    yield found
    await found.close()


async def at_once(lending: Connections, endpoint: Counting, many: int) -> None:
    """Send so many requests, all of which are under way together."""

    async def one() -> None:
        with lending.lent() as client:
            (await client.post("", json={})).raise_for_status()

    endpoint.wanted = threading.Barrier(many)
    await asyncio.gather(*(one() for _ in range(many)))


async def settled(endpoint: Counting, many: int) -> None:
    """Wait until there are so many connections."""
    async with asyncio.timeout(30):
        while endpoint.open != many:
            await asyncio.sleep(0.01)


async def test_connections_that_lie_idle_are_closed(
    lending: Connections, endpoint: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "_IDLE_S", 0.05)
    await at_once(lending, endpoint, MANY)
    with lending.lent() as used:
        await settled(endpoint, 1)  # though nothing more is asked
        assert not used.is_closed, "it is not idle"
    await settled(endpoint, 0)
    await at_once(lending, endpoint, 2)


async def test_a_connection_is_used_again(lending: Connections, endpoint: Counting) -> None:
    for _ in range(3):
        await at_once(lending, endpoint, 2)
    with lending.lent() as one:
        pass
    with lending.lent() as again:
        assert again is one
    assert endpoint.open == 2
