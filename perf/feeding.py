"""How busy are GPUs kept by the scheduler of engines? By discrete-event simulation.

    python -m perf.feeding [a c]               the cases below, or one of them
    python -m perf.feeding --decide            how long one decision takes
    python -m perf.feeding a --scale 0.1       with a tenth of the questions

Real: `raybench.engines.scheduler`, which decides what is loaded where. Simulated: everything that
it decides about. `SimulatedFeeder` stands for `raybench.engines.feeder.EngineFeeder`, with its
bound of requests at a replica and its reports once a second and at 0; `SimulatedReplica` for an
engine, with its speed, its batch, its drain; `World` for the controller and the nodes, with the
time that moves take, and for the way of a report to the scheduler, which takes up to a second. To
put the real feeder in front, replace `SimulatedFeeder`: `World` gives it replicas, and takes its
reports. Case `b`, one engine with replies of unequal length, comes with the real feeder.

Cases, with a load of 90 s:

- `a`: 8 GPUs, 33 models of speeds between 0.18 and 5.6 times the mean, 12,000 questions each. Once
  the scheduler knows nothing of their sizes, and once their weights tell their speeds. Ideal: the
  larger of all work / GPUs and the largest model's work / GPUs, without loads.
- `c`: 64 GPUs, the same models, 120,000 questions each. Busy from 0 to 95 % of the work.
- `--decide`: 64 GPUs, 100 models on 1, 2 and 4 GPUs each, 1,200 questions each. Ten of the models
  are referees: they judge what the others have answered. Processor time of one call of the
  scheduler.

A GPU works as `step_s` says: a batch of 256 takes 0.013 s a step, and one of 1 takes 0.008 s. So a
model is at its speed while 256 requests run, and slower in its tail. Bars: `a` takes at most 1.10
times the ideal, with at most 40 loads; `c` is at 0.90 or more; the slowest decision takes 5 ms at
most. The exit code is 1 where one is missed. All figures but those of `--decide` are the same on
every machine.
"""

import argparse
import gc
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from itertools import count

from perf.arguments import seconds
from raybench.engines.base import DemandReport
from raybench.engines.scheduler import EngineScheduler
from raybench.engines.scheduler.messages import (
    Action,
    Asleep,
    Close,
    Device,
    Drained,
    EngineNeed,
    Event,
    Load,
    Loaded,
    MemoryBudget,
    Node,
    Refuse,
    Reopen,
    Reported,
    Rules,
    Sleep,
    Tick,
    Unload,
    Unloaded,
    Wake,
    Woken,
)

LOAD_S, WAKE_S, LEAVE_S, REPORT_S = 90.0, {1: 8.0, 2: 40.0}, 4.0, 1.0
AT_ONCE = 256
"""Requests in a full batch; a feeder lets twice as many be at a replica."""
GROUP = 16
"""Requests that are answered together, to save events."""
QUESTIONS, MODELS = 12_000, 33
BAR_TOTAL, BAR_LOADS, BAR_BUSY, BAR_DECISION_S = 1.10, 40, 0.90, 0.005


def step_s(running: int) -> float:
    """Return how long a step takes with this number of running requests."""
    return 0.008 + 0.00002 * running


@dataclass(frozen=True)
class Case:
    """What is asked of which GPUs."""

    gpus: int
    speeds: dict[str, float]
    """Requests per second of one replica with a full batch, by model."""
    questions: int
    has_hints: bool = False
    devices: tuple[int, ...] = (1,)
    """Devices of the models, in turn."""
    patience_s: float = 7200.0
    referees: int = 0
    """So many models answer only what the others have answered."""
    delay_s: float = 1.0
    """How late reports arrive at most."""

    def needs(self) -> list[EngineNeed]:
        """Return what the models need; their weights may tell how fast each is."""
        return [
            EngineNeed(
                name,
                MemoryBudget(40.0 / speed if self.has_hints else 16.0),
                share=0.9,
                devices=self.count(number),
                can_sleep=frozenset({1, 2}),
                is_referee=number < self.referees,
                load_s=LOAD_S,
            )
            for number, (name, speed) in enumerate(self.speeds.items())
        ]

    def count(self, number: int) -> int:
        """Return how many devices a model takes."""
        return self.devices[number % len(self.devices)]

    def nodes(self) -> list[Node]:
        """Return nodes of up to 8 GPUs."""
        return [
            Node(
                f"n{first // 8}",
                tuple(
                    Device(f"n{first // 8}/gpu{number % 8}", 80.0)
                    for number in range(first, min(first + 8, self.gpus))
                ),
                host_gib=1000.0,
            )
            for first in range(0, self.gpus, 8)
        ]

    @property
    def work(self) -> dict[str, float]:
        """Return the GPU seconds of each model."""
        return {
            name: self.questions / speed * self.count(number)
            for number, (name, speed) in enumerate(self.speeds.items())
        }

    @property
    def ideal_s(self) -> float:
        """Return the time that nobody can beat: no loads, all GPUs always with a full batch."""
        return sum(self.work.values()) / self.gpus


