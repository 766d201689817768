"""A client process and the controller: demand goes one way, replicas the other."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from raybench.engines.base import DemandReport, ReplicaHandle
from raybench.engines.controller import Assignments
from raybench.statements import Statement

_LOOK_S = 0.1
"""How soon the controller learns that an engine is wanted, or no longer."""
_REPORT_S = 1.0
_AGAIN_S = 1.0
"""How long after a failed call the controller is called again."""
_SILENCE_S = 60.0
"""After a call that took longer than this, the controller may have given this client up."""


class ControllerGoneError(Exception):
    """The controller has died, and does not come back."""


class ControllerHandle(Protocol):
    """The controller as a client reaches it. Its calls raise ControllerGoneError at its end."""

    async def report(self, reports: Sequence[DemandReport]) -> None:
        """Say what this client wants."""
        ...

    async def assignments(self, client: str, known: int) -> Assignments:
        """Return where requests go, once that has changed."""
        ...


class Feeder(Protocol):
    """What sends the requests of a process to the replicas of one engine."""

    def report(self) -> DemandReport:
        """Return what is wanted of the engine now."""
        ...

    def set_replicas(self, replicas: Mapping[str, ReplicaHandle]) -> None:
        """Send to these replicas from now on."""
        ...

    def refuse(self, reason: str) -> None:
        """Fail what waits, and what comes until `set_replicas` is called."""
        ...


class AssignmentLoop:
    """Reports for the feeders of a process, and gives them the replicas that are open."""

    def __init__(
        self,
        client: str,
        controller: ControllerHandle,
        feeders: Mapping[str, Feeder],
        connect: Callable[[str], ReplicaHandle],
    ) -> None:
        """Serve these feeders, by engine. `connect` returns the handle of a replica."""
        self._client = client
        self._controller = controller
        self._feeders = feeders
        self._connect = connect
        self._handles: dict[str, ReplicaHandle] = {}
        """Kept while a replica is away: its name comes back."""
        self._sent: dict[str, DemandReport] = {}

    async def run(self) -> None:
        """Report and listen, until cancelled or the controller is gone."""
        async with asyncio.TaskGroup() as group:
            reporting = group.create_task(self._report())
            await self._listen()
            reporting.cancel()

    async def _report(self) -> None:
        looks = 0
        while True:
            reports = {name: feeder.report() for name, feeder in self._feeders.items()}
            changed = {it for it, report in reports.items() if report != self._sent.get(it)}
            at_once = {it for it in changed if _kind(reports[it]) != _kind(self._sent.get(it))}
            if at_once or (changed and looks >= _REPORT_S / _LOOK_S):
                due = changed if looks >= _REPORT_S / _LOOK_S else at_once
                with contextlib.suppress(Exception):  # `_listen` meets it too
                    await self._controller.report([reports[name] for name in sorted(due)])
                    self._sent |= {name: reports[name] for name in due}
                looks = 0 if due == changed else looks
            looks += 1
            await asyncio.sleep(_LOOK_S)

    async def _listen(self) -> None:
        known, clock = -1, asyncio.get_running_loop().time
        while True:
            called_at = clock()
            try:
                found = await self._controller.assignments(self._client, known)
            except ControllerGoneError as error:
                self._refuse_all(error)
                return
            except Exception:  # Serve starts another one, which knows nothing of this client
                known = -1
                self._sent.clear()
                await asyncio.sleep(_AGAIN_S)
                continue
            if clock() - called_at > _SILENCE_S:
                self._sent.clear()
            if found.version != known:
                known = found.version
                self._apply(found)

    def _apply(self, found: Assignments) -> None:
        for engine, feeder in self._feeders.items():
            names = found.replicas.get(engine, ())
            feeder.set_replicas({name: self._handle(name) for name in names})
            if not names and (reason := found.failures.get(engine)):
                feeder.refuse(reason)

    def _refuse_all(self, error: ControllerGoneError) -> None:
        reason = Statement(
            "engine.controller_lost",
            "the controller of the engines died ({reason})",
            reason=str(error),
        )
        for feeder in self._feeders.values():
            feeder.set_replicas({})
            feeder.refuse(reason)

    def _handle(self, replica: str) -> ReplicaHandle:
        if replica not in self._handles:
            self._handles[replica] = self._connect(replica)
        return self._handles[replica]


def _kind(report: DemandReport | None) -> tuple[bool, bool]:
    """Return of a report what the scheduler wants to know at once."""
    if report is None:
        return False, False
    return report.ready > 0, report.outstanding > 0
