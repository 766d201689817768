"""Engines, their clients and the controller in simulated time, around a scheduler of engines.

`Simulation` carries out what the scheduler orders, and tells it what came of that. It stands for
the controller and the nodes, with the time that moves take. `SimulatedFeeder` stands for
`raybench.engines.feeder.EngineFeeder`, with its bound of requests at a replica and its reports
once a second and at 0. `SimulatedReplica` stands for an engine: how long it takes for requests is
said by the measurement, in `begin`.
"""

import random
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from itertools import count
from typing import Protocol

from raybench.engines.base import DemandReport
from raybench.engines.scheduler.messages import (
    Action,
    Asleep,
    Close,
    Drained,
    Event,
    Load,
    Loaded,
    Refuse,
    Reopen,
    Reported,
    Sleep,
    Tick,
    Unload,
    Unloaded,
    Wake,
    Woken,
)
from raybench.engines.scheduler.move_costs import MoveCosts

REPORT_S = 1.0


class Scheduler(Protocol):
    """What a simulation drives; `EngineScheduler` is one."""

    @property
    def costs(self) -> MoveCosts:
        """Return what moves have cost so far."""
        ...

    def handle(self, event: Event, now: float) -> list[Action]:
        """Take in what happened; return what is to be done."""
        ...

    def next_tick(self) -> float | None:
        """Return when to look again though nothing happens."""
        ...

    def open_replicas(self) -> Mapping[str, tuple[str, ...]]:
        """Return the replicas that requests go to, by engine."""
        ...


@dataclass(frozen=True)
class Delays:
    """How long moves and reports take, in seconds."""

    load_s: float
    wake_s: Mapping[int, float]
    """By the level of the sleep."""
    leave_s: float
    report_s: float
    """How late reports arrive at most."""


@dataclass(eq=False)
class SimulatedReplica:
    """An engine: the requests that are with it."""

    name: str
    engine: str
    is_open: bool = False
    since: float = 0.0
    waiting: int = 0
    running: int = 0

    @property
    def load(self) -> int:
        """Return the requests that are with it."""
        return self.waiting + self.running

    def begin(self, requests: int) -> None:
        """Let requests that wait run."""
        self.waiting -= requests
        self.running += requests


@dataclass(eq=False)
class SimulatedFeeder:
    """The queue of one engine in the one client process."""

    engine: str
    most: int
    """Requests that it lets be at a replica."""
    least_sent: int = 1
    """It sends no fewer at once."""
    queue: int = 0
    """Requests that can be sent."""
    later: int = 0
    """Requests that follow when other engines have answered."""
    outstanding: int = 0
    arrives_at: float = 0.0
    """When its last report is there."""
    served_at: float = 0.0
    _replicas: list[SimulatedReplica] = field(default_factory=list)
    _released: int = 0
    _reported: DemandReport | None = None

    @property
    def waits(self) -> bool:
        """Tell whether its requests have no replica."""
        return self.queue > 0 and not self.outstanding

    def set_replicas(self, replicas: list[SimulatedReplica]) -> None:
        """Take the replicas to send to from now on."""
        self._replicas = replicas

    def send(self) -> Iterator[SimulatedReplica]:
        """Send what the replicas take; yield those that got requests."""
        for replica in self._replicas:
            free = self.most - replica.load
            if replica.is_open and self.queue and free >= self.least_sent:
                sent = min(free, self.queue)
                self.queue -= sent
                self.outstanding += sent
                replica.waiting += sent
                yield replica

    def take_back(self, requests: int) -> None:
        """Take requests that a replica hands back."""
        self.outstanding -= requests
        self.queue += requests

    def release(self, requests: int) -> int:
        """Make requests ready, up to a number in all; return how many that adds."""
        added = requests - self._released
        self._released, self.queue, self.later = requests, self.queue + added, self.later - added
        return added

    def report(self) -> DemandReport:
        """Return the next report."""
        self._reported = self.count()
        return self._reported

    def count(self) -> DemandReport:
        """Return what the engine is wanted for now."""
        ready = min(self.queue, self.most)
        remaining = self.queue - ready + self.later
        return DemandReport("driver", self.engine, ready, self.outstanding, remaining)

    def has_news(self) -> bool:
        """Tell whether a report would differ from the last one."""
        return self._reported != self.count()

    def crossed(self) -> bool:
        """Tell whether ready or outstanding requests began or ended since the last report."""
        before = self._reported
        was = (before.ready > 0, before.outstanding > 0) if before else (False, False)
        return was != (self.queue > 0, self.outstanding > 0)