def mixed(models: int = MODELS, seed: int = 1) -> dict[str, float]:
    """Return speeds between 0.18 and 5.6 times 10 requests per second."""
    draw = random.Random(seed)
    return {f"m{number:02}": 10.0 * 2 ** draw.uniform(-2.5, 2.5) for number in range(models)}


@dataclass(eq=False)
class SimulatedReplica:
    """An engine that works on groups of requests."""

    name: str
    engine: str
    speed: float
    is_open: bool = False
    since: float = 0.0
    waiting: int = 0
    running: int = 0

    @property
    def load(self) -> int:
        """Return the requests that are with it."""
        return self.waiting + self.running

    def begin(self, draw: random.Random) -> list[tuple[float, int]]:
        """Begin what fits into the batch; return seconds and sizes of the groups."""
        groups = []
        while self.waiting and self.running < AT_ONCE:
            group = min(GROUP, self.waiting, AT_ONCE - self.running)
            self.waiting -= group
            self.running += group
            groups.append(group)
        each = AT_ONCE / self.speed * step_s(self.running) / step_s(AT_ONCE)
        return [(each * draw.uniform(0.5, 1.5), group) for group in groups]


@dataclass(eq=False)
class SimulatedFeeder:
    """The queue of one engine in the one client process."""

    engine: str
    queue: int
    """Requests that can be sent."""
    later: int = 0
    """Requests that follow when other engines have answered."""
    outstanding: int = 0
    arrives_at: float = 0.0
    """When its last report is there."""
    served_at: float = 0.0
    _replicas: list[SimulatedReplica] = field(default_factory=list)
    _released: int = 0
    _reported: tuple[bool, bool] = (False, False)

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
            free = 2 * AT_ONCE - replica.load
            if replica.is_open and self.queue and free >= GROUP:
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
        """Return what the engine is wanted for."""
        ready = min(self.queue, 2 * AT_ONCE)
        self._reported = ready > 0, self.outstanding > 0
        remaining = self.queue - ready + self.later
        return DemandReport("driver", self.engine, ready, self.outstanding, remaining)

    def crossed(self) -> bool:
        """Tell whether ready or outstanding requests began or ended since the last report."""
        return self._reported != (self.queue > 0, self.outstanding > 0)


@dataclass
class Outcome:
    """What came of a case."""

    seconds: float = 0.0
    busy: float = 0.0
    """Work done from 0 to 95 % of it, as a share of what all GPUs could have done."""
    loads: int = 0
    wakes: int = 0
    batch: float = 0.0
    """Mean share of a batch that runs in open replicas."""
    longest_wait: float = 0.0
    """Of requests for their first replica."""
    calls: dict[str, list[float]] = field(default_factory=dict)
    """Processor seconds of the scheduler's calls, by event."""


