"""The memory of devices, what replicas hold of it, and the choice of devices for a replica."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from raybench.config.labels import chosen, told
from raybench.engines.scheduler.messages import EngineNeed, Node, ReplicaState
from raybench.statements import Statement

TOLERANCE = 1e-6
IDLE, SLEEPER, WANTED_SLEEPER, EXTRA, PRESSED, _REST = range(6)
"""Who leaves first: an idle replica, a sleeping one (it is unloaded), a sleeping one that is to be
woken soon, a busy one whose engine has another, the last one of a busy engine. Then what those who
went to sleep left on the device."""
COMES = (
    ReplicaState.PLANNED, ReplicaState.LOADING, ReplicaState.WAKING, ReplicaState.OPEN,
)  # fmt: skip
"""States of a replica that takes requests, or will."""
_LEAVES = (ReplicaState.CLOSING, ReplicaState.CLOSED, ReplicaState.GOING_TO_SLEEP)


@dataclass(eq=False, slots=True)
class EngineMemory:
    """What a replica of an engine takes: estimates, and what was measured since."""

    need: EngineNeed
    left_gib: float
    host_gib: float
    measured_gib: float | None = None
    """Where it takes a share of each device, as much of it as is beyond that share."""
    alone: bool = False
    """It takes whole devices: it did not fit beside others."""

    def note_load(self, gib: float, devices: "Sequence[DeviceMemory]") -> None:
        """Note what a replica takes of that of its devices of which it takes most."""
        share_gib = self.need.share * max(device.gib for device in devices)
        self.measured_gib, self.alone = max(0.0, gib - share_gib), False

    def awake_gib(self, device: "DeviceMemory") -> float:
        """Return what it takes of a device."""
        beyond_gib = self.measured_gib or 0.0
        return max(
            self.least_gib,
            min(self.need.share * device.gib + beyond_gib, device.gib) if self.need.share else 0.0,
            device.gib - device.other_gib if self.alone else 0.0,
        )

    @property
    def least_gib(self) -> float:
        """Return what it takes of any device, however small."""
        measured = None if self.need.share else self.measured_gib
        return self.need.memory.total if measured is None else measured


@dataclass(eq=False, slots=True)
class Replica:
    """One running copy of an engine, or one that is planned."""

    name: str
    memory: EngineMemory
    devices: "tuple[DeviceMemory, ...]"
    state: ReplicaState = ReplicaState.PLANNED
    since: float = 0.0
    level: Literal[0, 1, 2] = 0
    """The level that it sleeps at, goes to, or wakes from."""
    must_unload: bool = False
    """It leaves its devices altogether."""
    makes_way_for: "Replica | None" = None
    restarts: bool = False
    """Its process runs and waits for its load."""
    is_swap: bool = False
    """Others make way for it, or it makes way."""

    def held_gib(self, device: "DeviceMemory") -> float:
        """Return what it takes of a device now."""
        if self.state is ReplicaState.ASLEEP:
            return self.memory.left_gib
        if self.state in (ReplicaState.PLANNED, ReplicaState.UNLOADING) and self.level:
            return self.memory.left_gib
        return 0.0 if self.state is ReplicaState.PLANNED else self.memory.awake_gib(device)

    def claimed_gib(self, device: "DeviceMemory") -> float:
        """Return what it will take once all has happened that is planned or under way."""
        if self.must_unload or self.state is ReplicaState.UNLOADING:
            return 0.0
        if self.state in _LEAVES or self.state is ReplicaState.ASLEEP:
            return self.memory.left_gib if self.memory.need.can_sleep else 0.0
        return self.memory.awake_gib(device)


@dataclass(eq=False, slots=True)
class DeviceMemory:
    """One device: who is on it, and which of them moves."""

    name: str
    gib: float
    node: "NodeDevices"
    other_gib: float = 0.0
    """What no replica accounts for."""
    exclusive_moves: bool = True
    replicas: list[Replica] = field(default_factory=list)
    moving: Replica | None = None
    """Whoever moves there, if it has to be alone."""
    swapping: set[Replica] = field(default_factory=set)
    """Those whose moves belong to swaps."""
    swapping_since: float = 0.0

    def held_gib(self) -> float:
        """Return what is taken now."""
        return self.other_gib + sum(replica.held_gib(self) for replica in self.replicas)

    def unclaimed_gib(self) -> float:
        """Return what is free once all has happened that is planned or under way."""
        return self.gib - self.other_gib - sum(each.claimed_gib(self) for each in self.replicas)


@dataclass(eq=False, slots=True)
class NodeDevices:
    """One node."""

    node: Node
    devices: list[DeviceMemory] = field(default_factory=list)
    lacks: set[str] = field(default_factory=set)
    """Engines whose weights it does not have yet."""


class Leaver(NamedTuple):
    """A replica that has to leave."""

    rank: int
    since: float
    replica: Replica
    gib: float
    """What that gives back of the device."""
    unload: bool


class Placement(NamedTuple):
    """Devices for a replica, and who has to leave them first."""

    cost: tuple[float, ...]
    """Busy leavers, lost sleepers, leavers, and what else decides between places."""
    devices: tuple[DeviceMemory, ...]
    leaving: tuple[Leaver, ...]


@dataclass(frozen=True, slots=True)
class Waits:
    """There are such devices, but they are taken, or the engine's weights are not there yet."""


