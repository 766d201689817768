"""The nodes that engines run on, as they come and go.

For a node that died another one is asked for, if Ray's autoscaler may bring one.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

from raybench.config import FleetConf
from raybench.demands import Demand, NoneComesError, come, may_come
from raybench.engines.scheduler.messages import (
    DevicesFound,
    DevicesLost,
    EngineNeed,
    MemoryBudget,
    Node,
    NoMoreDevices,
)
from raybench.errors import RunFailed
from raybench.fleet.cluster import left_out, nodes
from raybench.fleet.needs import nodes_of
from raybench.fleet.reservations import Reservations, only
from raybench.statements import Statement

_LOOK_S = 5.0
_FREE_S = 30.0
"""How long GPUs that have come are waited for, which others may have taken."""
_Nodes = tuple[Node, ...]


class NodeWatch:
    """Tells which devices are lost and found; those that are found are reserved."""

    def __init__(
        self,
        reservations: Reservations,
        conf: FleetConf,
        say: Callable[[str], None],
        *,
        gpu: bool,
        takes_all: bool,
    ) -> None:
        """Begin with the devices that are reserved.

        takes_all: the run takes all devices of nodes that come; else as many as it lost.
        """
        self._reservations = reservations
        self._conf = conf
        self._say = say
        self._gpu = gpu
        self._takes_all = takes_all
        self._there = self.nodes
        """Nodes that were there at the last look, those without devices for us among them."""
        self._lacking = 0
        """Nodes that died, and have no others in their place."""
        self._wait: asyncio.Task[_Nodes] | None = None
        """The last wait for nodes in the place of those that died."""
        self._waits: set[asyncio.Task[_Nodes]] = set()
        """All waits: each returns the nodes whose devices it has reserved."""
        self._are_awaited = False

    @property
    def nodes(self) -> set[str]:
        """Return the names of the nodes whose devices are reserved."""
        return {_node_of(device) for device in self._reservations.devices}

    async def changes(self) -> AsyncGenerator[DevicesLost | DevicesFound | NoMoreDevices]:
        """Yield what happens to the nodes, until cancelled. Ray does not know whose engines are."""
        try:
            while True:
                if self._waits:
                    first = asyncio.FIRST_COMPLETED
                    await asyncio.wait(self._waits, timeout=_LOOK_S, return_when=first)
                else:
                    await asyncio.sleep(_LOOK_S)
                with contextlib.suppress(Exception):  # Ray's own trouble shows elsewhere
                    there = await asyncio.to_thread(_alive)
                    if lost := await self._lost(there):
                        yield lost
                    await self._reserve_new(there)
                if found := self._found():
                    yield DevicesFound(found)
                if self._are_awaited and not self._waits:
                    self._are_awaited, self._lacking = False, 0
                    yield NoMoreDevices()
        finally:
            for wait in self._waits:
                wait.cancel()

    async def _lost(self, there: set[str]) -> DevicesLost | None:
        devices = self._reservations.devices
        groups = self._reservations.groups_of(it for it in devices if _node_of(it) not in there)
        if not groups:
            return None
        lost = frozenset().union(*groups)
        awaited = await asyncio.to_thread(may_come) or not self._takes_all
        wanted = [
            EngineNeed(
                "others",
                MemoryBudget(0.0),
                devices=len(group),
                nodes=len({*map(_node_of, group)}),
                on=self._reservations.labels_of(group),
            )
            for group in groups
        ]
        await asyncio.to_thread(self._reservations.forget, lost)
        self._are_awaited |= awaited
        if not self._takes_all:
            for need in wanted:
                self._begin(self._wait_for_devices(need))
        elif awaited:
            counts = Counter(map(_node_of, lost))
            self._lacking += len(counts)
            if self._wait is None or self._wait.done():
                self._wait = self._begin(self._wait_for_nodes(max(counts.values())))
        return DevicesLost(lost, awaited)

    async def _reserve_new(self, there: set[str]) -> None:
        """Begin to reserve the devices of nodes that were not there the last time."""
        new = there - self._there
        self._there &= there
        if not new or not self._takes_all:
            return
        machines = await asyncio.to_thread(nodes, self._conf, gpu=self._gpu, only=new)
        self._there = there  # one that could not be asked what it has is asked again
        for text in left_out(machines):
            self._say(text)
        come_now = nodes_of(machines, self._conf, gpu=self._gpu)
        # No more is asked for, so that what asked for them makes way for what keeps them.
        self._lacking = max(0, self._lacking - len(come_now))
        for node in come_now:
            self._begin(self._reserve(node))

    def _found(self) -> _Nodes:
        """Return the nodes whose devices were reserved since the last look."""
        found: list[Node] = []
        for wait in [wait for wait in self._waits if wait.done()]:
            self._waits.discard(wait)
            if not wait.cancelled() and not wait.exception():
                found += wait.result()
        return only(found, self._reservations.devices)  # some may have died since

    def _begin(self, wait: Coroutine[Any, Any, _Nodes]) -> asyncio.Task[_Nodes]:
        task = asyncio.create_task(wait)
        self._waits.add(task)
        return task

    async def _reserve(self, node: Node) -> _Nodes:
        """Reserve the devices of a node; return it unless others use some."""
        try:
            await self._reservations.reserve([node], _FREE_S)
        except RunFailed as error:
            self._say(
                Statement(
                    "fleet.new_nodes_taken", "of nodes that have come, {reason}", reason=str(error)
                )
            )
            return ()
        return (node,)

    async def _wait_for_nodes(self, devices: int) -> _Nodes:
        """Have the autoscaler bring nodes; `_reserve_new` takes them in."""
        one = Demand({"GPU": devices} if self._gpu else {"CPU": 1}, self._conf.nodes)
        try:
            await come(
                lambda: self._lacking,
                one,
                "nodes for engines in the place of those that died",
                within_s=self._conf.start_deadline_s,
                setting="fleet.start_deadline_s=",
                say=self._say,
            )
        except NoneComesError as none:
            self._say(
                Statement("fleet.node_died", "a node with engines died, {reason}", reason=str(none))
            )
        return ()

    async def _wait_for_devices(self, wanted: EngineNeed) -> _Nodes:
        """Have Ray choose GPUs in the place of those that were reserved together and are lost."""
        within_s = self._conf.start_deadline_s
        chosen = await self._reservations.choose([wanted], self._conf, within_s)
        if not chosen:
            self._say(
                Statement(
                    "fleet.devices_died",
                    "a node with engines died, and {lacking} GPUs in the place of its own did not "
                    "become free within fleet.start_deadline_s={seconds:g} s",
                    lacking=wanted.devices,
                    seconds=within_s,
                )
            )
        return chosen


def _node_of(device: str) -> str:
    return device.rpartition("/")[0]


def _alive() -> set[str]:
    """Return the ids of the nodes that are there."""
    import ray

    return {node["NodeID"] for node in ray.nodes() if node["Alive"]}
