"""A deployment of an engine in Serve, as its handle shows it; a test says what it does."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from types import SimpleNamespace

from fleet.fake_keeper import Remote

from raybench.fleet.streams import Placed
from raybench.types import Completion, Request


class FakeDeployment:
    """Replies with the last message of each request."""

    def __init__(self, *, dies: int = 0, seconds: Callable[[Request], float] | None = None) -> None:
        self.dies = dies
        """So many calls end with its death, each after its first reply."""
        self.replies_first = False
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
    ) -> AsyncGenerator[list[Placed]]:
        if dies and not self.replies_first:
            raise ConnectionError("Traceback\nActorDiedError: the replica died")
        ends = sorted((self.seconds(it), place) for place, it in enumerate(requests))
        now = 0.0
        for end, place in ends:
            await asyncio.sleep(end - now)
            now = end
            yield [(place, Completion(requests[place].messages[-1].content, "stop"))]
            if dies:
                raise ConnectionError("Traceback\nActorDiedError: the replica died")


class Call:
    """A stream that Serve has begun."""

    def __init__(self, replies: AsyncGenerator[list[Placed]]) -> None:
        self._replies = replies
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True

    def __aiter__(self) -> AsyncGenerator[list[Placed]]:
        return self._replies
