"""Replicas in the loop of a test: a real ReplicaServer, with an engine that only takes time."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from virtual_time import now

from raybench.engines.base import HandedBack, Heartbeat, ReplicaEvent
from raybench.engines.replica_server import Fingerprint, ReplicaServer
from raybench.types import Completion, Message, Request

FINGERPRINT = Fingerprint((1, 2, 3), (-0.5, -1.0, -0.25))


def asked(number: int, *, system: str = "", text: str = "", seconds: float = 1.0) -> Request:
    """Return a request whose reply takes as many seconds in a `TimedEngine`."""
    first = (Message("system", system),) if system else ()
    told = Message("user", text or f"question {number}")
    return Request((*first, told), seed=number, deadline_s=seconds)


class TimedEngine:
    """Answers each request after the seconds that it says, `max_num_seqs` of them at once."""

    def __init__(self, max_num_seqs: int = 4) -> None:
        self.max_num_seqs = max_num_seqs
        self.last_progress = 0.0
        self.is_stuck = False
        """Whether requests are not answered any more."""
        self.asked: list[int] = []
        """The seeds of all requests."""
        self.begun: list[int] = []
        self.running = self.most_held = self.held = 0
        self.level = 0
        self.fingerprint = FINGERPRINT
        self._places = asyncio.Semaphore(max_num_seqs)

    async def generate(self, request: Request) -> Completion:
        self.asked.append(request.seed)
        self.held += 1
        self.most_held = max(self.most_held, self.held)
        try:
            async with self._places:
                self.begun.append(request.seed)
                await self._work(request.deadline_s or 0.0)
        finally:
            self.held -= 1
        seconds = request.deadline_s or 0.0
        return Completion(f"reply {request.seed}", "stop", seconds=seconds)

    async def generate_greedily(self, prompt: str, tokens: int) -> Fingerprint:
        return self.fingerprint

    async def sleep(self, level: int) -> None:
        assert not self.held
        self.level = level

    async def wake(self, level: int) -> None:
        assert level == self.level
        self.level = 0

    async def _work(self, seconds: float) -> None:
        while seconds > 0:
            step_s = min(seconds, 5.0)
            await asyncio.sleep(step_s)
            if self.is_stuck:
                await asyncio.Event().wait()
            self.last_progress = now()
            seconds -= step_s


class Replica:
    """The handle of a replica, and all that can happen to it."""

    def __init__(self, max_num_seqs: int = 4) -> None:
        self._max_num_seqs = max_num_seqs
        self.calls: list[list[int]] = []
        """The seeds of each call."""
        self.most_held = 0
        """The most requests that it had at a time."""
        self._held: dict[object, int] = {}
        self.others = 0
        """Requests that heartbeats tell of other processes."""
        self.is_silent = False
        self._restarts_at = 0.0
        self.start()

    @property
    def held(self) -> int:
        """Return how many requests it has."""
        return sum(self._held.values())

    @property
    def open_calls(self) -> int:
        return len(self._held)

    def start(self) -> None:
        """Begin a life."""
        self.engine = TimedEngine(self._max_num_seqs)
        self.server = ReplicaServer(self.engine, 600.0, self.die, now)
        self._death: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def die(self, restart_s: float = 0.0) -> None:
        """Break all calls. Later ones wait until it has started again, as in Ray Serve."""
        self._death.set_result(None)
        self._restarts_at = now() + restart_s
        self.start()

    async def stream(self, requests: Sequence[Request]) -> AsyncGenerator[ReplicaEvent]:
        self.calls.append([request.seed for request in requests])
        call = object()
        self._held[call] = len(requests)
        self.most_held = max(self.most_held, self.held)
        try:
            await asyncio.sleep(max(0.002, self._restarts_at - now()))
            death = self._death
            async with aclosing(self.server.stream(requests)) as events:
                while (event := await self._next(events, death)) is not None:
                    if isinstance(event, Heartbeat):
                        more = event.waiting + self.others
                        event = Heartbeat(event.running, more, event.max_num_seqs)
                    elif isinstance(event, HandedBack):
                        self._held[call] -= len(event.places)
                    else:
                        self._held[call] -= 1
                    yield event
        finally:
            del self._held[call]

    async def _next(
        self, events: AsyncGenerator[ReplicaEvent], death: "asyncio.Future[None]"
    ) -> ReplicaEvent | None:
        event = asyncio.ensure_future(anext(events, None))
        try:
            both: set[asyncio.Future[Any]] = {event, death}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if death.done():
                raise ConnectionError("the actor died")
            while self.is_silent and not death.done():
                await asyncio.sleep(1.0)
            return event.result()
        finally:
            event.cancel()
            await asyncio.gather(event, return_exceptions=True)
