"""The words of taking turns: what there is, what happens, what is to be done about it.

Spoken between who decides (`residency.py`) and who does it (`keeper.py`).
"""

from dataclasses import dataclass
from enum import Enum
from typing import Literal


@dataclass(frozen=True, slots=True)
class Device:
    """Memory that engines are loaded into: a GPU, or a machine's own."""

    name: str
    memory_gib: float
    node: str = ""
    """Engines that take several devices take them on one node."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What an engine needs, and what it can do."""

    engine: str
    memory_gib: float
    """On each of its devices while awake: its share of the weights and of the KV cache."""
    devices: int = 1
    can_sleep: bool = False
    asleep_gib: float = 0.0
    """What stays on each device while it sleeps."""
    host_gib: float = 0.0
    """Host memory that its weights take at level 1."""
    load_s: float = 60.0
    """How long a load takes, until one was seen; likewise the next two."""
    wake_s: float = 5.0
    leave_s: float = 5.0


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for all."""

    patience_s: float = 7200.0
    """Work for an engine that is not resident waits no longer than this, where that can be done."""
    linger_s: float = 0.5
    """How long an idle engine is left in place: its clients may be about to ask for more."""
    host_gib: float = 0.0
    """Host memory, per node, for the weights of sleeping engines."""


@dataclass(frozen=True, slots=True)
class Queued:
    """A client wants to send so many requests to an engine."""

    lease: str
    engine: str
    work: int


@dataclass(frozen=True, slots=True)
class Done:
    """A lease is given back, or its client is gone, whether it was granted or not."""

    lease: str


@dataclass(frozen=True, slots=True)
class Settled:
    """The load, wake, sleep or unload of an engine is done."""

    engine: str


@dataclass(frozen=True, slots=True)
class Failed:
    """An engine could not be loaded or woken; it is gone from its devices."""

    engine: str
    reason: str


@dataclass(frozen=True, slots=True)
class Lost:
    """Devices are gone for good, with what was on them: their node has died."""

    devices: frozenset[str]
    awaited: bool = False
    """Others are to come: engines that have no place any more wait for them."""


@dataclass(frozen=True, slots=True)
class Found:
    """Devices have come: of a node that takes the place of one that died, or is one more."""

    devices: tuple[Device, ...]


@dataclass(frozen=True, slots=True)
class NoMore:
    """What was awaited has come, or never will."""


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed."""


Event = Queued | Done | Settled | Failed | Lost | Found | NoMore | Tick


@dataclass(frozen=True, slots=True)
class Grant:
    """The client may send its work now."""

    lease: str


@dataclass(frozen=True, slots=True)
class Refuse:
    """The engine will not come up."""

    lease: str
    reason: str


@dataclass(frozen=True, slots=True)
class Load:
    """Start the engine on these devices."""

    engine: str
    devices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wake:
    """Wake the engine where it sleeps."""

    engine: str
    level: Literal[1, 2]
    """The level it was asleep at: what a wake has to bring back."""


@dataclass(frozen=True, slots=True)
class Sleep:
    """Put the engine to sleep: level 1 keeps its weights in host memory, 2 drops them."""

    engine: str
    level: Literal[1, 2]


@dataclass(frozen=True, slots=True)
class Unload:
    """Stop the engine."""

    engine: str


Action = Grant | Refuse | Load | Wake | Sleep | Unload


class State(Enum):
    """Where an engine stands."""

    COLD = "cold"
    WANTED = "wanted"
    """Its devices are set aside; those who leave them are on their way out."""
    ARRIVING = "arriving"
    AWAKE = "awake"
    LEAVING = "leaving"
    ASLEEP = "asleep"
    FAILED = "failed"