@dataclass(frozen=True, slots=True)
class Never:
    """There are no such devices."""

    reason: str


MayLeave = Callable[[Replica], tuple[int, float] | None]
"""The rank of a replica that may be sent away, and what decides within the rank; None: it stays."""


class Devices:
    """All devices, by node."""

    def __init__(self) -> None:
        self.nodes: dict[str, NodeDevices] = {}
        self.by_name: dict[str, DeviceMemory] = {}
        self._fitting: dict[str, list[list[DeviceMemory]]] = {}

    def add(self, nodes: Iterable[Node]) -> None:
        """Take in nodes, or more devices of known nodes."""
        for node in nodes:
            here = self.nodes.setdefault(node.name, NodeDevices(node))
            here.node, here.lacks = node, {*node.lacks}
            for device in node.devices:
                if device.name not in self.by_name:
                    self.by_name[device.name] = DeviceMemory(
                        device.name,
                        device.memory_gib,
                        here,
                        exclusive_moves=device.exclusive_moves,
                    )
                    here.devices.append(self.by_name[device.name])
        self._fitting.clear()

    def drop(self, names: Iterable[str]) -> list[DeviceMemory]:
        """Forget devices that are gone; return them."""
        gone = [self.by_name.pop(name) for name in sorted(names) if name in self.by_name]
        for device in gone:
            device.node.devices.remove(device)
            if not device.node.devices:
                self.nodes.pop(device.node.node.name, None)
        self._fitting.clear()
        return gone

    def recompute(self, engine: str) -> None:
        """Note that an engine's memory has changed, or that it can be loaded on other nodes."""
        self._fitting.pop(engine, None)

    def fitting(self, memory: EngineMemory) -> list[list[DeviceMemory]]:
        """Return the devices that could hold an engine by themselves, by node with enough of them.

        Only where no node has enough do nodes count that have a stage's share of them. Nodes
        without its weights do not count.
        """
        name = memory.need.engine
        if name not in self._fitting:
            self._fitting[name] = self._find_fitting(
                memory, [node for node in self.nodes.values() if name not in node.lacks]
            )
        return self._fitting[name]

    def lacks_weights(self, memory: EngineMemory) -> bool:
        """Tell whether an engine fits on devices, but on none whose node has its weights."""
        return not self.fitting(memory) and bool(self._find_fitting(memory, self.nodes.values()))

    def _find_fitting(
        self, memory: EngineMemory, nodes: "Iterable[NodeDevices]"
    ) -> list[list[DeviceMemory]]:
        need = memory.need
        by_node = [
            [each for each in node.devices if memory.awake_gib(each) <= each.gib + TOLERANCE]
            for node in nodes
            if chosen(node.node.labels, need.on)
        ]
        found = [devices for devices in by_node if len(devices) >= need.devices]
        if not found and need.nodes > 1:
            found = [devices for devices in by_node if len(devices) >= _stage(need)]
            found = found if len(found) >= need.nodes else []
        return found

    def sleep_level(self, replica: Replica) -> Literal[0, 1, 2]:
        """Return the level at which a replica can go to sleep; 0 where it cannot."""
        can = replica.memory.need.can_sleep
        nodes = {device.node for device in replica.devices}
        if 1 in can and all(self._has_host_memory(node, replica) for node in nodes):
            return 1
        return 2 if 2 in can else 0

    def _has_host_memory(self, node: NodeDevices, replica: Replica) -> bool:
        asleep = {each for device in node.devices for each in device.replicas if each.level == 1}
        taken = sum(each.memory.host_gib for each in asleep | {replica})
        return taken <= node.node.host_gib + TOLERANCE


def choose_devices(
    memory: EngineMemory, devices: Devices, may_leave: MayLeave
) -> Placement | Waits | Never:
    """Choose devices for one more replica of an engine.

    Only the cheapest devices of each node are a candidate: equal devices need not be combined.
    """
    need = memory.need
    nodes = devices.fitting(memory)
    if not nodes:
        return Waits() if devices.lacks_weights(memory) else Never(_explain(memory, devices))
    stages, count = stages_of(need, nodes)
    found: list[tuple[tuple[float, ...], Placement]] = []
    for node in nodes:
        placement = place_on(memory, node, count, may_leave)
        if placement is not None:
            same = sum(each.memory is memory for device in node for each in device.replicas)
            found.append(((*placement.cost, same, len(found)), placement))
    if len(found) < stages:
        return Waits()
    if stages == 1:
        return min(found)[1]
    return _together([placement for _, placement in sorted(found)[:stages]])


def stages_of(need: EngineNeed, nodes: Sequence[Sequence[DeviceMemory]]) -> tuple[int, int]:
    """Return how many of the fitting nodes an engine takes, and how many devices of each."""
    return (1, need.devices) if len(nodes[0]) >= need.devices else (need.nodes, _stage(need))


