"""A deployment of an engine in Serve, as its handle shows it; a test says what it does."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from types import SimpleNamespace

from fleet.fake_keeper import Remote

from raybench.engines.base import Heartbeat, ReplicaEvent
from raybench.types import Completion, Request


class FakeDeployment:
    """Replies with the last message of each request."""

    def __init__(self, *, dies: int = 0, seconds: Callable[[Request], float] | None = None) -> None:
        self.dies = dies
        """So many calls end with its death, each after its first reply."""
        self.replies_first = False
        self.starts_in_s = 0.0
        self.is_alive = True
        """It sends a sign of life every ten seconds."""
        self.seconds = seconds or (lambda request: 0.0)
        """How long it works on a request."""
        self.calls: list[list[str]] = []
        """What was asked in each call."""
        self.healthy = asyncio.Event()
        self.healthy.set()
        self.stream = SimpleNamespace(remote=self._stream)
        self.check_health = Remote(self.healthy.wait)

    def options(self, *, stream: bool) -> "FakeDeployment":
        assert stream
        return self

    def _stream(self, requests: Sequence[Request]) -> "Call":
        self.calls.append([request.messages[-1].content for request in requests])
        return Call(self._replies(list(requests), dies=len(self.calls) <= self.dies))

    async def _replies(
        self, requests: list[Request], *, dies: bool
    ) -> AsyncGenerator[Sequence[ReplicaEvent]]:
        await asyncio.sleep(self.starts_in_s)
        if dies and not self.replies_first:
            raise ConnectionError("Traceback\nActorDiedError: the replica died")
        yield [Heartbeat(0, 0, 64)]
        now = 0.0
        for end, place in sorted((self.seconds(it), place) for place, it in enumerate(requests)):
            while now < end:
                step = min(end - now, 10.0) if self.is_alive else end - now
                await asyncio.sleep(step)
                now += step
                if now < end:
                    yield [Heartbeat(1, 0, 64)]
            yield [
                Heartbeat(1, 0, 64),
                (place, Completion(requests[place].messages[-1].content, "stop")),
            ]
            if dies:
                raise ConnectionError("Traceback\nActorDiedError: the replica died")


class Call:
    """A stream that Serve has begun."""

    def __init__(self, replies: AsyncGenerator[Sequence[ReplicaEvent]]) -> None:
        self._replies = replies
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True

    async def __anext__(self) -> Sequence[ReplicaEvent]:
        return await anext(self._replies)
