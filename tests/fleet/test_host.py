"""How long an engine of ours is waited for, without Ray: what it says comes from here."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from raybench.config import FleetConf
from raybench.fleet import host
from raybench.fleet.host import HostedEngine
from raybench.fleet.streams import Placed
from raybench.types import Completion, Message, ModelSpec, Request

pytestmark = pytest.mark.virtual_time

MODEL = ModelSpec("mine", "vllm", "embedded")


class Leases:
    """Its turn is always an engine's."""

    @asynccontextmanager
    async def hold(self, engine: str, work: int, model: str) -> AsyncIterator[str]:
        yield ""


class Handle:
    """Replies after a while, as the handle of a deployment does."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.complete = SimpleNamespace(remote=self._complete)
        self.stream = SimpleNamespace(remote=self._stream)

    def options(self, *, stream: bool) -> "Handle":
        assert stream
        return self

    async def _complete(self, requests: Sequence[Request]) -> list[Completion]:
        await asyncio.sleep(self._seconds)
        return [Completion("hello", "stop") for _ in requests]

    def _stream(self, requests: Sequence[Request]) -> Any:
        return Call(self._complete(requests))


class Call:
    """A stream that Serve has begun."""

    def __init__(self, replies: Any) -> None:
        self._replies = replies
        self.cancel = lambda: None

    async def __aiter__(self) -> AsyncGenerator[Placed]:
        for placed in enumerate(await self._replies):
            yield placed


async def asked(deadline_s: float | None, *, streamed: bool) -> Completion:
    """Ask an engine that has 20 s for a reply, and so much more for the model's own time."""
    conf = FleetConf(reply_deadline_s=20, attempts=1)
    engine: Any = HostedEngine("e", Leases(), conf)  # type: ignore[arg-type]
    requests = [
        Request((Message("user", "hello"),), seed=1, deadline_s=it) for it in (None, deadline_s)
    ]
    if streamed:
        replies = dict([placed async for placed in engine.stream(MODEL, requests)])
    else:
        replies = dict(enumerate(await engine.complete(MODEL, requests)))
    assert replies[0] == replies[1]
    found: Completion = replies[0]
    return found


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_a_reply_is_waited_for_in_the_queue_and_while_the_model_may_work(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "handle", lambda name: Handle(50))
    assert (await asked(500, streamed=streamed)).text == "hello"
    for deadline_s, waited in ((None, "20"), (10, "30")):
        failed = await asked(deadline_s, streamed=streamed)
        assert failed.finish == "error"
        assert failed.error is not None and failed.error.startswith("engine e: ")
        assert failed.error.endswith(f" {waited} s")


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_a_reply_that_never_comes_has_failed(
    streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "handle", lambda name: Handle(600))
    failed = await asked(100, streamed=streamed)
    assert failed.finish == "error"
    assert failed.error is not None and failed.error.endswith(" 120 s")
