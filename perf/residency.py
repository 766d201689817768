"""How many swaps does a roster need that does not fit into memory at once? By simulation.

    python perf/residency.py

Three traces, each as requests that wait for one another, on one slot (a GPU of 80 GiB that holds
one awake engine, with 128 GiB of host memory for the weights of sleeping ones):

- `peers`: the AutoBench paper's setting, its twelve models and 50 iterations, played side by side:
  a task is written by one model, rated by all, tried again where it is turned down (three tries of
  a generator, then another); then all answer, and all rate all answers.
- `hle`: eight models answer HLE's 2,158 questions without images, a ninth judges every answer. Each
  model's client keeps 512 questions under way, as Ray Data does.
- `games`: eight models play every other one eight times on each side, turn by turn, 448 matches.

Policies:

- `paper`: one step of one iteration after the other, each loading the models that it needs. Counted
  only where the model changes, though the paper loads at every step.
- `lru`: what servers that load on demand do: a request for a model that is not there makes the one
  that was used least recently (here: the only one) leave as soon as its running requests are done.
- `ours`: `raybench.fleet.residency`.
- `bound`: no schedule can do with less. One slot holds one engine, so work of another engine that
  waits for the resident's results costs a swap. A step that all n engines take part in, and that
  the next one waits for, brings in n engines; only the last of a step can go on to the next
  without a swap. So a chain of k such steps takes n + (k - 1)(n - 1) loads; a step of one engine
  between two of them is done by the engine that is last in the one and first in the other, and
  costs nothing. `peers`: the chain of the iteration with the most tries. `hle`: every engine once.
  `games`: between two of its turns in a match an engine has made way for its opponent, so it comes
  in at least as often as it has turns in its longest match. The first load of all is no swap.

Printed: swaps, their ratio to the bound, the share of time that swapping takes, the whole time, and
the longest time a request waited for its engine, for the default patience and for less, which costs
swaps (the bound knows no patience). Durations are assumptions (below), the same for all policies.
"""

import heapq
import itertools
import random
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from raybench.fleet.residency import Residency
from raybench.fleet.turns import (
    Action,
    Demand,
    Device,
    Done,
    Event,
    Grant,
    Load,
    Queued,
    Refuse,
    Rules,
    Settled,
    Sleep,
    Tick,
    Unload,
    Wake,
)

LOAD_S, LEVEL_1_S, LEVEL_2_S, LEAVE_S = 60.0, 3.0, 15.0, 2.0
AT_ONCE = 128
"""Requests that an engine works on at once; more wait in its own queue."""
ASLEEP_GIB, HOST_GIB = 1.5, 128.0
GPU = Device("gpu", 80.0)

# Billions of parameters, from the models' names, at two bytes each (gpt-oss: four bits).
PAPER = {
    "smollm2-1.7b": 3.4,
    "llama-3.2-1b": 2.5,
    "llama-3.2-3b": 6.4,
    "qwen2.5-3b": 6.2,
    "qwen2.5-7b": 15.2,
    "qwen2.5-14b": 29.5,
    "llama-3-8b": 16.1,
    "gemma-7b": 17.1,
    "mistral-small-24b": 48.0,
    "gpt-oss-20b": 13.8,
    "gemma-3-1b": 2.0,
    "phi-3-mini": 7.6,
}


@dataclass(frozen=True, slots=True)
class Request:
    """One request of a trace: sent when those it waits for are answered."""

    engine: str
    seconds: float
    after: tuple[int, ...] = ()


@dataclass(frozen=True)
class Trace:
    """Requests by number, and what is known about them."""

    name: str
    demands: Sequence[Demand]
    requests: Sequence[Request]
    bound: int
    """Swaps that no schedule can do without."""
    steps: int | None = None
    """Changes of the model in the paper's order."""


@dataclass
class Outcome:
    """What a policy made of a trace."""

    swaps: int
    seconds: float
    swapping: float
    longest_wait: float
    answered: int
    grants: dict[int, float] = field(default_factory=dict)


class Policy(Protocol):
    """What `simulate` drives; `Residency` is one."""

    def handle(self, event: Event, now: float) -> list[Action]:
        """Take in what happened; return what is to be done."""
        ...

    def next_tick(self) -> float | None:
        """Return when to look again though nothing happens."""
        ...


