"""The loop in which tests of time run: its clock jumps, and stands still where work is left."""

import asyncio
import threading

import httpx
import pytest
from virtual_time import Exchange, VirtualEndpoint, loop, now

pytestmark = pytest.mark.virtual_time


async def test_the_clock_jumps_where_everybody_waits() -> None:
    began = now()
    await asyncio.sleep(1e6)
    assert now() - began == pytest.approx(1e6)


async def test_what_waits_shorter_comes_first() -> None:
    order: list[int] = []

    async def wait(seconds: int) -> None:
        await asyncio.sleep(seconds)
        order.append(seconds)

    await asyncio.gather(*map(wait, (300, 100, 200)))
    assert order == [100, 200, 300]


async def test_the_clock_stands_still_while_a_thread_works() -> None:
    began, go = now(), threading.Event()
    work = asyncio.create_task(asyncio.to_thread(go.wait, 60))
    later = asyncio.create_task(asyncio.sleep(1))
    for _ in range(10):
        await asyncio.sleep(0)
    assert now() == began and not later.done()
    go.set()
    assert await work
    await later
    assert now() - began == pytest.approx(1)


async def test_what_computes_can_let_time_pass() -> None:
    began = now()
    loop().advance(5)
    assert now() - began == 5


async def test_an_endpoint_replies_within_the_loop() -> None:
    async def slow(exchange: Exchange) -> None:
        await asyncio.sleep(50)
        exchange.send(200, {"path": exchange.path, "got": exchange.body})

    async with VirtualEndpoint(slow) as endpoint, httpx.AsyncClient(timeout=60) as client:
        began = now()
        reply = await client.post(f"{endpoint.url}/x", json={"a": 1})
        assert reply.json() == {"path": "/v1/x", "got": {"a": 1}}
        assert now() - began == pytest.approx(50)
        with pytest.raises(httpx.ReadTimeout):
            await client.post(endpoint.url, json={}, timeout=20)
        assert now() - began == pytest.approx(70)