class World:
    """The controller, its nodes and its clients, in simulated time."""

    def __init__(self, case: Case, seed: int = 0) -> None:
        self.case = case
        self.scheduler = EngineScheduler(
            case.nodes(), case.needs(), Rules(patience_s=case.patience_s)
        )
        self.feeders = {
            name: SimulatedFeeder(name, 0, case.questions)
            if number < case.referees
            else SimulatedFeeder(name, case.questions)
            for number, name in enumerate(case.speeds)
        }
        self.replicas: dict[str, SimulatedReplica] = {}
        self.outcome = Outcome()
        self.now = 0.0
        self._draw = random.Random(seed)
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()
        self._tick: float | None = None
        self._left = dict.fromkeys(case.speeds, case.questions)
        self._work = case.work
        self._whole = sum(self._work.values())
        self._done = 0.0
        self._batch_s = self._open_s = 0.0

    def run(self) -> Outcome:
        """Answer all questions."""
        for feeder in self.feeders.values():
            self._after(self._draw.uniform(0, REPORT_S), partial(self._report_again, feeder))
        while any(self._left.values()):
            self.now, _, act = heappop(self._heap)
            act()
        self.outcome.seconds = self.now
        self.outcome.loads = self.scheduler.costs.loads
        self.outcome.wakes = self.scheduler.costs.wakes
        for replica in self.replicas.values():
            self._close(replica)
        self.outcome.batch = self._batch_s / AT_ONCE / self._open_s
        return self.outcome

    def _after(self, delay: float, act: Callable[[], None]) -> None:
        heappush(self._heap, (self.now + delay, next(self._numbers), act))

    # The controller

    def _tell(self, event: Event) -> None:
        """Let the scheduler decide, and do what it orders."""
        begun = time.thread_time()
        actions = self.scheduler.handle(event, self.now)
        took = time.thread_time() - begun
        self.outcome.calls.setdefault(type(event).__name__, []).append(took)
        for action in actions:
            self._act(action)
        tick = self.scheduler.next_tick()
        if tick is not None and tick != self._tick:
            self._after(max(0.0, tick - self.now), partial(self._look, tick))
        self._tick = tick

    def _look(self, tick: float) -> None:
        if tick == self._tick:  # else it was put off since
            self._tell(Tick())

    def _act(self, action: Action) -> None:
        match action:
            case Load(name, engine):
                replica = SimulatedReplica(name, engine, self.case.speeds[engine])
                self.replicas[name] = replica
                self._after(LOAD_S, partial(self._open, replica, Loaded(name)))
            case Wake(name, level):
                opened = partial(self._open, self.replicas[name], Woken(name))
                self._after(WAKE_S[level], opened)
            case Close(name, cut_waiting):
                replica = self.replicas[name]
                self._close(replica)
                if cut_waiting:
                    self._hand_back(replica)
                if not replica.load:
                    self._after(0.0, partial(self._tell, Drained(name)))
            case Reopen(name):
                self._open(self.replicas[name], None)
            case Sleep(name) | Unload(name):
                if self.replicas[name].load:
                    raise RuntimeError(f"{action} while requests are with it")
                done = Asleep(name) if isinstance(action, Sleep) else Unloaded(name)
                self._after(LEAVE_S, partial(self._tell, done))
            case Refuse(engine, reason):
                raise RuntimeError(f"{engine}: {reason}")

    def _open(self, replica: SimulatedReplica, event: Event | None) -> None:
        replica.is_open, replica.since = True, self.now
        if event is not None:
            self._tell(event)

    def _close(self, replica: SimulatedReplica) -> None:
        if replica.is_open:
            self._open_s += self.now - replica.since
        replica.is_open = False

    def _hand_back(self, replica: SimulatedReplica) -> None:
        feeder = self.feeders[replica.engine]
        feeder.take_back(replica.waiting)
        replica.waiting = 0
        self._feed(feeder)

    # The clients

    def _report_again(self, feeder: SimulatedFeeder) -> None:
        self._report(feeder)
        if feeder.waits:
            self.outcome.longest_wait = max(self.outcome.longest_wait, self.now - feeder.served_at)
        else:
            feeder.served_at = self.now
        if self._left[feeder.engine]:
            self._after(REPORT_S, partial(self._report_again, feeder))

    def _report(self, feeder: SimulatedFeeder) -> None:
        """Send a report, which arrives up to a second later, but not before an earlier one."""
        report = feeder.report()
        delay = max(self._draw.uniform(0, self.case.delay_s), feeder.arrives_at - self.now)
        feeder.arrives_at = self.now + delay
        self._after(delay, partial(self._take_report, feeder, report))

    def _take_report(self, feeder: SimulatedFeeder, report: DemandReport) -> None:
        self._tell(Reported(report))
        names = self.scheduler.open_replicas().get(feeder.engine, ())
        feeder.set_replicas([self.replicas[name] for name in names])
        self._feed(feeder)

    def _feed(self, feeder: SimulatedFeeder) -> None:
        """Let a feeder send what its replicas take; report at once if that leaves it with none."""
        for replica in feeder.send():
            self._begin(replica)
        if feeder.crossed():
            self._report(feeder)

    def _begin(self, replica: SimulatedReplica) -> None:
        for duration, group in replica.begin(self._draw):
            self._batch_s += duration * group
            self._after(duration, partial(self._reply, replica, group))

    def _reply(self, replica: SimulatedReplica, group: int) -> None:
        feeder = self.feeders[replica.engine]
        replica.running -= group
        feeder.outstanding -= group
        self._left[replica.engine] -= group
        self._done += self._work[replica.engine] * group / self.case.questions
        if not self.outcome.busy and self._done >= 0.95 * self._whole:
            self.outcome.busy = self._done / (self.case.gpus * self.now)
        self._begin(replica)
        self._feed(feeder)
        if not replica.load and not replica.is_open:
            self._tell(Drained(replica.name))
        if self.case.referees:
            self._release()

    def _release(self) -> None:
        """Let referees judge what was answered so far."""
        names = list(self.case.speeds)[self.case.referees :]
        answered = 1 - sum(self._left[name] for name in names) / len(names) / self.case.questions
        for feeder in list(self.feeders.values())[: self.case.referees]:
            if feeder.release(int(answered * self.case.questions)):
                self._feed(feeder)