def simulate(
    requests: Sequence[Request],
    policy: Policy,
    *,
    check: Callable[[float], None] = lambda now: None,
    start: Sequence[Action] = (),
) -> Outcome:
    """Play the requests; engines take the time that is assumed for them."""
    waits = {number: set(request.after) for number, request in enumerate(requests)}
    followers: dict[int, list[int]] = {}
    for number, request in enumerate(requests):
        for earlier in request.after:
            followers.setdefault(earlier, []).append(number)
    heap: list[tuple[float, int, Event | int]] = []
    order = itertools.count()
    at_work: dict[str, int] = {}
    queues: dict[str, deque[int]] = {}
    outcome = Outcome(0, 0.0, 0.0, 0.0, 0)
    sent: dict[int, float] = {}
    now, next_tick = 0.0, None

    def push(at: float, what: Event | int) -> None:
        heapq.heappush(heap, (at, next(order), what))

    def send(number: int) -> None:
        sent[number] = now
        push(now, Queued(str(number), requests[number].engine, 1))

    def work(engine: str) -> None:
        queue = queues.setdefault(engine, deque())
        while queue and at_work.get(engine, 0) < AT_ONCE:
            number = queue.popleft()
            at_work[engine] = at_work.get(engine, 0) + 1
            push(now + requests[number].seconds, number)

    def act(actions: Sequence[Action]) -> None:
        for action in actions:
            match action:
                case Grant(lease):
                    number = int(lease)
                    outcome.grants[number] = now
                    outcome.longest_wait = max(outcome.longest_wait, now - sent[number])
                    queues.setdefault(requests[number].engine, deque()).append(number)
                    work(requests[number].engine)
                case Load(engine):
                    push(now + LOAD_S, Settled(engine))
                case Wake(engine, level):
                    push(now + (LEVEL_1_S if level == 1 else LEVEL_2_S), Settled(engine))
                case Sleep(engine) | Unload(engine):
                    push(now + LEAVE_S, Settled(engine))
                case Refuse(lease, reason):
                    raise RuntimeError(f"{lease}: {reason}")

    act(start)
    for number, waited in waits.items():
        if not waited:
            send(number)
    for _ in range(100 * len(requests) + 1000):  # a policy must not go round in circles
        if not heap:
            break
        now, _, what = heapq.heappop(heap)
        if isinstance(what, int):
            engine = requests[what].engine
            at_work[engine] -= 1
            outcome.answered += 1
            outcome.seconds = now
            work(engine)
            for follower in followers.get(what, ()):
                waits[follower].discard(what)
                if not waits[follower]:
                    send(follower)
            what = Done(str(what))
        elif isinstance(what, Tick) and now != next_tick:
            continue  # one set before things changed
        act(policy.handle(what, now))
        check(now)
        tick = policy.next_tick()
        if tick is not None and tick != next_tick and outcome.answered < len(requests):
            push(tick, Tick())
        next_tick = tick
    if isinstance(policy, Residency):
        swaps = policy.swaps(outcome.seconds)
        outcome.swaps, outcome.swapping = swaps.count, swaps.share
    elif isinstance(policy, LruAtArrival):
        outcome.swaps, outcome.swapping = policy.swaps, policy.lost / outcome.seconds
    return outcome


class LruAtArrival:
    """Swaps as soon as somebody waits for another engine, as servers that load on demand do.

    Who waits longest gets its engine next, and all that wait for the same one go with it.
    """

    def __init__(self) -> None:
        self.swaps = 0
        self.lost = 0.0
        self._resident: str | None = None
        self._coming: str | None = None
        self._since = 0.0
        self._waiting: dict[str, list[str]] = {}
        self._running: set[str] = set()

    def handle(self, event: Event, now: float) -> list[Action]:
        """Take in what happened; return what is to be done."""
        granted: list[str] = []
        match event:
            case Queued(lease, engine) if engine == self._resident and not self._waiting:
                granted = [lease]
            case Queued(lease, engine):
                self._waiting.setdefault(engine, []).append(lease)
            case Done(lease):
                self._running.discard(lease)
            case Settled(engine) if engine == self._coming:
                self._resident, self._coming = engine, None
                self.lost += now - self._since
                granted = self._waiting.pop(engine)
            case _:
                pass
        self._running.update(granted)
        actions: list[Action] = [Grant(lease) for lease in granted]
        if self._waiting and not self._running and self._coming is None:
            self.swaps += self._resident is not None
            self._resident, self._coming = None, next(iter(self._waiting))
            self._since = now
            actions.append(Load(self._coming, (GPU.name,)))
        return actions

    def next_tick(self) -> float | None:
        """Nothing happens by itself."""
        return None


def demands(weights: dict[str, float]) -> list[Demand]:
    """Return what these engines need of a GPU that holds one of them awake."""
    return [
        Demand(name, 0.8 * GPU.memory_gib, 1, True, ASLEEP_GIB, gib, LOAD_S, LEVEL_1_S, LEAVE_S)
        for name, gib in weights.items()
    ]


