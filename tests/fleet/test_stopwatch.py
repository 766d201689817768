"""What counts against who is asked. A late look does not, nor a connection that takes long."""

import asyncio

import pytest
from virtual_time import Exchange, VirtualEndpoint, loop, now

from raybench.config import FleetConf
from raybench.fleet.remote import RemoteEngine
from raybench.types import Completion, Message, ModelSpec, Request

pytestmark = pytest.mark.virtual_time

_MOST_S = 3.0


def reply(exchange: Exchange) -> None:
    exchange.send(200, {"choices": [{"message": {"content": "Here"}, "finish_reason": "stop"}]})


def reply_and_hold_the_loop(exchange: Exchange) -> None:
    """Reply; then the process of the client computes until the time is up."""
    reply(exchange)
    loop().advance(1.5 * _MOST_S)


async def silence(exchange: Exchange) -> None:
    """Never reply, unless somebody only wants to know whether the endpoint is there."""
    if "Say a word" not in str(exchange.body):
        await asyncio.sleep(1e9)
    reply(exchange)


async def ask(endpoint: VirtualEndpoint) -> Completion:
    spec = ModelSpec("it", "openai", "it", options={"base_url": endpoint.url})
    request = Request((Message("user", "Are you there?"),), seed=1, deadline_s=_MOST_S)
    async with endpoint:
        engine = RemoteEngine(spec.options, FleetConf(), lambda _: None, now)
        (completion,) = await engine.complete(spec, [request])
        await engine.close()
    return completion


async def test_a_reply_that_is_there_when_the_loop_looks_too_late_is_in_time() -> None:
    completion = await ask(VirtualEndpoint(reply_and_hold_the_loop))
    assert (completion.finish, completion.text) == ("stop", "Here")
    assert completion.seconds >= 1.5 * _MOST_S
    assert 0 < completion.own_seconds < _MOST_S


async def test_what_comes_before_a_request_is_sent_is_waiting() -> None:
    completion = await ask(VirtualEndpoint(reply, connect_s=1.5 * _MOST_S))
    assert completion.finish == "stop"
    assert completion.waited == pytest.approx(1.5 * _MOST_S)
    assert completion.own_seconds == pytest.approx(0.0)


async def test_who_has_not_replied_when_the_time_is_up_is_late() -> None:
    completion = await ask(VirtualEndpoint(silence))
    assert completion.finish == "late"
    assert completion.own_seconds == pytest.approx(_MOST_S)