class Simulation:
    """The controller, its nodes and its clients, in simulated time."""

    def __init__(
        self,
        scheduler: Scheduler,
        feeders: Iterable[SimulatedFeeder],
        delays: Delays,
        seed: int = 0,
    ) -> None:
        self.scheduler = scheduler
        self.feeders = {feeder.engine: feeder for feeder in feeders}
        self.delays = delays
        self.replicas: dict[str, SimulatedReplica] = {}
        self.now = 0.0
        self.events = 0
        self.calls: dict[str, list[float]] = {}
        """Processor seconds of the scheduler's calls, by event."""
        self._draw = random.Random(seed)
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()
        self._tick: float | None = None

    @abstractmethod
    def begin(self, replica: SimulatedReplica) -> None:
        """Begin what fits into the batch of a replica; `after` some time it is answered."""

    def step(self) -> None:
        """Let the next thing happen."""
        self.now, _, act = heappop(self._heap)
        self.events += 1
        act()

    def after(self, delay: float, act: Callable[[], None]) -> None:
        """Let something happen some seconds later."""
        heappush(self._heap, (self.now + delay, next(self._numbers), act))

    # The controller

    def tell(self, event: Event) -> None:
        """Let the scheduler decide, and do what it orders."""
        begun = time.thread_time()
        actions = self.scheduler.handle(event, self.now)
        took = time.thread_time() - begun
        self.calls.setdefault(type(event).__name__, []).append(took)
        for action in actions:
            self._act(action)
        tick = self.scheduler.next_tick()
        if tick is not None and tick != self._tick:
            self.after(max(0.0, tick - self.now), partial(self._look, tick))
        self._tick = tick

    def _look(self, tick: float) -> None:
        if tick == self._tick:  # else it was put off since
            self.tell(Tick())

    def _act(self, action: Action) -> None:
        delays = self.delays
        match action:
            case Load(name, engine):
                self.replicas[name] = replica = SimulatedReplica(name, engine)
                self.after(delays.load_s, partial(self.open, replica, Loaded(name)))
            case Wake(name, level):
                opened = partial(self.open, self.replicas[name], Woken(name))
                self.after(delays.wake_s[level], opened)
            case Close(name, cut_waiting):
                replica = self.replicas[name]
                self.close(replica)
                if cut_waiting:
                    self._hand_back(replica)
                if not replica.load:
                    self.after(0.0, partial(self.tell, Drained(name)))
            case Reopen(name):
                self.open(self.replicas[name], None)
            case Sleep(name) | Unload(name):
                if self.replicas[name].load:
                    raise RuntimeError(f"{action} while requests are with it")
                done = Asleep(name) if isinstance(action, Sleep) else Unloaded(name)
                self.after(delays.leave_s, partial(self.tell, done))
            case Refuse(engine, reason):
                raise RuntimeError(f"{engine}: {reason}")

    def open(self, replica: SimulatedReplica, event: Event | None) -> None:
        """Let a replica take requests; tell the scheduler of the move that has ended."""
        replica.is_open, replica.since = True, self.now
        if event is not None:
            self.tell(event)

    def close(self, replica: SimulatedReplica) -> None:
        """Let a replica take no more requests."""
        replica.is_open = False

    def _hand_back(self, replica: SimulatedReplica) -> None:
        feeder = self.feeders[replica.engine]
        feeder.take_back(replica.waiting)
        replica.waiting = 0
        self.feed(feeder)

    # The clients

    def report(self, feeder: SimulatedFeeder) -> None:
        """Send a report, which arrives somewhat later, but not before an earlier one."""
        report = feeder.report()
        delay = max(self._draw.uniform(0, self.delays.report_s), feeder.arrives_at - self.now)
        feeder.arrives_at = self.now + delay
        self.after(delay, partial(self._take_report, feeder, report))

    def _take_report(self, feeder: SimulatedFeeder, report: DemandReport) -> None:
        self.tell(Reported(report))
        self.assign(feeder)

    def assign(self, feeder: SimulatedFeeder) -> None:
        """Give a feeder the replicas that are open."""
        names = self.scheduler.open_replicas().get(feeder.engine, ())
        feeder.set_replicas([self.replicas[name] for name in names])
        self.feed(feeder)

    def feed(self, feeder: SimulatedFeeder) -> None:
        """Let a feeder send what its replicas take; report at once if that leaves it with none."""
        for replica in feeder.send():
            self.begin(replica)
        if feeder.crossed():
            self.report(feeder)

    def answer(self, replica: SimulatedReplica, requests: int) -> None:
        """Count requests of a replica as answered."""
        replica.running -= requests
        self.feeders[replica.engine].outstanding -= requests

    def refill(self, replica: SimulatedReplica) -> None:
        """Let a replica that has answered begin what it has, and get more or end its drain."""
        self.begin(replica)
        self.feed(self.feeders[replica.engine])
        if not replica.load and not replica.is_open:
            self.tell(Drained(replica.name))
