"""What the scheduler knows of one engine: who wants it, how fast it is, and its replicas."""

from dataclasses import dataclass, field

from raybench.engines.base import DemandReport
from raybench.engines.scheduler.devices import COMES, EngineMemory, Replica
from raybench.engines.scheduler.messages import EngineNeed, ReplicaState, Rules

_GIB_PER_S = 160.0
"""Assumed of an engine whose weights are known: its requests per second times its weights."""
_RATE = 10.0
_ASSUMED_S = 10.0
"""Seconds of measurement that the assumption counts for."""
_MEMORY_S = 1200.0
"""Replica time after which older measurements count half: benchmarks differ in length."""
_SLEEPS = (
    ReplicaState.CLOSING, ReplicaState.CLOSED, ReplicaState.GOING_TO_SLEEP, ReplicaState.ASLEEP,
)  # fmt: skip


@dataclass(eq=False, slots=True)
class EngineState:
    """One engine."""

    need: EngineNeed
    memory: EngineMemory
    load_s: float
    wake_s: dict[int, float]
    leave_s: float
    replicas: dict[str, Replica] = field(default_factory=dict)
    coming: list[Replica] = field(default_factory=list)
    """Those that are open or will be."""
    opened: list[Replica] = field(default_factory=list)
    """Those that take requests."""
    asleep: list[Replica] = field(default_factory=list)
    """Those that can be woken."""
    can_wake: bool = False
    """One sleeps, or is about to."""
    reports: dict[str, DemandReport] = field(default_factory=dict)
    ready: int = 0
    outstanding: int = 0
    remaining: int = 0
    is_known: bool = False
    """A client has reported on it."""
    is_expected: bool = False
    """It was loaded before any client reported."""
    knows_remaining: bool = False
    """A client said how much it will ask; at zero its work is done."""
    waiting_since: float | None = None
    """Since when its requests have no replica."""
    idle_since: float = 0.0
    tries: int = 2
    """Loads that may still fail before it counts as failed."""
    reason: str = ""
    """Why it is unavailable; empty where it is not."""
    weights_failure: str = ""
    """Why no node has its weights; empty where one has, or tries."""
    has_no_place: bool = False
    had_place: bool = False
    repeats_swap: bool = False
    """Its load for a swap failed, and is to be tried again."""
    failed_on: frozenset[str] = frozenset()
    """The devices of its last failure for want of memory."""
    may_grow: bool = True
    has_told_of_host: bool = False
    """It was said that its weights have no room in host memory."""
    _answered: float = 0.0
    _replica_s: float = 0.0
    _counted_at: float = 0.0

    @property
    def name(self) -> str:
        """Return its name."""
        return self.need.engine

    @property
    def wants(self) -> bool:
        """Tell whether a client has requests for it now, or may have at any moment."""
        return self.ready > 0 or self.outstanding > 0 or self.is_expected

    @property
    def is_busy(self) -> bool:
        """Tell whether requests are with it or could be; one whose feed is blocked has none."""
        return self.ready > 0 or self.outstanding > 0

    def sort_replicas(self) -> None:
        """Sort the replicas by what they can do, after one has changed."""
        replicas = self.replicas.values()
        self.coming = [each for each in replicas if each.state in COMES]
        self.opened = [each for each in replicas if each.state is ReplicaState.OPEN]
        stays = [each for each in replicas if not each.must_unload]
        self.asleep = [each for each in stays if each.state is ReplicaState.ASLEEP]
        self.can_wake = bool(self.need.can_sleep) and any(each.state in _SLEEPS for each in stays)

    def take_in(self, report: DemandReport, now: float) -> None:
        """Take in what a client wants, and what it was answered since it reported last."""
        self.count_time(now)
        before = self.reports.pop(report.client, None)
        total = report.ready + report.outstanding + report.remaining
        if before is not None:
            gone = before.ready + before.outstanding + before.remaining - total
            # A client that ends may give up what it had planned; only what was sent was answered.
            self._answered += max(0, min(gone, gone if total else before.outstanding))
        if total:
            self.reports[report.client] = report
        self.is_expected, self.is_known = False, True
        self.knows_remaining |= report.remaining > 0
        self._sum(now)

    def forget(self, client: str, now: float) -> None:
        """Drop the demand of a client."""
        self.count_time(now)
        self.reports.pop(client, None)
        self._sum(now)

    def _sum(self, now: float) -> None:
        was_busy = self.is_busy
        reports = self.reports.values()
        self.ready = sum(report.ready for report in reports)
        self.outstanding = sum(report.outstanding for report in reports)
        self.remaining = sum(report.remaining for report in reports)
        if was_busy and not self.is_busy:
            self.idle_since = now

    def count_time(self, now: float) -> None:
        """Add the time that its replicas were at work; before their number changes, too."""
        if self.is_busy:
            self._replica_s += (now - self._counted_at) * len(self.opened)
            if self._replica_s > _MEMORY_S:
                self._replica_s /= 2
                self._answered /= 2
        self._counted_at = now

    @property
    def rate(self) -> float:
        """Return the requests per second of one replica, measured as far as it was."""
        weights = self.need.memory.weights * self.need.devices
        assumed = _GIB_PER_S / weights if weights else _RATE
        return (self._answered + assumed * _ASSUMED_S) / (self._replica_s + _ASSUMED_S)

    def seconds_left(self, replicas: int = 1) -> float:
        """Return how long this number of replicas takes for all known requests."""
        return (self.ready + self.outstanding + self.remaining) / (self.rate * max(1, replicas))

    @property
    def drain_s(self) -> float:
        """Return how long a replica takes to finish what it has."""
        opened = len(self.opened)
        return self.outstanding / (self.rate * opened) if opened else 0.0

    @property
    def arrival_s(self) -> float:
        """Return how long it takes to bring in a replica."""
        return min([self.load_s, *(self.wake_s[each.level] for each in self.asleep)])


def new_engine(need: EngineNeed, rules: Rules) -> EngineState:
    """Return an engine of which nothing was seen yet."""
    weights = need.memory.weights * need.devices
    memory = EngineMemory(need, rules.left_gib, weights or need.memory.total * need.devices)
    wakes = {1: rules.wake_s, 2: need.load_s / 2}
    return EngineState(need, memory, need.load_s, wakes, rules.leave_s)