def describe(case: Case, outcome: Outcome) -> str:
    """Return what a case took."""
    ideal = case.ideal_s
    return (
        f"{outcome.seconds:,.0f} s for an ideal of {ideal:,.0f} s "
        f"(x {outcome.seconds / ideal:.3f}), {outcome.loads} loads, {outcome.wakes} wakes, "
        f"batches {outcome.batch:.0%} full, longest wait {outcome.longest_wait:,.0f} s"
    )


def run_a(scale: float) -> bool:
    """Print case a; tell whether it is within its bars."""
    good = True
    for has_hints in (False, True):
        case = Case(8, mixed(), int(QUESTIONS * scale), has_hints)
        outcome = World(case).run()
        good &= outcome.seconds <= BAR_TOTAL * case.ideal_s and outcome.loads <= BAR_LOADS
        named = "sizes are known" if has_hints else "sizes are unknown"
        print(f"a, {named}. busy: {case.ideal_s / outcome.seconds:.3f} of ideal")
        print(f"   {describe(case, outcome)}", flush=True)
    return good


def run_c(scale: float) -> bool:
    """Print case c; tell whether it is within its bar."""
    case = Case(64, mixed(), int(10 * QUESTIONS * scale))
    outcome = World(case).run()
    print(f"c, from 0 to 95 % of the work. busy: {outcome.busy:.3f} of ideal")
    print(f"   {describe(case, outcome)}", flush=True)
    return outcome.busy >= BAR_BUSY


def run_decide(scale: float) -> bool:
    """Print how long decisions take; tell whether the slowest is within its bar."""
    case = Case(
        64,
        mixed(100),
        int(QUESTIONS / 10 * scale),
        devices=(1, 2, 4),
        patience_s=1800.0,
        referees=10,
    )
    gc.disable()  # of everything else in this process
    outcome = World(case).run()
    gc.enable()
    calls = [took for event, all_ in outcome.calls.items() if event != "Reported" for took in all_]
    slowest = max(max(all_) for all_ in outcome.calls.values())
    print(f"decide, 64 GPUs, 100 models. slowest {1000 * slowest:.2f} ms", end=", ")
    print(f"median {1000 * statistics.median(calls):.2f} ms; by event, slowest and median:")
    for event, all_ in sorted(outcome.calls.items()):
        worst, usual = 1000 * max(all_), 1000 * statistics.median(all_)
        print(f"   {event:10} {len(all_):8,} calls {worst:6.2f} ms {usual:6.3f} ms")
    print(f"   {describe(case, outcome)}", flush=True)
    return slowest <= BAR_DECISION_S


CASES = {"a": run_a, "c": run_c}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the cases; return 1 where a bar is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", metavar="CASE", help="a, c; both if none is named")
    parser.add_argument("--decide", action="store_true", help="time the scheduler's decisions")
    parser.add_argument("--scale", type=seconds, default=1.0, help="share of the questions")
    asked = parser.parse_args(arguments)
    if unknown := set(asked.cases) - CASES.keys():
        parser.error(f"{', '.join(sorted(unknown))}: there are {', '.join(CASES)}")
    names = asked.cases or ([] if asked.decide else [*CASES])
    runs = [CASES[name] for name in names] + [run_decide] * asked.decide
    good = [run(asked.scale) for run in runs]
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
