"""The events that the scheduler of engines takes, and its orders.

A controller carries out the actions and reports each result as an event. A *move* is a load, a
wake, a sleep or an unload; it has all its devices to itself until its event arrives.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from raybench.engines.base import DemandReport
from raybench.statements import Statement

SleepLevel = Literal[1, 2]
"""1 keeps the weights in host memory, 2 drops them."""
FailureKind = Literal["memory", "permanent", "other"]
"""`memory`: too little on a device. `permanent`: the same try would fail again (no weights)."""


@dataclass(frozen=True, slots=True)
class Device:
    """Memory that engines are loaded into: a GPU, or a machine's own memory."""

    name: str
    memory_gib: float
    exclusive_moves: bool = True
    """A load measures the whole device, as on GPUs: it has one move at a time."""


@dataclass(frozen=True, slots=True)
class Node:
    """A machine and its devices."""

    name: str
    devices: tuple[Device, ...]
    host_gib: float = 0.0
    """Host memory for the weights of engines that sleep at level 1."""
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    lacks: frozenset[str] = frozenset()
    """Engines whose weights it does not have yet: none of these is loaded there before it has."""


@dataclass(frozen=True, slots=True)
class MemoryBudget:
    """What an engine takes of each of its devices, in GiB."""

    weights: float
    kv: float = 0.0
    activations: float = 0.0
    graphs: float = 0.0
    communication: float = 0.0
    context: float = 0.0

    @property
    def total(self) -> float:
        """Return the sum."""
        return (
            self.weights + self.kv + self.activations + self.graphs
            + self.communication + self.context
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class EngineNeed:
    """What one replica of an engine needs, and how many replicas are asked for."""

    engine: str
    memory: MemoryBudget
    share: float = 0.0
    """Least share of a device's memory that it takes: vLLM fills that share with KV cache."""
    devices: int = 1
    nodes: int = 1
    """More than 1 only where no node has as many devices as it takes."""
    replicas: int | None = None
    """None: as many as pay."""
    on: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Labels of the nodes that may hold it."""
    can_sleep: frozenset[SleepLevel] = frozenset()
    is_referee: bool = False
    load_s: float = 90.0
    """How long a load takes, until one was seen."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for all engines."""

    patience_s: float = 7200.0
    """Requests wait no longer than this for a replica, as far as the devices can do it."""
    linger_s: float = 0.5
    """How long an idle replica keeps its devices: its clients may be about to ask for more."""
    left_gib: float = 1.5
    """What a sleeping engine leaves on each device, until that was measured."""
    wake_s: float = 5.0
    leave_s: float = 5.0
    """How long a wake and a way to sleep take, until one was seen."""


class ReplicaState(Enum):
    """Where a replica stands."""

    PLANNED = "planned"
    """Its memory is set aside. It waits for moves on its devices, and for those who leave."""
    LOADING = "loading"
    WAKING = "waking"
    OPEN = "open"
    CLOSING = "closing"
    """It takes no more requests, and finishes those that run."""
    CLOSED = "closed"
    """It has finished, and waits for its devices to have no move."""
    GOING_TO_SLEEP = "going to sleep"
    ASLEEP = "asleep"
    UNLOADING = "unloading"


# Events


@dataclass(frozen=True, slots=True)
class Reported:
    """A client process says what it wants of an engine; all zeros withdraw its demand."""

    report: DemandReport


@dataclass(frozen=True, slots=True)
class ClientGone:
    """A client process has ended: it wants nothing more."""

    client: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """A load is done."""

    replica: str
    gib: float | None = None
    """What it takes of each device, if that was measured."""


@dataclass(frozen=True, slots=True)
class Woken:
    """A wake is done."""

    replica: str


@dataclass(frozen=True, slots=True)
class Drained:
    """A replica that was closed has no request left."""

    replica: str


@dataclass(frozen=True, slots=True)
class Asleep:
    """A replica has gone to sleep."""

    replica: str
    left_gib: float | None = None
    """What it left on each device, if that was measured."""
    host_gib: float | None = None
    """The host memory that its weights take, if that was measured."""


@dataclass(frozen=True, slots=True)
class Unloaded:
    """A replica's process has ended and its memory is free."""

    replica: str


@dataclass(frozen=True, slots=True)
class MoveFailed:
    """A load, wake or sleep failed. The scheduler orders an Unload of what is left of it."""

    replica: str
    reason: str
    kind: FailureKind = "other"


@dataclass(frozen=True, slots=True)
class Restarting:
    """A replica's process died and starts again in place: it asks for a Load of its own."""

    replica: str


@dataclass(frozen=True, slots=True)
class DevicesLost:
    """Devices are gone, with what was on them."""

    devices: frozenset[str]
    awaited: bool = False
    """Others are to come: engines without a place wait for them."""


@dataclass(frozen=True, slots=True)
class DevicesFound:
    """Nodes have come, or more devices of known nodes."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class NoMoreDevices:
    """Devices that were awaited have come, or will not come."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Memory of a device that no replica accounts for: other programs, or a leak."""

    device: str
    other_gib: float


@dataclass(frozen=True, slots=True)
class WeightsFetched:
    """A node has the weights of an engine now."""

    engine: str
    node: str


@dataclass(frozen=True, slots=True)
class WeightsMissing:
    """No node could fetch the weights of an engine, and none tries any more."""

    engine: str
    reason: str


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed."""


Event = (
    Reported | ClientGone | Loaded | Woken | Drained | Asleep | Unloaded | MoveFailed | Restarting
    | DevicesLost | DevicesFound | NoMoreDevices | Measured | WeightsFetched | WeightsMissing | Tick
)  # fmt: skip


# Actions


@dataclass(frozen=True, slots=True)
class Load:
    """Start a replica on these devices; answered by Loaded or MoveFailed."""

    replica: str
    engine: str
    devices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wake:
    """Wake a replica that sleeps at this level; answered by Woken or MoveFailed."""

    replica: str
    level: SleepLevel


@dataclass(frozen=True, slots=True)
class Close:
    """Let a replica take no more requests; answered by Drained."""

    replica: str
    cut_waiting: bool = False
    """Hand back the requests that wait in it, and finish those that run."""


@dataclass(frozen=True, slots=True)
class Reopen:
    """Let a closed replica take requests again."""

    replica: str


@dataclass(frozen=True, slots=True)
class Sleep:
    """Put a closed replica to sleep; answered by Asleep or MoveFailed."""

    replica: str
    level: SleepLevel


@dataclass(frozen=True, slots=True)
class Unload:
    """End a replica's process, or what is left of it; answered by Unloaded."""

    replica: str


@dataclass(frozen=True, slots=True)
class Refuse:
    """Tell the clients of an engine that it is unavailable; answered by nothing."""

    engine: str
    reason: str


@dataclass(frozen=True, slots=True)
class Announce:
    """Tell people what they may want to change; answered by nothing."""

    text: Statement


Action = Load | Wake | Close | Reopen | Sleep | Unload | Refuse | Announce
