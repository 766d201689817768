"""The batch of an engine that makes one token a step for each of its requests, as vLLM does.

Between two changes of the batch all steps take the same time. So the time of each change follows
from the number of steps before it, and no step is simulated by itself: a million requests cost
about a million heap operations. Pure: the caller says what time it is.
"""

import heapq
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from perf.rig.prefixes import PrefixCache
from perf.rig.profile import EngineProfile

T = TypeVar("T")
_ROUNDING_S = 1e-9


@dataclass(slots=True, eq=False)
class EngineRequest(Generic[T]):
    """A request in the batch, or on its way there."""

    name: str
    prompt: str
    prompt_tokens: int
    length: int
    """Tokens of its reply."""
    owner: T
    """What the caller keeps with it."""
    cached_tokens: int = 0
    scheduled_at: float = 0.0
    """When the engine's first step for it began; 0.0 before that."""
    first_step: int = 0


@dataclass(slots=True)
class Batch(Generic[T]):
    """The requests of an engine: those that run, and those that wait in the order they came."""

    profile: EngineProfile
    prefixes: PrefixCache
    waiting: OrderedDict[str, EngineRequest[T]] = field(default_factory=OrderedDict)
    running: dict[str, EngineRequest[T]] = field(default_factory=dict)
    paused: bool = False
    """Whether requests that wait have to go on waiting."""
    _heap: list[tuple[int, int, EngineRequest[T]]] = field(default_factory=list)
    _pushed: int = 0
    _steps: int = 0
    """Steps done until the last change of the batch."""
    _since: float = 0.0
    """When that was."""
    _size: int = 0
    """Requests in each step since then."""
    _prefill_s: float = 0.0
    """By how much the first of these steps takes longer: it reads the prompts of new requests."""
    _change: int | None = None
    """The step after which requests join the batch or leave it, before any of them is done."""
    _tokens: int = 0
    _last_token: float = 0.0

    def add(self, request: EngineRequest[T], now: float) -> None:
        """Take a request in. It joins the batch at the end of the current step, if there is room.

        (vllm/v1/core/sched/scheduler.py:784)
        """
        self.waiting[request.name] = request
        if len(self.running) < self.profile.max_num_seqs and not self.paused:
            self._change_after_step(now)

    def remove(self, name: str, now: float) -> tuple[EngineRequest[T], int] | None:
        """Drop a request; return it and how many tokens it has. None if it is not here."""
        if (request := self.waiting.pop(name, None)) is not None:
            return request, 0
        if (request := self.running.pop(name, None)) is None:
            return None
        self._change_after_step(now)
        return request, self._steps + self._done(now) - request.first_step

    def pause(self, now: float) -> None:
        """Have all later requests wait. The ones that run go on."""
        self.paused = True
        self._change_after_step(now)

    def resume(self, now: float) -> None:
        """Let those that wait into the batch again."""
        self.paused = False
        self._change_after_step(now)

    def next_change(self) -> float | None:
        """Return when the batch changes next: then `advance` has something to do."""
        while self._heap and self.running.get(self._heap[0][2].name) is not self._heap[0][2]:
            heapq.heappop(self._heap)
        ends = [self._heap[0][0]] if self._heap else []
        if self._change is not None:
            ends.append(self._change)
        return self._time_of(min(ends)) if ends else None

    def advance(self, now: float) -> list[tuple[EngineRequest[T], float]]:
        """Do all steps that end by now; return the requests that are done, and when each was."""
        done: list[tuple[EngineRequest[T], float]] = []
        while (at := self.next_change()) is not None and at <= now + _ROUNDING_S:
            step = self._steps if at == self._since else self._step_at(at)
            self._account(step, at)
            while self._heap and self._heap[0][0] <= step:
                request = heapq.heappop(self._heap)[2]
                if self.running.get(request.name) is request:
                    del self.running[request.name]
                    done.append((request, at))
            self._admit(at)
        return done

    def tokens(self, now: float) -> int:
        """Return how many tokens were made so far, for all requests together."""
        return self._tokens + self._size * self._done(now)

    def last_token(self, now: float) -> float:
        """Return when the last step ended that made a token; 0.0 before the first."""
        done = self._done(now)
        return self._time_of(self._steps + done) if done else self._last_token

    def _step_s(self) -> float:
        return self.profile.step_seconds(self._size)

    def _done(self, now: float) -> int:
        """Return how many steps have ended since the last change."""
        if not self._size:
            return 0
        worked = now + _ROUNDING_S - self._since - self._prefill_s
        return max(0, int(worked / self._step_s()))

    def _time_of(self, step: int) -> float:
        after = step - self._steps
        return self._since + self._prefill_s + after * self._step_s() if after else self._since

    def _step_at(self, time: float) -> int:
        return self._steps + round((time - self._since - self._prefill_s) / self._step_s())

    def _change_after_step(self, now: float) -> None:
        if not self._size:
            self._account(self._steps, now)
            self._change = self._steps
        elif self._change is None:
            self._change = self._steps + self._done(now) + 1

    def _account(self, step: int, now: float) -> None:
        """Enter the steps since the last change; the next ones begin now."""
        if (steps := step - self._steps) and self._size:
            self._tokens += steps * self._size
            self._last_token = now
        self._steps, self._since, self._prefill_s, self._change = step, now, 0.0, None

    def _admit(self, now: float) -> None:
        """Fill the batch up, with as many prompts as one step reads."""
        profile, unread = self.profile, 0
        budget = profile.max_batched_tokens - len(self.running)
        while self.waiting and not self.paused and unread < budget:
            if len(self.running) >= profile.max_num_seqs:
                break
            name, request = self.waiting.popitem(last=False)
            self.running[name] = request
            request.cached_tokens = self.prefixes.read(request.prompt, request.prompt_tokens)
            request.scheduled_at, request.first_step = now, self._steps
            unread += request.prompt_tokens - request.cached_tokens
            self._pushed += 1
            entry = (self._steps + request.length, self._pushed, request)
            heapq.heappush(self._heap, entry)
        self._size = len(self.running)
        self._prefill_s = unread / profile.prefill_tokens_per_s
        room = len(self.running) < profile.max_num_seqs
        if self.waiting and room and not self.paused:
            self._change = self._steps + 1
