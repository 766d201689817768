"""One running engine as its clients see it: a bounded queue, heartbeats, and a watch over silence.

It knows neither Ray nor vLLM. In a Serve replica an engine of vLLM is below it, in the simulation
of GPUs a virtual one.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from raybench.engines.base import HandedBack, Heartbeat, ReplicaClosed, ReplicaEvent
from raybench.statements import Statement
from raybench.types import Completion, Request

_HEARTBEAT_S = 10.0
_LAST_WORDS_S = 0.5
"""How long clients have to learn why a replica ends."""
_AHEAD = 4
"""The engine itself holds max_num_seqs / 4 requests more than it works on: it fills a place that
becomes free in the next step, and not after a round trip."""
_NOTEWORTHY_S = 0.001
_LEAST_TOLERANCE, _SPREADS = 0.02, 3.0
_PROMPT = "The capital of France is"
_TOKENS = 16
_REPEATS = 3


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The likeliest tokens after a fixed text, and the logarithms of their probabilities."""

    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]


def is_same_model(before: Sequence[Fingerprint], after: Fingerprint) -> bool:
    """Tell whether a fingerprint is that of the model of which these were taken before.

    The tokens have to be equal, and the log-probabilities within 3 times their range before, at
    least within 0.02. Where fingerprints taken before differ in a token, two tokens are about as
    likely there: what follows is not compared.
    """
    columns = list(zip(*(it.tokens for it in before), strict=False))
    stable = next((place for place, it in enumerate(columns) if len(set(it)) > 1), len(columns))
    if not stable or after.tokens[:stable] != before[0].tokens[:stable]:
        return False
    known = [[it.logprobs[place] for it in before] for place in range(stable)]
    spread = max(max(values) - min(values) for values in known)
    tolerance = max(_LEAST_TOLERANCE, _SPREADS * spread)
    differences = (
        abs(logprob - sum(values) / len(values))
        for logprob, values in zip(after.logprobs, known, strict=False)
    )
    return all(difference <= tolerance for difference in differences)  # NaN is not


class ReplicaEngine(Protocol):
    """What a replica needs of an engine that is loaded."""

    @property
    def max_num_seqs(self) -> int:
        """Return how many requests it works on at once."""
        ...

    @property
    def last_progress(self) -> float:
        """Return when it last made a token or read a prompt, by the clock of the server."""
        ...

    async def generate(self, request: Request) -> Completion:
        """Answer one request. Cancelled, it drops the request."""
        ...

    async def generate_greedily(self, prompt: str, tokens: int) -> Fingerprint:
        """Continue a text with the likeliest tokens, with no prefix from its cache."""
        ...

    async def sleep(self, level: int) -> None:
        """Leave the devices: level 1 keeps the weights in host memory, level 2 drops them."""
        ...

    async def wake(self, level: int) -> None:
        """Come back from a sleep of this level, with the weights."""
        ...


