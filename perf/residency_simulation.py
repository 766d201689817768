"""Requests that wait for one another, played against a policy of who is awake. No engine runs."""

import heapq
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from raybench.fleet.residency import Residency
from raybench.fleet.turns import (
    Action,
    Device,
    Done,
    Event,
    Grant,
    Load,
    Queued,
    Refuse,
    Settled,
    Sleep,
    Tick,
    Unload,
    Wake,
)

LOAD_S, LEVEL_1_S, LEVEL_2_S, LEAVE_S = 60.0, 3.0, 15.0, 2.0
AT_ONCE = 128
"""Requests that an engine works on at once; more wait in its own queue."""
GPU = Device("gpu", 80.0)


@dataclass(frozen=True, slots=True)
class Request:
    """Work for an engine, under one lease."""

    engine: str
    seconds: float
    after: tuple[int, ...] = ()
    """In a list: it is sent when those at these places are answered."""
    work: int = 1
    """As many prompts."""


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
        return [(it, request) for it, request in enumerate(self._requests) if not request.after]

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
    work: Work,
    policy: Policy,
    *,
    check: Callable[[float], None] = lambda now: None,
    start: Sequence[Action] = (),
    at_once: int = AT_ONCE,
) -> Outcome:
    """Play the work; engines take the time that is assumed for them, for so many at once."""
    heap: list[tuple[float, int, Event | int]] = []
    order = itertools.count()
    at_work: dict[str, int] = {}
    queues: dict[str, deque[int]] = {}
    outcome = Outcome(0, 0.0, 0.0, 0.0, 0)
    requests: dict[int, Request] = {}
    sent: dict[int, float] = {}
    now, next_tick = 0.0, None

    def push(at: float, what: Event | int) -> None:
        heapq.heappush(heap, (at, next(order), what))

    def send(following: Sent) -> None:
        for number, request in following:
            requests[number], sent[number] = request, now
            push(now, Queued(str(number), request.engine, request.work))

    def work_on(engine: str) -> None:
        queue = queues.setdefault(engine, deque())
        while queue and at_work.get(engine, 0) < at_once:
            number = queue.popleft()
            at_work[engine] = at_work.get(engine, 0) + requests[number].work
            push(now + requests[number].seconds, number)

    def act(actions: Sequence[Action]) -> None:
        for action in actions:
            match action:
                case Grant(lease):
                    number = int(lease)
                    outcome.grants[number] = now
                    outcome.longest_wait = max(outcome.longest_wait, now - sent[number])
                    queues.setdefault(requests[number].engine, deque()).append(number)
                    work_on(requests[number].engine)
                case Load(engine):
                    push(now + LOAD_S, Settled(engine))
                case Wake(engine, level):
                    push(now + (LEVEL_1_S if level == 1 else LEVEL_2_S), Settled(engine))
                case Sleep(engine) | Unload(engine):
                    push(now + LEAVE_S, Settled(engine))
                case Refuse(lease, reason):
                    raise RuntimeError(f"{lease}: {reason}")

    act(start)
    send(work.begin())
    for turn in itertools.count():
        if not heap or turn == 100 * len(sent) + 1000:  # a policy must not go round in circles
            break
        now, _, what = heapq.heappop(heap)
        if isinstance(what, int):
            engine = requests[what].engine
            at_work[engine] -= requests[what].work
            outcome.answered += 1
            outcome.seconds = now
            work_on(engine)
            send(work.answered(what))
            what = Done(str(what))
        elif isinstance(what, Tick) and now != next_tick:
            continue  # one set before things changed
        act(policy.handle(what, now))
        check(now)
        tick = policy.next_tick()
        if tick is not None and tick != next_tick and outcome.answered < len(sent):
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
