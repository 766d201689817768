"""A deployment in Serve or an actor of Ray, as its handle shows it; a test says what it does."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from types import SimpleNamespace
from typing import Any

from raybench.engines.base import ReplicaEvent
from raybench.types import Request

Answer = Callable[[Sequence[Request]], AsyncGenerator[Sequence[ReplicaEvent]]]


class Remote:
    """A method of an actor or of a deployment, as Ray offers it."""

    def __init__(self, call: Callable[..., Awaitable[Any]]) -> None:
        self._call = call

    def remote(self, *args: Any, **named: Any) -> "asyncio.Future[Any]":
        return asyncio.ensure_future(self._call(*args, **named))


class FakeDeployment:
    """A replica in Serve that answers each call with groups of events."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.calls: list[Call] = []
        self.stream = SimpleNamespace(remote=self._stream)

    def options(self, *, stream: bool) -> "FakeDeployment":
        assert stream
        return self

    def _stream(self, requests: Sequence[Request]) -> "Call":
        self.calls.append(Call(self._answer(requests), requests))
        return self.calls[-1]


class Call:
    """A stream that Serve has begun."""

    def __init__(
        self, groups: AsyncGenerator[Sequence[ReplicaEvent]], requests: Sequence[Request]
    ) -> None:
        self._groups = groups
        self.requests = requests
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True

    def __aiter__(self) -> "Call":
        return self

    async def __anext__(self) -> Sequence[ReplicaEvent]:
        return await anext(self._groups)
