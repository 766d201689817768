"""An engine as the policy of turns knows it: where it stands, and who waits for it."""

from dataclasses import dataclass, field
from typing import Literal

from raybench.fleet.turns import Demand, State


@dataclass(slots=True)
class Held:
    """A lease that waits or was granted."""

    work: int
    since: float


@dataclass(slots=True)
class Resident:
    """One engine: what it needs, where it is, what it has done and has to do."""

    demand: Demand
    load_s: float
    wake_s: float
    leave_s: float
    state: State = State.COLD
    devices: tuple[str, ...] = ()
    level: Literal[0, 1, 2] = 0
    """The level it sleeps at, or is going to or coming from; 0 is not loaded."""
    takes_gib: float = 0.0
    """On each of its devices, now."""
    closing_for: str = ""
    """The engine that has waited for its place too long: it gets no new leases."""
    waiting: dict[str, Held] = field(default_factory=dict)
    running: dict[str, Held] = field(default_factory=dict)
    work: int = 0
    """Requests that wait; kept beside the leases, because there may be thousands of them."""
    running_work: int = 0
    idle_since: float = 0.0
    changing_since: float = 0.0
    swaps_in: bool = False
    """Others made way for it."""
    busy_since: float = 0.0
    busy_s: float = 0.0
    work_done: int = 0
    reason: str = ""

    @property
    def name(self) -> str:
        """Return its name."""
        return self.demand.engine

    @property
    def oldest(self) -> float:
        """Return since when somebody waits for it."""
        return next(iter(self.waiting.values())).since

    def busy(self, now: float) -> float:
        """Return how long it has worked so far."""
        return self.busy_s + (now - self.busy_since if self.running else 0.0)

    @property
    def idle(self) -> bool:
        """Tell whether it is awake for nobody."""
        return self.state is State.AWAKE and not self.running and not self.waiting

    @property
    def away(self) -> bool:
        """Tell whether it has to come in before its waiting work can be done."""
        return self.state in (State.COLD, State.ASLEEP, State.LEAVING) or (
            self.state is State.AWAKE and bool(self.closing_for)
        )


@dataclass(frozen=True, slots=True)
class Leaver:
    """An engine that has to make way."""

    engine: Resident
    unload: bool
    """It may not even sleep there."""