def place_on(
    memory: EngineMemory,
    candidates: Sequence[DeviceMemory],
    count: int,
    may_leave: MayLeave,
    sleeper: Replica | None = None,
) -> Placement | None:
    """Return the cheapest of these devices for a replica; None where too few can be had.

    sleeper: the replica that is to wake there.
    """
    found = [
        placement
        for device in candidates
        if (placement := _place_on_one(memory, device, may_leave, sleeper)) is not None
    ]
    if len(found) < count:
        return None
    found.sort(key=lambda placement: placement.cost)  # stable: else in the order of the devices
    return found[0] if count == 1 else _together(found[:count])


def _place_on_one(
    memory: EngineMemory, device: DeviceMemory, may_leave: MayLeave, sleeper: Replica | None
) -> Placement | None:
    if memory.need.replicas is None and any(
        each.memory is memory and each.state in COMES for each in device.replicas
    ):
        return None  # a second copy on the same device makes an engine no faster
    unclaimed = device.unclaimed_gib() + (sleeper.claimed_gib(device) if sleeper else 0.0)
    lack = memory.awake_gib(device) - unclaimed
    leaving: tuple[Leaver, ...] = ()
    if lack > TOLERANCE:
        leaving = _who_leaves(lack, _leavers(device, may_leave, sleeper))
        if not leaving:
            return None
    return Placement((*_cost(leaving), device.gib, -unclaimed), (device,), leaving)


def _leavers(
    device: DeviceMemory, may_leave: MayLeave, sleeper: Replica | None
) -> Iterator[Leaver]:
    for replica in device.replicas:
        if replica is sleeper or replica.must_unload:
            continue
        left = replica.claimed_gib(device)
        if replica.state is ReplicaState.ASLEEP:
            rank, since = may_leave(replica) or (SLEEPER, replica.since)
            yield Leaver(rank, since, replica, left, True)
        elif replica.state in (ReplicaState.CLOSING, ReplicaState.CLOSED):
            yield Leaver(_REST, 0.0, replica, left, True)
        elif (leave := may_leave(replica)) is not None:
            sleeps = replica.state is ReplicaState.OPEN and bool(replica.memory.need.can_sleep)
            rest = replica.memory.left_gib if sleeps else 0.0
            yield Leaver(*leave, replica, left - rest, not sleeps)
            if sleeps:
                yield Leaver(_REST, 0.0, replica, rest, True)


def _who_leaves(lack: float, leavers: Iterable[Leaver]) -> tuple[Leaver, ...]:
    """Return those who give back what is lacking, in order of rank; nobody where all are too few.

    Whoever turns out not to be needed stays, the most costly first.
    """
    leaving: list[Leaver] = []
    for leaver in sorted(leavers, key=lambda leaver: leaver[:2]):
        if lack <= TOLERANCE:
            break
        leaving.append(leaver)
        lack -= leaver.gib
    if lack > TOLERANCE:
        return ()
    for leaver in reversed(leaving[:-1] if leaving[-1].rank != _REST else ()):
        if lack + leaver.gib <= TOLERANCE:
            leaving.remove(leaver)
            lack += leaver.gib
    return tuple(leaving)


def _together(placements: Sequence[Placement]) -> Placement:
    """Join the placements of several devices: a replica on two of them leaves once."""
    leavers: dict[tuple[Replica, bool], Leaver] = {}
    for leaver in (leaver for placement in placements for leaver in placement.leaving):
        leavers.setdefault((leaver.replica, leaver.rank == _REST), leaver)
    leaving = tuple(leavers.values())
    devices = tuple(device for placement in placements for device in placement.devices)
    return Placement((*_cost(leaving), *placements[-1].cost[4:]), devices, leaving)


def _cost(leaving: Sequence[Leaver]) -> tuple[float, float, float, float]:
    if not leaving:
        return (0.0, 0.0, 0.0, 0.0)
    return (
        float(
            sum(max(0, leaver.rank - WANTED_SLEEPER) for leaver in leaving if leaver.rank < _REST)
        ),
        float(sum(leaver.replica.state is ReplicaState.ASLEEP for leaver in leaving)),
        float(len(leaving)),
        max(leaver.since for leaver in leaving),
    )


def _stage(need: EngineNeed) -> int:
    return -(-need.devices // need.nodes)


def _explain(memory: EngineMemory, devices: Devices) -> Statement:
    need = memory.need
    here = [
        device for device in devices.by_name.values() if chosen(device.node.node.labels, need.on)
    ]
    return Statement(
        "engine.fits_nowhere",
        "engine {engine} needs {gib:.1f} GiB on each of {devices} devices of one node{labels}; "
        "there are {count} devices, the largest with {largest:.1f} GiB. Spread it over more "
        "devices (tensor_parallel_size), lower its KV cache (fleet.kv_cache_gib), or choose a "
        "smaller model",
        engine=need.engine,
        gib=memory.least_gib,
        devices=need.devices,
        labels=f" with {told(need.on)}" if need.on else "",
        count=len(here),
        largest=max((device.gib for device in here), default=0.0),
    )
