"""The requests of one process to one engine, sent so that its replicas are always full.

There is no batch that has to end before the next one begins. Whenever a replica has room, it gets
the next requests, and each reply goes to its caller as soon as it is there. A replica holds at most
twice as many requests as its engine works on at once: enough that the engine never waits for a
client, and few enough that the last requests do not wait behind one replica.
"""

import asyncio
import math
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass

from raybench.engines.base import (
    DemandReport,
    HandedBack,
    Heartbeat,
    Placed,
    ReplicaClosed,
    ReplicaHandle,
    prefix_order,
)
from raybench.engines.replica_calls import KnownReplica, ReplicaCall, Router
from raybench.engines.request_queue import Caller, QueuedRequest, RequestQueue
from raybench.statements import Statement
from raybench.types import Completion, Request

_WATCH_S = 10.0
_SILENCE_S = 60.0
"""A call without a sign of life for this long is dropped. Replicas send one every 10 s."""
_FRUITLESS = 2
"""After this many times `attempts` deaths without a reply between them, an engine is given up. The
first of these may be due to a single request, which fails then."""
_UNSENT = 128
"""While this many requests wait here, `wait_for_room` waits."""
_ENDED_EARLY = Statement("engine.call_ended", "the replica ended the call without all replies")


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


@dataclass(frozen=True, slots=True)
class FeederConf:
    """What a feeder takes from the settings."""

    client: str
    """The name of this process in reports."""
    attempts: int = 3
    """fleet.attempts: calls that break under one request before it fails."""
    start_deadline_s: float = 900.0
    """fleet.start_deadline_s: how long the only replica of an engine may take to start again."""
    explain: Callable[[Exception], str] = _last_line
    """Says in one line why a call broke."""


