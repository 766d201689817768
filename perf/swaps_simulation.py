"""Requests that wait for one another, played against a scheduler of engines in simulated time.

`perf/simulated_engines.py` holds the engines, and how requests and reports travel. Unlike
in `perf/feeding.py` each request is known by its number: others may wait for its reply.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from perf.simulated_engines import (
    REPORT_S,
    Delays,
    Scheduler,
    SimulatedFeeder,
    SimulatedReplica,
    Simulation,
)
from raybench.engines.base import DemandReport
from raybench.engines.scheduler.messages import (
    Action,
    Close,
    Device,
    Drained,
    Event,
    Load,
    Loaded,
    Reopen,
    Reported,
)
from raybench.engines.scheduler.move_costs import MoveCosts

LOAD_S, LEVEL_1_S, LEVEL_2_S, LEAVE_S = 60.0, 3.0, 15.0, 2.0
DELAYS = Delays(LOAD_S, {1: LEVEL_1_S, 2: LEVEL_2_S}, LEAVE_S, report_s=0.0)
LOOK_S = 0.1
"""How often the client looks what it has to report (`raybench/engines/assignments.py`)."""
AT_ONCE = 128
"""Requests that an engine works on at once; more wait in its own queue."""
GPU = Device("gpu", 80.0)
_EVENTS = 100
"""Events for each request, after which a policy is taken to go round in circles."""


@dataclass(frozen=True, slots=True)
class Request:
    """Prompts for an engine that are sent together."""

    engine: str
    seconds: float
    after: tuple[int, ...] = ()
    """In a list: it is sent when those at these places are answered."""
    prompts: int = 1


Sent = Iterable[tuple[int, Request]]
"""Requests that are sent now, each with a number that no other one has."""


class Work(Protocol):
    """What is asked, and when. It can be played once."""

    def begin(self) -> Sent:
        """Return what is sent first."""
        ...

    def answered(self, number: int) -> Sent:
        """Take in that a request is answered; return what is sent now."""
        ...

    @property
    def is_done(self) -> bool:
        """Tell whether all of it is answered."""
        ...


class Listed:
    """Requests known from the beginning; their numbers are their places."""

    def __init__(self, requests: Sequence[Request]) -> None:
        self._requests = requests
        self._left = len(requests)
        self._waits = [set(request.after) for request in requests]
        self._followers: dict[int, list[int]] = {}
        for number, request in enumerate(requests):
            for earlier in request.after:
                self._followers.setdefault(earlier, []).append(number)

    def begin(self) -> Sent:
        """Return those that wait for none."""
        return [(each, request) for each, request in enumerate(self._requests) if not request.after]

    def answered(self, number: int) -> Sent:
        """Return those that waited for this one, and wait for no other."""
        self._left -= 1
        for follower in self._followers.get(number, ()):
            self._waits[follower].discard(number)
            if not self._waits[follower]:
                yield follower, self._requests[follower]

    @property
    def is_done(self) -> bool:
        """Tell whether all are answered."""
        return not self._left


@dataclass
class Outcome:
    """What a scheduler made of a trace."""

    swaps: int
    seconds: float
    swapping: float
    """Share of the device time that swaps took."""
    longest_wait: float
    """Of requests, for their engine to take requests."""


class SingleRequests(SimulatedFeeder):
    """The queue of requests that are sent one by one: nobody knows how many follow."""

    def count(self) -> DemandReport:
        """Return what the engine is wanted for now."""
        return DemandReport("driver", self.engine, self.queue, self.outstanding, remaining=0)


class TraceSimulation(Simulation):
    """One device and its engines; the one client sends each request as soon as it can."""

    def __init__(
        self, work: Work, engines: Iterable[str], scheduler: Scheduler, at_once: int, most: int
    ) -> None:
        feeders = [SingleRequests(name, most) for name in engines]
        super().__init__(scheduler, feeders, DELAYS)
        self.longest_wait = 0.0
        self._work = work
        self._at_once = at_once
        self._requests: dict[int, Request] = {}
        self._sent_at: dict[int, float] = {}
        self._queues: dict[str, deque[int]] = {name: deque() for name in self.feeders}
        """Requests that no engine has begun."""
        self._absent_since = dict.fromkeys(self.feeders, 0.0)
        self._will_report = dict.fromkeys(self.feeders, False)
        self._due: set[str] = set()

    def run(self) -> Outcome:
        """Play the work."""
        self._send(self._work.begin())
        while not self._work.is_done:
            self.step()
            if self.events > _EVENTS * (len(self._requests) + 100):
                raise RuntimeError("the scheduler goes round in circles")
        costs = self.scheduler.costs
        return Outcome(costs.swaps, self.now, costs.swap_share(self.now), self.longest_wait)

    def _send(self, sent: Sent) -> None:
        asked: dict[SimulatedFeeder, None] = {}
        for number, request in sent:
            self._requests[number], self._sent_at[number] = request, self.now
            self._queues[request.engine].append(number)
            feeder = self.feeders[request.engine]
            feeder.queue += request.prompts
            asked[feeder] = None
        for feeder in asked:
            self.feed(feeder)

    def feed(self, feeder: SimulatedFeeder) -> None:
        """Let a feeder send, and report what has changed within a second."""
        super().feed(feeder)
        if not self._will_report[feeder.engine] and feeder.has_news():
            self._will_report[feeder.engine] = True
            self.after(REPORT_S, partial(self._report_again, feeder))

    def report(self, feeder: SimulatedFeeder) -> None:
        """Report at the next look, together with the other engines that have news."""
        if not self._due:
            self.after(LOOK_S - self.now % LOOK_S, self._report_together)
        self._due.add(feeder.engine)

    def _report_together(self) -> None:
        due, self._due = sorted(self._due), set()
        for feeder in [self.feeders[name] for name in due]:
            super().report(feeder)

    def _report_again(self, feeder: SimulatedFeeder) -> None:
        self._will_report[feeder.engine] = False
        if feeder.has_news():
            self.report(feeder)

    def open(self, replica: SimulatedReplica, event: Event | None) -> None:
        """Let a replica take requests; the client hears of it at once."""
        if queue := self._queues[replica.engine]:
            since = max(self._sent_at[queue[0]], self._absent_since[replica.engine])
            self.longest_wait = max(self.longest_wait, self.now - since)
        super().open(replica, event)
        self.assign(self.feeders[replica.engine])

    def close(self, replica: SimulatedReplica) -> None:
        """Let a replica take no more requests."""
        super().close(replica)
        self._absent_since[replica.engine] = self.now

    def begin(self, replica: SimulatedReplica) -> None:
        """Begin what fits into the batch: the oldest requests first."""
        queue = self._queues[replica.engine]
        while queue and replica.running < self._at_once:
            request = self._requests[queue[0]]
            if replica.waiting < request.prompts:
                break
            replica.begin(request.prompts)
            self.after(request.seconds, partial(self._reply, replica, queue.popleft()))

    def _reply(self, replica: SimulatedReplica, number: int) -> None:
        self.answer(replica, self._requests[number].prompts)
        self._send(self._work.answered(number))
        self.refill(replica)


def simulate(
    work: Work,
    engines: Iterable[str],
    scheduler: Scheduler,
    at_once: int = AT_ONCE,
    most: int | None = None,
) -> Outcome:
    """Play the work. Engines take the time that is assumed for them, for `at_once` requests.

    most: requests that a client lets be at an engine; twice what it works on where none is given.
    """
    most = 2 * at_once if most is None else most
    return TraceSimulation(work, engines, scheduler, at_once, most).run()


class OnDemand:
    """Swaps as soon as a request waits for another engine, as servers that load on demand do.

    The engine that was waited for longest comes in next. The resident answers all that it was sent
    before. What is sent to it meanwhile waits.
    """

    def __init__(self) -> None:
        self.costs = MoveCosts()
        self.costs.set_devices(1, 0.0)
        self._resident = ""
        self._is_open = False
        self._since = 0.0
        self._waiting: dict[str, None] = {}

    def handle(self, event: Event, now: float) -> list[Action]:
        """Take in what happened; return what is to be done."""
        match event:
            case Reported(report):
                if not report.ready:
                    self._waiting.pop(report.engine, None)
                elif not self._is_open or report.engine != self._resident:
                    self._waiting[report.engine] = None
                if self._is_open and self._waiting:
                    self._is_open = False
                    return [Close(self._resident)]
                return [] if self._resident or not self._waiting else [self._bring_in(now)]
            case Loaded():
                self._is_open = True
                self.costs.swap_seconds += now - self._since
            case Drained():
                return [self._bring_in(now)]
            case _:
                pass
        return []

    def _bring_in(self, now: float) -> Action:
        engine = next(iter(self._waiting), self._resident)
        self._waiting.pop(engine, None)
        if engine == self._resident:
            self._is_open = True
            return Reopen(engine)
        self.costs.add_arrival(from_sleep=False, is_swap=bool(self._resident))
        self._resident, self._since = engine, now
        return Load(engine, engine, (GPU.name,))

    def next_tick(self) -> float | None:
        """Nothing happens by itself."""
        return None

    def open_replicas(self) -> Mapping[str, tuple[str, ...]]:
        """Return the engine that takes requests."""
        return {self._resident: (self._resident,)} if self._is_open else {}
