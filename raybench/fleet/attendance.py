"""The nodes on which engines take turns, as they come and go while these do.

Where engines have devices of their own Ray places them, and asks for nodes by itself. Where they
take turns, we do: GPUs are kept from others, and for a node that died another one is asked for.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping

from raybench.config import FleetConf
from raybench.demands import Demand, NoneComesError, come, may_come
from raybench.errors import Problem, RunFailed
from raybench.fleet.cluster import left_out, nodes
from raybench.fleet.places import devices_of
from raybench.fleet.turns import Device, Found, Lost, NoMore

_LOOK_S = 5.0
_FREE_S = 30.0
"""How long GPUs that have come are waited for, which others may have taken."""


class Attendance:
    """Which devices there are; those of nodes that come are kept for us."""

    def __init__(
        self,
        places: Mapping[str, tuple[str, str]],
        conf: FleetConf,
        say: Callable[[str], None],
        *,
        engine: str,
        gpu: bool,
    ) -> None:
        """Begin with devices that are there, reserved under the name of an engine.

        Of each `places` has its node and its id there.
        """
        self.places = dict(places)
        """Those that are gone among them."""
        self._conf = conf
        self._say = say
        self._engine = engine
        self._gpu = gpu
        self._there = {node for node, _ in places.values()}
        """Nodes that were there at the last look, those without devices for us among them."""
        self._gone: set[str] = set()
        self._lacking = 0
        """Nodes that died, and have no others in their place."""
        self._wait: asyncio.Task[None] | None = None

    async def changes(self) -> AsyncGenerator[Lost | Found | NoMore]:
        """Yield what happens to the nodes, until cancelled. Ray does not know whose engines are."""
        try:
            while True:
                await asyncio.sleep(_LOOK_S)
                with contextlib.suppress(Exception):  # Ray's own trouble shows elsewhere
                    there = await asyncio.to_thread(_alive)
                    if lost := await self._lost(there):
                        yield lost
                    if devices := await self._found(there):
                        yield Found(devices)
                    if self._wait is not None and self._wait.done():
                        self._wait, self._lacking = None, 0
                        yield NoMore()
        finally:
            if self._wait is not None:
                self._wait.cancel()

    async def _lost(self, there: set[str]) -> Lost | None:
        lost = {name for name, (node, _) in self.places.items() if node not in there} - self._gone
        if not lost:
            return None
        self._gone |= lost
        counts = Counter(self.places[name][0] for name in lost)
        if self._gpu:
            await asyncio.to_thread(release, counts.keys(), self._engine)
        awaited = await asyncio.to_thread(may_come)
        if awaited:
            self._lacking += len(counts)
            if self._wait is None or self._wait.done():
                self._wait = asyncio.create_task(self._wait_for_others(max(counts.values())))
        return Lost(frozenset(lost), awaited)

    async def _found(self, there: set[str]) -> tuple[Device, ...]:
        """Return the devices of nodes that were not there the last time."""
        new = there - self._there
        self._there &= there
        if not new:
            return ()
        found = await asyncio.to_thread(nodes, self._conf, gpu=self._gpu, only=new)
        self._there = there  # one that could not be asked what it has is asked again
        for text in left_out(found):
            self._say(text)
        devices, places = devices_of(found, self._conf, gpu=self._gpu)
        if not devices:
            return ()
        # No more is asked for, so that what asked for them makes way for what keeps them.
        self._lacking = max(0, self._lacking - len({node for node, _ in places.values()}))
        try:
            await reserve(places, self._engine, _FREE_S, gpu=self._gpu)
        except RunFailed as error:
            self._say(f"of nodes that have come, {error}")
            return ()
        self.places |= places
        self._gone -= places.keys()
        return devices

    async def _wait_for_others(self, devices: int) -> None:
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
            self._say(f"a node with engines died, {none}")


async def reserve(
    places: Mapping[str, tuple[str, str]],
    engine: str,
    within_s: float,
    setting: str = "",
    *,
    gpu: bool,
) -> None:
    """Keep the GPUs on which engines take turns from others, for as long as the caller lives.

    These engines are put on GPUs by us, not by Ray, which would give them to somebody else. One of
    the engines gives what keeps them its name, under which each node's can be released.
    """
    from ray.util.placement_group import placement_group, remove_placement_group

    if not places or not gpu:
        return
    counts = Counter(node for node, _ in places.values())
    groups = [
        placement_group(
            [{"GPU": count}],
            name=_name(engine, node),
            bundle_label_selector=[{"ray.io/node-id": node}],
        )
        for node, count in counts.items()
    ]
    try:
        async with asyncio.timeout(within_s):
            for group in groups:
                await group.ready()
    except TimeoutError as error:
        for group in groups:
            remove_placement_group(group)
        raise RunFailed(
            Problem(
                "resources.gpus",
                f"{len(places)} GPUs did not become free within {setting}{within_s:g} s: others "
                "use them",
            )
        ) from error


def release(nodes: Iterable[str], engine: str) -> None:
    """Keep the GPUs of these nodes no longer.

    Of one that died Ray would go on to ask for them, and take them when it comes back: from us.
    """
    from ray.util.placement_group import get_placement_group, remove_placement_group

    for node in nodes:
        with contextlib.suppress(ValueError):  # there is none
            remove_placement_group(get_placement_group(_name(engine, node)))


def _name(engine: str, node: str) -> str:
    import ray

    return f"GPUs for {engine} of {ray.get_runtime_context().get_job_id()} on {node}"


def _alive() -> set[str]:
    """Return the ids of the nodes that are there."""
    import ray

    return {node["NodeID"] for node in ray.nodes() if node["Alive"]}
