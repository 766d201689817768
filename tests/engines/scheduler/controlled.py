"""A scheduler whose orders are carried out, and held to what a controller could do.

`Controlled` keeps books of its own, from actions and events alone: who is on which device, in
which state, with how much memory. Every order that breaks a rule of the hardware fails the test.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from raybench.config.labels import chosen
from raybench.engines.base import DemandReport
from raybench.engines.scheduler import EngineScheduler
from raybench.engines.scheduler.messages import (
    Action,
    Asleep,
    Close,
    Device,
    DevicesFound,
    DevicesLost,
    Drained,
    EngineNeed,
    Event,
    Load,
    Loaded,
    MemoryBudget,
    MoveFailed,
    Node,
    Refuse,
    Reopen,
    ReplicaState,
    Reported,
    Restarting,
    Rules,
    Sleep,
    Tick,
    Unload,
    Unloaded,
    Wake,
    WeightsFetched,
    Woken,
)

LEFT_GIB = 1.0
RULES = Rules(patience_s=1000.0, linger_s=1.0, left_gib=LEFT_GIB)


def node(name: str, *gib: float, host_gib: float = 100.0, **labels: str) -> Node:
    """Return a node with devices of these sizes, named NODE0, NODE1 and so on."""
    devices = tuple(Device(f"{name}{number}", size) for number, size in enumerate(gib))
    return Node(name, devices, host_gib, labels)


def need(engine: str, gib: float = 10.0, **fields: object) -> EngineNeed:
    """Return an engine that takes so much of each of its devices, all of it weights."""
    return EngineNeed(engine, MemoryBudget(gib), **({"load_s": 10.0} | fields))  # type: ignore[arg-type]


@dataclass
class Copy:
    """A replica, in the books of the hardware."""

    engine: EngineNeed
    devices: tuple[str, ...]
    state: str
    level: int = 0
    was_asleep: bool = False
    """It is to end, or has lost a node, and slept before."""

    has_restarted: bool = False
    """Its process waits, with no memory yet."""

    awake_gib: float | None = None
    left_gib: float = LEFT_GIB

    def gib(self) -> float:
        if self.has_restarted:
            return 0.0
        if self.state == "asleep" or self.was_asleep:
            return self.left_gib
        return self.engine.memory.total if self.awake_gib is None else self.awake_gib


class Controlled:
    """A scheduler, its nodes, and what runs on them."""

    def __init__(
        self, nodes: Sequence[Node], needs: Sequence[EngineNeed], rules: Rules = RULES
    ) -> None:
        self.now = 0.0
        self.needs = {each.engine: each for each in needs}
        self.devices: dict[str, tuple[Device, Node]] = {}
        self.lacks: dict[str, set[str]] = {}
        self._add(nodes)
        self.copies: dict[str, Copy] = {}
        self.refused: list[str] = []
        self.actions: list[Action] = []
        self.scheduler = EngineScheduler(nodes, needs, rules)

    def preload(self) -> list[Action]:
        return self._carry_out(self.scheduler.preload(self.now))

    def tell(self, event: Event, after: float = 0.0) -> list[Action]:
        """Let the scheduler handle an event some seconds later; return what it orders."""
        self.now += after
        self._take_in(event)
        return self._carry_out(self.scheduler.handle(event, self.now))

    def tick(self, after: float = 0.0) -> list[Action]:
        return self.tell(Tick(), after)

    def report(
        self, engine: str, ready: int = 0, outstanding: int = 0, remaining: int = 0,
        client: str = "client", after: float = 0.0,
    ) -> list[Action]:  # fmt: skip
        report = DemandReport(client, engine, ready, outstanding, remaining)
        return self.tell(Reported(report), after)

    def finish(self, replica: str, after: float = 0.0) -> list[Action]:
        """Let what a replica is about succeed: its move, or its drain."""
        match self.copies[replica].state:
            case "loading":
                return self.tell(Loaded(replica), after)
            case "waking":
                return self.tell(Woken(replica), after)
            case "closing":
                return self.tell(Drained(replica), after)
            case "to sleep":
                return self.tell(Asleep(replica), after)
            case "unloading":
                return self.tell(Unloaded(replica), after)
        raise AssertionError(f"{replica} does nothing")

    def settle(self, after: float = 1.0) -> list[Action]:
        """Let everything finish that was begun, and what follows from it; return the orders."""
        orders: list[Action] = []
        while busy := self.under_way():
            orders += self.finish(busy[0], after)
        return orders

    def under_way(self) -> list[str]:
        still = ("open", "asleep", "drained", "dead")
        return [name for name, copy in self.copies.items() if copy.state not in still]

    def open(self, engine: str) -> list[str]:
        return [
            name
            for name, copy in self.copies.items()
            if copy.engine.engine == engine and copy.state == "open"
        ]

    def states(self, engine: str) -> dict[str, ReplicaState]:
        return self.scheduler.states(engine)

    def moving(self, copy: Copy) -> bool:
        return copy.state in ("loading", "waking", "to sleep", "unloading")

    def _add(self, nodes: Sequence[Node]) -> None:
        for each in nodes:
            self.lacks[each.name] = {*each.lacks}
            self.devices |= {device.name: (device, each) for device in each.devices}

    def _take_in(self, event: Event) -> None:
        match event:
            case Loaded(replica) | Woken(replica):
                self.copies[replica].state, self.copies[replica].level = "open", 0
                if isinstance(event, Loaded):
                    self.copies[replica].awake_gib = event.gib
            case Drained(replica):
                self.copies[replica].state = "drained"
            case Asleep(replica, left_gib):
                self.copies[replica].state = "asleep"
                if left_gib is not None:
                    self.copies[replica].left_gib = left_gib
            case Unloaded(replica):
                del self.copies[replica]
            case MoveFailed(replica):
                self.copies[replica].state = "dead"
            case Restarting(replica):
                copy = self.copies[replica]
                copy.state, copy.level, copy.has_restarted = "dead", 0, True
            case DevicesLost(names):
                for name in names:
                    self.devices.pop(name)
                for copy in self.copies.values():
                    if names & {*copy.devices}:
                        copy.was_asleep |= copy.state == "asleep"
                        copy.devices = tuple(it for it in copy.devices if it not in names)
                        copy.state = "unloading" if copy.state == "unloading" else "dead"
            case DevicesFound(nodes):
                self._add(nodes)
            case WeightsFetched(engine, name):
                self.lacks[name].discard(engine)
            case _:
                pass

    def _carry_out(self, actions: list[Action]) -> list[Action]:
        for action in actions:
            self._obey(action)
            self._check()
        listed = {name for names in self.scheduler.open_replicas().values() for name in names}
        assert listed == {name for name, copy in self.copies.items() if copy.state == "open"}
        self.actions += actions
        return actions

    def _obey(self, action: Action) -> None:
        match action:
            case Load(replica, engine, devices):
                copy = Copy(self.needs[engine], devices, "loading")
                before = self.copies.pop(replica, None)
                assert before is None or (before.state == "dead" and before.devices == devices)
                self._check_place(copy)
                self._lock(copy)
                self.copies[replica] = copy
            case Wake(replica, level):
                copy = self.copies[replica]
                assert (copy.state, copy.level) == ("asleep", level)
                self._lock(copy)
                copy.state = "waking"
            case Close(replica):
                assert self.copies[replica].state == "open"
                self.copies[replica].state = "closing"
            case Reopen(replica):
                assert self.copies[replica].state in ("closing", "drained")
                self.copies[replica].state = "open"
            case Sleep(replica, level):
                copy = self.copies[replica]
                assert copy.state == "drained"
                assert level in copy.engine.can_sleep
                self._lock(copy)
                copy.state, copy.level = "to sleep", level
            case Unload(replica):
                copy = self.copies[replica]
                assert copy.state in ("drained", "asleep", "dead"), f"{replica} is {copy.state}"
                self._lock(copy)
                copy.was_asleep |= copy.state == "asleep"
                copy.state, copy.level = "unloading", 0
            case Refuse(engine):
                self.refused.append(engine)

    def _check_place(self, copy: Copy) -> None:
        engine = copy.engine
        nodes = [self.devices[name][1] for name in copy.devices]
        assert len({*copy.devices}) == engine.devices
        assert len({each.name for each in nodes}) <= engine.nodes
        assert all(chosen(each.labels, engine.on) for each in nodes)
        assert not any(engine.engine in self.lacks[each.name] for each in nodes)

    def _lock(self, copy: Copy) -> None:
        """Two moves on one device: never, unless it allows them."""
        for other in self.copies.values():
            if other is not copy and self.moving(other):
                both = {*copy.devices} & {*other.devices}
                assert not any(self.devices[name][0].exclusive_moves for name in both)

    def _check(self) -> None:
        taken = dict.fromkeys(self.devices, 0.0)
        asleep: dict[str, float] = {}
        for copy in self.copies.values():
            for device in copy.devices:
                taken[device] += copy.gib()
            if copy.level == 1 and copy.devices:
                name = self.devices[copy.devices[0]][1].name
                weights = copy.engine.memory.weights * copy.engine.devices
                asleep[name] = asleep.get(name, 0.0) + weights
        for name, gib in taken.items():
            assert gib <= self.devices[name][0].memory_gib + 1e-6
        for _, host in self.devices.values():
            assert asleep.get(host.name, 0.0) <= host.host_gib + 1e-6
