"""What counts against who is asked. A late look does not, nor a connection that takes long."""

import asyncio
import threading
import time
from collections.abc import Iterator

import pytest
from http_endpoint import Handler, HttpEndpoint

from raybench.config import FleetConf
from raybench.fleet import open_fleet
from raybench.fleet.connections import Connections
from raybench.types import Completion, Message, ModelSpec, Request

_MOST_S = 3.0


class Endpoint(HttpEndpoint):
    """Replies at once; where `keeps`, while the loop of who asks is held until time is up."""

    def __init__(self) -> None:
        super().__init__()
        self.keeps: asyncio.AbstractEventLoop | None = None
        self.silent = False
        self._held, self._sent = threading.Event(), threading.Event()

    def play(self, handler: Handler) -> None:
        if self.silent and "Say a word" not in str(handler.body):
            handler.server.closing.wait(60)
            return
        if self.keeps is not None:
            self.keeps.call_soon_threadsafe(self._hold)
            self._held.wait(60)
        message = {"message": {"content": "Here"}, "finish_reason": "stop"}
        handler.send(200, {"choices": [message]})
        self._sent.set()

    def _hold(self) -> None:
        self._held.set()
        self._sent.wait(60)
        time.sleep(_MOST_S)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as endpoint:
        yield endpoint


async def asked(endpoint: Endpoint) -> Completion:
    spec = ModelSpec("it", "openai", "it", options={"base_url": endpoint.url})
    request = Request((Message("user", "Are you there?"),), seed=1, deadline_s=_MOST_S)
    async with open_fleet([spec], FleetConf(), lambda _: None) as fleet:
        (completion,) = await fleet.complete("it", [request])
    return completion


async def test_a_reply_that_is_there_when_the_loop_looks_too_late_is_in_time(
    endpoint: Endpoint,
) -> None:
    endpoint.keeps = asyncio.get_running_loop()
    completion = await asked(endpoint)
    assert (completion.finish, completion.text) == ("stop", "Here")
    assert completion.seconds > _MOST_S > completion.own_seconds > 0


async def test_what_comes_before_a_request_is_sent_is_waiting(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    another = Connections._another

    def slowly(self: Connections) -> object:
        time.sleep(1.5 * _MOST_S)
        return another(self)

    monkeypatch.setattr(Connections, "_another", slowly)
    completion = await asked(endpoint)
    assert completion.finish == "stop"
    assert completion.waited > _MOST_S > completion.own_seconds > 0


async def test_who_has_not_replied_when_the_time_is_up_is_late(endpoint: Endpoint) -> None:
    endpoint.silent = True
    completion = await asked(endpoint)
    assert completion.finish == "late"
    assert completion.own_seconds >= _MOST_S