class ReplicaServer:
    """Answers streams of requests with an engine, and lets it sleep when it has none."""

    def __init__(
        self,
        engine: ReplicaEngine,
        reply_deadline_s: float,
        end_process: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Serve an engine that is loaded.

        Where it has requests and makes no progress for `reply_deadline_s`, call `end_process`,
        which ends the process.
        """
        self._engine = engine
        self._reply_deadline_s = reply_deadline_s
        self._end_process = end_process
        self._clock = clock
        self._waiting: deque[_Item] = deque()
        self._running = 0
        """Requests that the engine has from this server."""
        self._visits = 0
        """Requests that it has past this server."""
        self._calls: set[_Call] = set()
        self._is_closed = False
        self._asleep_at: int | None = None
        self._failure: str = ""
        self._idle = asyncio.Event()
        self._idle.set()
        self._tick_s = min(_HEARTBEAT_S, reply_deadline_s / 4)
        self._tick: asyncio.TimerHandle | None = None
        self._ticked_at = self._watched_since = clock()
        self._fingerprints: list[Fingerprint] = []

    @property
    def is_drained(self) -> bool:
        """Tell whether it takes no requests and has none."""
        return self._is_closed and self._idle.is_set()

    def heartbeat(self) -> Heartbeat:
        """Return how it is doing."""
        most = self._engine.max_num_seqs
        there = self._running + self._visits
        running = min(there, most)
        return Heartbeat(running, there - running + len(self._waiting), most)

    async def stream(self, requests: Sequence[Request]) -> AsyncGenerator[ReplicaEvent]:
        """Answer these requests, each reply as soon as it is there.

        A heartbeat comes first, and one every 10 s. Raises ReplicaClosed if no requests are taken.
        """
        async with aclosing(self.stream_groups(requests)) as groups:
            async for group in groups:
                for event in group:
                    yield event

    async def stream_groups(
        self, requests: Sequence[Request]
    ) -> AsyncGenerator[Sequence[ReplicaEvent]]:
        """Answer like `stream`, events that are there at once together: for Serve, one message."""
        self._require_open()
        call = _Call(len(requests))
        self._calls.add(call)
        now = self._clock()
        self._waiting.extend(
            _Item(call, place, request, now) for place, request in enumerate(requests)
        )
        self._start_waiting()
        self._begin_looking(now)
        call.events.append(self.heartbeat())
        try:
            while True:
                if call.events:
                    group, call.events = call.events, []
                    yield group
                elif call.error is not None:
                    raise call.error
                elif not call.left:
                    return
                else:
                    await call.wait()
        finally:
            self._abandon(call)

    @contextmanager
    def visit(self) -> Iterator[None]:
        """Count a request that the engine is given past this server.

        Raises ReplicaClosed if no requests are taken.
        """
        self._require_open()
        now = self._clock()
        if not (self._running or self._visits):
            self._watched_since = now
        self._visits += 1
        self._note_idle()
        self._begin_looking(now)
        try:
            yield
        finally:
            self._visits -= 1
            self._note_idle()

    def _require_open(self) -> None:
        if self._failure:
            raise RuntimeError(self._failure)
        if self._is_closed:
            raise ReplicaClosed

    async def drain(self, *, cut_waiting: bool = False) -> None:
        """Take no more requests, and wait until those that are here are answered.

        With `cut_waiting`, requests that the engine has not got are handed back.
        """
        self._is_closed = True
        if cut_waiting:
            places: dict[_Call, list[int]] = {}
            for item in self._waiting:
                places.setdefault(item.call, []).append(item.place)
            self._waiting.clear()
            for call, handed_back in places.items():
                call.left -= len(handed_back)
                call.add(HandedBack(tuple(handed_back)))
        await self._idle.wait()

    def reopen(self) -> None:
        """Take requests again after a drain."""
        if self._asleep_at is not None:
            raise RuntimeError("a sleeping replica has to be woken first")
        self._is_closed = False

    async def sleep(self, level: int) -> None:
        """Have the engine leave its devices. The replica has to be drained."""
        self._require_drained()
        if not self._fingerprints:
            self._fingerprints = [await self._fingerprint() for _ in range(_REPEATS)]
        self._asleep_at = level
        await self._engine.sleep(level)

    async def wake(self) -> bool:
        """Have the engine come back, take requests again, and return True.

        Return False if it is not the model any more that went to sleep. Then no requests are taken,
        and the engine has to be loaded again.
        """
        self._require_drained()
        if self._asleep_at is None:
            raise RuntimeError("the replica does not sleep")
        await self._engine.wake(self._asleep_at)
        if not is_same_model(self._fingerprints, await self._fingerprint()):
            return False
        self._asleep_at, self._is_closed = None, False
        return True

    async def _fingerprint(self) -> Fingerprint:
        return await self._engine.generate_greedily(_PROMPT, _TOKENS)

    def _require_drained(self) -> None:
        if not self.is_drained:
            raise RuntimeError("the replica still takes requests or has some: drain it first")

    def _start_waiting(self) -> None:
        """Give the engine what it has room for, in the order in which it came."""
        most = self._engine.max_num_seqs
        while self._waiting and self._running < most + most // _AHEAD:
            item = self._waiting.popleft()
            if not (self._running or self._visits):
                self._watched_since = self._clock()
            self._running += 1
            task = asyncio.get_running_loop().create_task(self._answer(item))
            item.call.tasks.add(task)
            task.add_done_callback(partial(self._end_task, item.call))
        self._note_idle()

    def _end_task(self, call: "_Call", task: asyncio.Task[None]) -> None:
        # Not by the task itself: one that is cancelled at once never begins.
        call.tasks.discard(task)
        self._running -= 1
        self._start_waiting()

    def _note_idle(self) -> None:
        if self._running or self._waiting or self._visits:
            self._idle.clear()
        else:
            self._idle.set()

    async def _answer(self, item: "_Item") -> None:
        call, waited = item.call, self._clock() - item.since
        try:
            completion = await self._engine.generate(item.request)
            if waited > _NOTEWORTHY_S:
                completion = replace(
                    completion,
                    seconds=completion.seconds + waited,
                    waited=completion.waited + waited,
                )
            call.left -= 1
            call.add((item.place, completion))
        except Exception as error:  # of the engine: clients see that the call broke
            call.error = error
            call.wake()

    def _abandon(self, call: "_Call") -> None:
        """Drop what is left of a call that nobody listens to."""
        self._calls.discard(call)
        if not call.left:
            return
        for task in call.tasks:
            task.cancel()
        self._waiting = deque(item for item in self._waiting if item.call is not call)
        self._start_waiting()

    def _begin_looking(self, now: float) -> None:
        if self._tick is None:
            self._ticked_at = now
            self._tick = asyncio.get_running_loop().call_later(self._tick_s, self._look)

    def _look(self) -> None:
        """Send heartbeats, and end the replica where its engine is silent."""
        self._tick = None
        if not (self._calls or self._visits):
            return
        now = self._clock()
        if now - self._ticked_at > 2 * self._tick_s:
            self._watched_since = now  # this process did not run: nor did its engine
        self._ticked_at = now
        silent_s = now - max(self._watched_since, self._engine.last_progress)
        if (self._running or self._visits) and silent_s >= self._reply_deadline_s:
            self._fail(
                Statement(
                    "engine.silent",
                    "the engine made no token for {seconds:g} s and is restarted",
                    seconds=self._reply_deadline_s,
                )
            )
            return
        heartbeat = self.heartbeat()
        for call in self._calls:
            call.add(heartbeat)
        self._tick = asyncio.get_running_loop().call_later(self._tick_s, self._look)

    def _fail(self, reason: str) -> None:
        self._failure = reason
        for call in self._calls:
            call.error = RuntimeError(reason)
            call.wake()
        asyncio.get_running_loop().call_later(_LAST_WORDS_S, self._end_process)


@dataclass(slots=True, eq=False)
class _Call:
    """What is answered to one call of `stream`."""

    left: int
    """Requests without an answer."""
    events: list[ReplicaEvent] = field(default_factory=list)
    error: Exception | None = None
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _waiter: asyncio.Future[None] | None = None

    def add(self, event: ReplicaEvent) -> None:
        """Send an event."""
        self.events.append(event)
        self.wake()

    def wake(self) -> None:
        """End the wait for events."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def wait(self) -> None:
        """Wait until there is something to send."""
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None


@dataclass(slots=True, eq=False)
class _Item:
    """A request, and the call that it belongs to."""

    call: _Call
    place: int
    request: Request
    since: float
