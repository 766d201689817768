"""A client's side of residency: a lease is held while work is with an engine."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextvars import Context
from typing import Any
from uuid import uuid4

from raybench.fleet.keeper import CLIENT_SILENCE_S, Status

_SIGN_OF_LIFE_S = CLIENT_SILENCE_S / 12
_WATCH_S = 2.0


class Leases:
    """The leases of one process. The keeper takes them back should the process die."""

    def __init__(self, keeper: Any) -> None:
        """Take leases from a Keeper's actor handle."""
        self._keeper = keeper
        self._client = uuid4().hex

    @contextlib.asynccontextmanager
    async def hold(self, engine: str, work: int, model: str = "") -> AsyncIterator[str]:
        """Wait for the engine's turn and keep it awake; yields '', or why it will not come.

        `model` is whose requests they are, where the engine serves several.
        """
        lease = uuid4().hex
        try:
            yield await self._keeper.lease.remote(self._client, lease, engine, work, model)
        finally:
            # Also where the wait was cancelled: nobody else would take the lease back. In a context
            # of its own, because Serve cancels the calls of a request that was cancelled.
            with contextlib.suppress(Exception):  # a keeper that is gone holds none
                Context().run(self._keeper.release.remote, lease)

    async def watch(self, tell: Callable[[Status], None]) -> None:
        """Give signs of life and tell how things stand, until cancelled."""
        while True:
            with contextlib.suppress(Exception):  # a keeper that is gone is told by the calls
                async with asyncio.timeout(_SIGN_OF_LIFE_S):
                    tell(await self._keeper.alive.remote(self._client))
            await asyncio.sleep(_WATCH_S)
