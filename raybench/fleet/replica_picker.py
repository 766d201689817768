"""Requests of the endpoint: each waits until its engine has a replica, and goes to one of them."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from raybench.engines.base import DemandReport, ReplicaClosed, ReplicaHandle


class EngineUnavailableError(Exception):
    """An engine has no replica and gets none; the text says why."""


class ReplicaPicker:
    """Chooses replicas of one engine, and counts the requests with them for the controller."""

    def __init__(self, client: str, engine: str) -> None:
        self._client = client
        self._engine = engine
        self._open: set[str] = set()
        self._assignments = 0
        """How often replicas were named."""
        self._waiting = 0
        self._outstanding: Counter[str] = Counter()
        self._refusal = ""
        self._changed = asyncio.Condition()

    def report(self) -> DemandReport:
        """Return what this process wants of the engine now."""
        outstanding = self._outstanding.total()
        return DemandReport(self._client, self._engine, self._waiting, outstanding, 0)

    def set_replicas(self, replicas: Mapping[str, ReplicaHandle]) -> None:
        """Choose among these replicas from now on."""
        self._open = {*replicas}
        self._assignments += 1
        self._refusal = ""
        self._notify()

    def refuse(self, reason: str) -> None:
        """Refuse what waits, and what comes until `set_replicas` is called."""
        self._refusal = reason
        self._notify()

    @asynccontextmanager
    async def pick(self) -> AsyncIterator[str]:
        """Yield the replica with the fewest requests of this process; wait until there is one.

        A replica that raises ReplicaClosed is chosen no longer until it is named again. Raises
        EngineUnavailableError where there will be none.
        """
        self._waiting += 1
        try:
            async with self._changed:
                await self._changed.wait_for(lambda: self._open or self._refusal)
        finally:
            self._waiting -= 1
        if not self._open:
            raise EngineUnavailableError(self._refusal)
        replica = min(sorted(self._open), key=self._outstanding.__getitem__)
        self._outstanding[replica] += 1
        assignments = self._assignments
        try:
            yield replica
        except ReplicaClosed:
            if assignments == self._assignments:  # else it may be open again
                self._open.discard(replica)
            raise
        finally:
            self._outstanding[replica] -= 1

    def _notify(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._notify_all())

    async def _notify_all(self) -> None:
        async with self._changed:
            self._changed.notify_all()
