"""A keeper of engines that a test decides for, as Ray offers one."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any


class Remote:
    """A method of an actor or of a deployment, as Ray offers it."""

    def __init__(self, call: Callable[..., Awaitable[Any]]) -> None:
        self._call = call

    def remote(self, *args: Any) -> "asyncio.Future[Any]":
        return asyncio.ensure_future(self._call(*args))


class FakeKeeper:
    """Grants when told to, or answers with an error."""

    def __init__(self, *, reason: str = "", error: Exception | None = None) -> None:
        self.reason, self.error = reason, error
        self.granting = asyncio.Event()
        self.granting.set()
        self.held: dict[str, tuple[str, int]] = {}
        self.clients: list[str] = []
        self.lease, self.release = Remote(self._lease), Remote(self._release)
        self.alive, self.replicas = Remote(self._alive), Remote(self._replicas)
        self.names = {"e": ["e"]}
        """The replicas of each engine."""

    async def _lease(self, client: str, lease: str, engine: str, work: int, model: str) -> str:
        self.held[lease] = (engine, work)
        if self.error:
            raise self.error
        await self.granting.wait()
        return self.reason

    async def _replicas(self) -> dict[str, list[str]]:
        return self.names

    async def _release(self, lease: str) -> None:
        del self.held[lease]

    async def _alive(self, client: str) -> str:
        self.clients.append(client)
        if self.error and len(self.clients) == 1:
            raise self.error
        return "status"