def peers(iterations: int = 50, accepted: float = 0.7, seed: int = 0) -> Trace:
    """Return the paper's setting."""
    draw = random.Random(seed)
    models = list(PAPER)
    requests: list[Request] = []
    steps: list[str] = []
    longest = 0

    def add(engine: str, seconds: float, after: tuple[int, ...]) -> int:
        requests.append(Request(engine, seconds * draw.uniform(0.5, 1.5), after))
        return len(requests) - 1

    def by_all(seconds: float, after: tuple[int, ...], each: int = 1) -> tuple[int, ...]:
        steps.extend(models)
        return tuple(add(model, seconds, after) for model in models for _ in range(each))

    for _ in range(iterations):
        before: tuple[int, ...] = ()
        tries = 0
        found = False
        for generator in draw.sample(models, 3):
            for _ in range(3):
                tries += 1
                steps.append(generator)
                before = by_all(1.0, (add(generator, 8.0, before),))
                found = draw.random() < accepted
                if found:
                    break
            if found:
                break
        if found:
            by_all(1.0, by_all(20.0, before), each=len(models))
        longest = max(longest, tries + 2 * found)
    n = len(models)
    changes = sum(first != second for first, second in itertools.pairwise(steps))
    bound = n + (longest - 1) * (n - 1) - 1
    return Trace("peers", demands(PAPER), requests, bound, changes)


def hle(models: int = 8, questions: int = 2158, window: int = 512, seed: int = 0) -> Trace:
    """Return an exam whose answers another model judges."""
    draw = random.Random(seed)
    names = [f"model-{number}" for number in range(models)]
    requests: list[Request] = []
    for name in names:
        asked: list[int] = []
        for number in range(questions):
            after = (asked[number - window],) if number >= window else ()
            requests.append(Request(name, 30.0 * draw.uniform(0.5, 1.5), after))
            asked.append(len(requests) - 1)
            requests.append(Request("judge", 5.0 * draw.uniform(0.5, 1.5), (asked[number],)))
    weights = dict.fromkeys(names, 15.0) | {"judge": 30.0}
    return Trace("hle", demands(weights), requests, models)


def games(models: int = 8, each: int = 8, seed: int = 0) -> Trace:
    """Return a round robin of matches, played turn by turn."""
    draw = random.Random(seed)
    names = [f"model-{number}" for number in range(models)]
    requests: list[Request] = []
    most = dict.fromkeys(names, 0)
    for pair in itertools.permutations(names, 2):
        for _ in range(each):
            turns = draw.randint(20, 80)
            for turn in range(turns):
                after = (len(requests) - 1,) if turn else ()
                requests.append(Request(pair[turn % 2], 3.0 * draw.uniform(0.5, 1.5), after))
            most[pair[0]] = max(most[pair[0]], (turns + 1) // 2)
            most[pair[1]] = max(most[pair[1]], turns // 2)
    return Trace("games", demands(dict.fromkeys(names, 15.0)), requests, sum(most.values()) - 1)


def ours(trace: Trace, rules: Rules) -> Residency:
    """Return our policy for a trace."""
    return Residency([GPU], trace.demands, rules)


def rows(traces: Sequence[Trace], rules: Rules) -> Iterator[tuple[str, ...]]:
    """Yield the table's rows."""
    for trace in traces:
        outcomes = {
            "lru": simulate(trace.requests, LruAtArrival()),
            "ours": simulate(trace.requests, ours(trace, rules)),
        }
        if trace.steps is not None:
            yield (
                trace.name,
                "paper",
                f"{trace.steps:,}",
                f"{trace.steps / trace.bound:.2f}",
                "",
                "",
                "",
            )
        for policy, outcome in outcomes.items():
            assert outcome.answered == len(trace.requests)
            yield (
                trace.name,
                policy,
                f"{outcome.swaps:,}",
                f"{outcome.swaps / trace.bound:.2f}",
                f"{outcome.swapping:.1%}",
                f"{outcome.seconds / 60:,.0f} min",
                f"{outcome.longest_wait:,.0f} s",
            )
        yield trace.name, "bound", f"{trace.bound:,}", "1.00", "", "", ""


def main() -> None:
    """Print the tables."""
    traces = (peers(), hle(), games())
    head = ("trace", "policy", "swaps", "/bound", "swapping", "whole", "longest wait")
    for patience in (Rules().patience_s, 3600.0, 1800.0):
        print(f"starvation bound {patience:g} s")
        for row in (head, *rows(traces, Rules(patience, host_gib=HOST_GIB))):
            print("{:8}{:8}{:>10}{:>10}{:>10}{:>14}{:>14}".format(*row))


if __name__ == "__main__":
    main()
