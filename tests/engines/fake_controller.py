"""A controller that a test decides for, as clients reach it."""

import asyncio
from collections.abc import Sequence

from raybench.engines.base import DemandReport
from raybench.engines.controller import Assignments


class FakeController:
    """Keeps reports, and answers when its assignments change."""

    def __init__(self, engine: str) -> None:
        """Say nothing of any engine but this one."""
        self._engine = engine
        self.wanted: dict[str, int] = {}
        """Requests that are ready, by engine, as far as it knows."""
        self.reports = 0
        self.error: Exception | None = None
        self._assignments = Assignments(0)
        self._changed = asyncio.Event()

    def assign(self, *replicas: str, failure: str = "") -> None:
        self._assignments = Assignments(
            self._assignments.version + 1,
            {self._engine: replicas} if replicas else {},
            {self._engine: failure} if failure else {},
        )
        self._changed.set()

    def fail(self, error: Exception | None) -> None:
        """Break the calls that are under way, and those that come."""
        self.error = error
        self._changed.set()

    def begin_again(self) -> None:
        """Know nothing, as after a restart."""
        self.error, self.wanted, self._assignments = None, {}, Assignments(0)

    async def report(self, reports: Sequence[DemandReport]) -> None:
        if self.error is not None:
            raise self.error
        self.reports += len(reports)
        self.wanted |= {report.engine: report.ready for report in reports}

    async def assignments(self, client: str, known: int) -> Assignments:
        if self.error is None and known == self._assignments.version:
            self._changed.clear()
            async with asyncio.timeout(1000):
                await self._changed.wait()
        if self.error is not None:
            raise self.error
        return self._assignments