class EngineFeeder:
    """Sends requests to the replicas of one engine, for all callers in this process."""

    def __init__(self, engine: str, conf: FeederConf, clock: Callable[[], float]) -> None:
        """Begin without replicas. The clock returns seconds."""
        self._engine = engine
        self._conf = conf
        self._clock = clock
        self._queue = RequestQueue()
        self._replicas: dict[str, KnownReplica] = {}
        """Those that are sent requests, and those that still answer some."""
        self._open: list[KnownReplica] = []
        """Those that are sent requests."""
        self._router = Router(())
        self._refusal: str | None = None
        self._callers: set[Caller] = set()
        self._expected = Counter[str]()
        """By model, requests that will come, as its callers have announced."""
        self._room: set[asyncio.Future[None]] = set()
        """Of callers that wait for room."""
        self._dispatch: asyncio.Handle | None = None
        self._dispatch_at = math.inf
        self._watch: asyncio.TimerHandle | None = None

    def set_replicas(self, replicas: Mapping[str, ReplicaHandle]) -> None:
        """Send to these replicas from now on. The others finish what they have begun.

        A replica that says that it is closed is sent nothing until it is named here again.
        """
        for name, handle in replicas.items():
            if (replica := self._replicas.get(name)) is None:
                replica = self._replicas[name] = KnownReplica(name, handle)
            elif replica.handle is not handle:
                replica.handle, replica.failures, replica.rests_until = handle, 0, -math.inf
            replica.is_open = True
            replica.assignments += 1
        for name in self._replicas.keys() - replicas.keys():
            replica = self._replicas[name]
            replica.is_open = False
            for call in [call for call in replica.calls if not call.is_heard]:
                self._drop(call)
            self._forget_if_idle(replica)
        self._refusal = None
        self._update_open()

    def refuse(self, reason: str) -> None:
        """Fail what waits, and what comes until `set_replicas` is called, for this reason."""
        self._refusal = reason
        self._queue.fail(reason)
        self._note_room()

    def expect(self, model: str, requests: int) -> None:
        """Count requests of a model as remaining that will come, in place of those so far."""
        self._expected[model] = requests

    async def wait_for_room(self) -> None:
        """Wait until few requests wait here.

        A caller with many requests that are costly to hold sends more of them then.
        """
        while self._queue.waiting() >= _UNSENT:
            room = asyncio.get_running_loop().create_future()
            self._room.add(room)
            try:
                await room
            finally:
                self._room.discard(room)

    async def complete(self, request: Request, model: str = "") -> Completion:
        """Return the completion of one request, asked of one of the engine's models."""
        if self._refusal is not None:
            return Completion.failed(self._refusal)
        caller = Caller((request,), model)
        self._callers.add(caller)
        self._queue.add(caller.pull(self._clock()))
        self._dispatch_soon()
        try:
            while (placed := caller.fetch()) is None:
                await caller.wait()
            return placed[1]
        finally:
            self._withdraw(caller)

    async def stream(self, requests: Iterable[Request], model: str = "") -> AsyncGenerator[Placed]:
        """Yield each completion with the position of its request, as they finish.

        Each request is pulled from `requests` when a replica has room for it, and one is pulled
        ahead. While the caller does not fetch what has finished, no more are pulled. Closing the
        generator withdraws the rest.
        """
        caller = Caller(requests, model)
        self._callers.add(caller)
        if (refusal := self._refusal) is not None:
            caller.refusal = refusal
        else:
            self._queue.add_stream(caller)
            self._dispatch_soon()
        try:
            while True:
                was_blocked = caller.is_blocked
                if (placed := caller.fetch()) is not None:
                    if was_blocked:
                        self._dispatch_soon()
                    yield placed
                elif caller.error is not None:
                    raise caller.error
                elif caller.is_done:
                    return
                elif caller.refusal is not None and caller.next_request is not None:
                    caller.pull(self._clock()).answer(Completion.failed(caller.refusal))
                else:
                    await caller.wait()
        finally:
            self._withdraw(caller)

    def report(self) -> DemandReport:
        """Return what this process wants of the engine now.

        Requests that an iterable will give count as remaining, if it has a length (hint), and so
        do those that are expected.
        """
        ready, remaining = self._queue.count()
        remaining += self._expected.total()
        outstanding = sum(replica.outstanding for replica in self._replicas.values())
        models = self._expected.copy()
        for caller in self._callers:
            models[caller.model] += caller.open_requests()
        return DemandReport(
            self._conf.client, self._engine, ready, outstanding, remaining, dict(+models)
        )

    def _withdraw(self, caller: Caller) -> None:
        self._callers.discard(caller)
        self._queue.withdraw(caller)
        self._note_room()

    def _note_room(self) -> None:
        """Let callers send more if few requests wait here."""
        if self._room and self._queue.waiting() < _UNSENT:
            for room in self._room:
                if not room.done():
                    room.set_result(None)

    def _update_open(self) -> None:
        opened = [replica for replica in self._replicas.values() if replica.is_open]
        if opened != self._open:
            self._open, self._router = opened, Router(opened)
        self._dispatch_soon()

    def _dispatch_soon(self) -> None:
        """Send what can be sent once the callbacks that are due have run."""
        if self._open and self._dispatch_at > -math.inf:
            if self._dispatch is not None:
                self._dispatch.cancel()
            self._dispatch_at = -math.inf
            self._dispatch = asyncio.get_running_loop().call_soon(self._send_waiting)

    def _dispatch_when_due(self, replica: KnownReplica) -> None:
        """Send what can be sent as soon as a replica that has room may be called."""
        now = self._clock()
        if (at := replica.due_at(now)) <= now:
            self._dispatch_soon()
        elif at < self._dispatch_at:
            if self._dispatch is not None:
                self._dispatch.cancel()
            self._dispatch_at = at
            self._dispatch = asyncio.get_running_loop().call_later(at - now, self._send_waiting)

    def _send_waiting(self) -> None:
        """Give every replica that may be called as many requests as it has room for."""
        self._dispatch, self._dispatch_at = None, math.inf
        if not self._queue.has_ready():
            return
        now = self._clock()
        with_room = [replica for replica in self._open if replica.room() > 0]
        due = [replica for replica in with_room if replica.due_at(now) <= now]
        batches: dict[KnownReplica, list[QueuedRequest]] = {}
        while due and (asked := self._queue.take(now)) is not None:
            replica = self._router.choose(asked.request, due)
            replica.outstanding += 1
            batches.setdefault(replica, []).append(asked)
            if replica.room() <= 0:
                due.remove(replica)
        for replica, batch in batches.items():
            self._send(replica, batch, now)
        self._note_room()
        if not due and self._queue.has_ready():
            for replica in with_room:
                if replica.room() > 0:
                    self._dispatch_when_due(replica)

    def _send(self, replica: KnownReplica, batch: list[QueuedRequest], now: float) -> None:
        order = prefix_order([asked.request for asked in batch])
        batch = [batch[place] for place in order]
        call = ReplicaCall(
            replica,
            dict(enumerate(batch)),
            incident=replica.incidents,
            assignment=replica.assignments,
            listeners=len(batch),
        )
        for asked in batch:
            asked.on_withdrawal, asked.sent_at = call.lose_listener, now
        replica.calls.add(call)
        replica.last_call_at = now
        loop = asyncio.get_running_loop()
        call.task = loop.create_task(self._listen(call, [asked.request for asked in batch]))
        call.task.add_done_callback(lambda _: self._end(call, None))  # if it never began
        if self._watch is None:
            self._watch = loop.call_later(_WATCH_S, self._drop_silent)

    async def _listen(self, call: ReplicaCall, requests: list[Request]) -> None:
        """Take in what a replica answers, until the call ends or breaks."""
        broken: Exception | None = EOFError(_ENDED_EARLY)
        try:
            async with aclosing(call.replica.handle.stream(requests)) as events:
                async for event in events:
                    call.is_heard, call.silent_looks = True, 0
                    if isinstance(event, tuple):
                        self._answer(call, *event)
                    elif isinstance(event, Heartbeat):
                        call.replica.note_load(event)
                        self._dispatch_when_due(call.replica)
                    else:
                        self._take_back(call, event)
        except ReplicaClosed:
            broken = None
            self._close(call)
        except asyncio.CancelledError:
            broken = None
            raise
        except Exception as error:  # a replica's death fails requests, not their callers
            broken = error
        finally:
            self._end(call, broken)

    def _answer(self, call: ReplicaCall, place: int, completion: Completion) -> None:
        if (asked := call.unanswered.pop(place, None)) is None:
            return
        call.replica.outstanding -= 1
        call.replica.failures = 0
        if not asked.is_withdrawn:
            asked.answer(completion)
            call.listeners -= 1
            if call.unanswered and not call.listeners:
                call.cancel()
        self._dispatch_when_due(call.replica)

    def _take_back(self, call: ReplicaCall, event: HandedBack) -> None:
        """Put requests back into the queue that a closing replica has not begun."""
        returned = [asked for it in event.places if (asked := call.unanswered.pop(it, None))]
        call.replica.outstanding -= len(returned)
        call.listeners -= sum(not asked.is_withdrawn for asked in returned)
        self._queue.put_back(returned)
        self._close(call)

    def _close(self, call: ReplicaCall) -> None:
        """Send no more to the replica of a call, unless it was opened since the call began."""
        if call.assignment == call.replica.assignments:
            call.replica.is_open = False
        self._update_open()

    def _drop(self, call: ReplicaCall, broken: Exception | None = None) -> None:
        """End a call from this side, without waiting for its replica."""
        self._end(call, broken)
        call.cancel()

    def _end(self, call: ReplicaCall, broken: Exception | None) -> None:
        """Account for a call that ends. If it broke, that costs each of its requests an attempt."""
        if call.is_over:
            return
        call.is_over = True
        unanswered = [*call.unanswered.values()]
        call.unanswered.clear()
        call.replica.calls.discard(call)
        call.replica.outstanding -= len(unanswered)
        if broken is None or not unanswered:
            self._queue.put_back(unanswered)
        else:
            self._retry(call, unanswered, broken)
        self._forget_if_idle(call.replica)
        self._dispatch_soon()

    def _retry(self, call: ReplicaCall, requests: list[QueuedRequest], broken: Exception) -> None:
        """Put the requests of a broken call back, or fail those that have no attempt left.

        If every replica has died again and again and answered nothing between, all that wait fail:
        each of them would only find out the same.
        """
        reason = Statement(
            "engine.call_broken",
            "engine {engine}: {reason}",
            engine=self._engine,
            reason=self._conf.explain(broken),
        )
        for asked in requests:
            asked.broken_calls += 1
        attempts, replica = self._conf.attempts, call.replica
        self._queue.put_back(asked for asked in requests if asked.broken_calls < attempts)
        for asked in requests:
            if asked.broken_calls >= attempts:
                asked.answer(Completion.failed(reason))
        is_new = replica.note_broken(call, self._clock()) and replica.is_open
        if is_new and all(it.failures >= _FRUITLESS * attempts for it in self._open):
            for it in self._open:
                it.failures = 0
            self._queue.fail(reason)

    def _forget_if_idle(self, replica: KnownReplica) -> None:
        if not (replica.is_open or replica.calls):
            self._replicas.pop(replica.name, None)

    def _drop_silent(self) -> None:
        """Drop calls without a sign of life.

        Looks are counted, not seconds: a process that was suspended could not listen.
        """
        calls = [call for replica in self._replicas.values() for call in replica.calls]
        self._watch = None
        if calls:
            self._watch = asyncio.get_running_loop().call_later(_WATCH_S, self._drop_silent)
        for call in calls:
            call.silent_looks += 1
            limit_s = _SILENCE_S
            if not call.is_heard and len(self._open) == 1:
                # Ray Serve holds a call back while its replica starts again.
                limit_s = max(limit_s, self._conf.start_deadline_s)
            if call.silent_looks * _WATCH_S > limit_s:
                reason = Statement(
                    "engine.call_silent", "no sign of life for {seconds:g} s", seconds=limit_s
                )
                self._drop(call, TimeoutError(reason))
