"""How busy are GPUs kept by the scheduler of engines? By discrete-event simulation.

    python -m perf.feeding [a c]               the cases below, or one of them
    python -m perf.feeding --decide            how long one decision takes
    python -m perf.feeding a --scale 0.1       with a tenth of the questions

Real: `raybench.engines.scheduler`, which decides what is loaded where. Simulated: everything that
it decides about (`perf/simulated_engines.py`), with a report that takes up to a second to the
scheduler. `perf/feeding_lengths.py` has the real feeder, with one engine and replies of unequal
length.

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
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from perf.arguments import seconds
from perf.simulated_engines import (
    REPORT_S,
    Delays,
    SimulatedFeeder,
    SimulatedReplica,
    Simulation,
)
from raybench.engines.scheduler import EngineScheduler
from raybench.engines.scheduler.messages import Device, EngineNeed, MemoryBudget, Node, Rules

LOAD_S, WAKE_S, LEAVE_S = 90.0, {1: 8.0, 2: 40.0}, 4.0
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


class World(Simulation):
    """A case: its engines at their speeds, and the one client that has all questions."""

    def __init__(self, case: Case, seed: int = 0) -> None:
        scheduler = EngineScheduler(case.nodes(), case.needs(), Rules(patience_s=case.patience_s))
        feeders = [
            SimulatedFeeder(name, 2 * AT_ONCE, GROUP, later=case.questions)
            if number < case.referees
            else SimulatedFeeder(name, 2 * AT_ONCE, GROUP, case.questions)
            for number, name in enumerate(case.speeds)
        ]
        super().__init__(scheduler, feeders, Delays(LOAD_S, WAKE_S, LEAVE_S, case.delay_s), seed)
        self.case = case
        self.outcome = Outcome()
        self._left = dict.fromkeys(case.speeds, case.questions)
        self._work = case.work
        self._whole = sum(self._work.values())
        self._done = 0.0
        self._batch_s = self._open_s = 0.0

    def run(self) -> Outcome:
        """Answer all questions."""
        for feeder in self.feeders.values():
            self.after(self._draw.uniform(0, REPORT_S), partial(self._report_again, feeder))
        while any(self._left.values()):
            self.step()
        self.outcome.seconds = self.now
        self.outcome.loads = self.scheduler.costs.loads
        self.outcome.wakes = self.scheduler.costs.wakes
        for replica in self.replicas.values():
            self.close(replica)
        self.outcome.batch = self._batch_s / AT_ONCE / self._open_s
        return self.outcome

    def close(self, replica: SimulatedReplica) -> None:
        """Let a replica take no more requests."""
        if replica.is_open:
            self._open_s += self.now - replica.since
        super().close(replica)

    def _report_again(self, feeder: SimulatedFeeder) -> None:
        self.report(feeder)
        if feeder.waits:
            self.outcome.longest_wait = max(self.outcome.longest_wait, self.now - feeder.served_at)
        else:
            feeder.served_at = self.now
        if self._left[feeder.engine]:
            self.after(REPORT_S, partial(self._report_again, feeder))

    def begin(self, replica: SimulatedReplica) -> None:
        """Begin what fits into the batch, in groups that are answered together."""
        groups = []
        while replica.waiting and replica.running < AT_ONCE:
            groups.append(min(GROUP, replica.waiting, AT_ONCE - replica.running))
            replica.begin(groups[-1])
        speed = self.case.speeds[replica.engine]
        each = AT_ONCE / speed * step_s(replica.running) / step_s(AT_ONCE)
        for group in groups:
            duration = each * self._draw.uniform(0.5, 1.5)
            self._batch_s += duration * group
            self.after(duration, partial(self._reply, replica, group))

    def _reply(self, replica: SimulatedReplica, group: int) -> None:
        self.answer(replica, group)
        self._left[replica.engine] -= group
        self._done += self._work[replica.engine] * group / self.case.questions
        if not self.outcome.busy and self._done >= 0.95 * self._whole:
            self.outcome.busy = self._done / (self.case.gpus * self.now)
        self.refill(replica)
        if self.case.referees:
            self._release()

    def _release(self) -> None:
        """Let referees judge what was answered so far."""
        names = list(self.case.speeds)[self.case.referees :]
        answered = 1 - sum(self._left[name] for name in names) / len(names) / self.case.questions
        for feeder in list(self.feeders.values())[: self.case.referees]:
            if feeder.release(int(answered * self.case.questions)):
                self.feed(feeder)


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
    world = World(case)
    outcome = world.run()
    gc.enable()
    calls = [took for event, all_ in world.calls.items() if event != "Reported" for took in all_]
    slowest = max(max(all_) for all_ in world.calls.values())
    print(f"decide, 64 GPUs, 100 models. slowest {1000 * slowest:.2f} ms", end=", ")
    print(f"median {1000 * statistics.median(calls):.2f} ms; by event, slowest and median:")
    for event, all_ in sorted(world.calls.items()):
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
