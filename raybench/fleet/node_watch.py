"""The nodes that engines run on, as they come and go.

For a node that died another one is asked for, if Ray's autoscaler may bring one.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence

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

        takes_all: the run takes all devices of nodes that come; else as many as it has lost.
        """
        self._reservations = reservations
        self._conf = conf
        self._say = say
        self._gpu = gpu
        self._takes_all = takes_all
        self._there = {_node_of(device) for device in reservations.devices}
        """Nodes that were there at the last look, those without devices for us among them."""
        self._lacking = 0
        """Nodes that died, and have no others in their place."""
        self._wait: asyncio.Task[Sequence[Node]] | None = None

    async def changes(self) -> AsyncGenerator[DevicesLost | DevicesFound | NoMoreDevices]:
        """Yield what happens to the nodes, until cancelled. Ray does not know whose engines are."""
        try:
            while True:
                await asyncio.sleep(_LOOK_S)
                with contextlib.suppress(Exception):  # Ray's own trouble shows elsewhere
                    there = await asyncio.to_thread(_alive)
                    if lost := await self._lost(there):
                        yield lost
                    if found := await self._found(there):
                        yield DevicesFound(tuple(found))
                    if self._wait is not None and self._wait.done():
                        wait, self._wait, self._lacking = self._wait, None, 0
                        if chosen := wait.result():
                            yield DevicesFound(tuple(chosen))
                        yield NoMoreDevices()
        finally:
            if self._wait is not None:
                self._wait.cancel()

    async def _lost(self, there: set[str]) -> DevicesLost | None:
        lost = {it for it in self._reservations.devices if _node_of(it) not in there}
        if not lost:
            return None
        counts = Counter(map(_node_of, lost))
        await asyncio.to_thread(self._reservations.forget, lost)
        awaited = await asyncio.to_thread(may_come) or not self._takes_all
        if awaited:
            self._lacking += len(counts)
            if self._wait is None or self._wait.done():
                wait = self._wait_for_nodes if self._takes_all else self._wait_for_devices
                self._wait = asyncio.create_task(wait([*counts.values()]))
        return DevicesLost(frozenset(lost), awaited)

    async def _found(self, there: set[str]) -> Sequence[Node]:
        """Return nodes that were not there the last time, with their devices."""
        new = there - self._there
        self._there &= there
        if not new or not self._takes_all:
            return ()
        found = await asyncio.to_thread(nodes, self._conf, gpu=self._gpu, only=new)
        self._there = there  # one that could not be asked what it has is asked again
        for text in left_out(found):
            self._say(text)
        come_now = nodes_of(found, self._conf, gpu=self._gpu)
        if not come_now:
            return ()
        # No more is asked for, so that what asked for them makes way for what keeps them.
        self._lacking = max(0, self._lacking - len(come_now))
        try:
            await self._reservations.reserve(come_now, _FREE_S)
        except RunFailed as error:
            self._say(
                Statement(
                    "fleet.new_nodes_taken", "of nodes that have come, {reason}", reason=str(error)
                )
            )
            return ()
        return come_now

    async def _wait_for_nodes(self, devices: Sequence[int]) -> Sequence[Node]:
        """Have the autoscaler bring nodes; `_found` takes them in."""
        one = Demand({"GPU": max(devices)} if self._gpu else {"CPU": 1}, self._conf.nodes)
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

    async def _wait_for_devices(self, devices: Sequence[int]) -> Sequence[Node]:
        """Have Ray choose as many GPUs as each node had that died."""
        wanted = [EngineNeed("others", MemoryBudget(0.0), devices=count) for count in devices]
        names = await self._reservations.choose(
            wanted, self._conf.nodes, self._conf.start_deadline_s
        )
        where = {_node_of(name) for name in names}
        found = await asyncio.to_thread(nodes, self._conf, gpu=self._gpu, only=where)
        chosen = only(nodes_of(found, self._conf, gpu=self._gpu), names)
        self._reservations.know(chosen)
        if len(names) < sum(devices):
            self._say(
                Statement(
                    "fleet.devices_died",
                    "a node with engines died, and {lacking} GPUs in the place of its own did not "
                    "become free within fleet.start_deadline_s={seconds:g} s",
                    lacking=sum(devices) - len(names),
                    seconds=self._conf.start_deadline_s,
                )
            )
        return chosen


def _node_of(device: str) -> str:
    return device.rpartition("/")[0]


def _alive() -> set[str]:
    """Return the ids of the nodes that are there."""
    import ray

    return {node["NodeID"] for node in ray.nodes() if node["Alive"]}
