"""The controller of engines: one actor that carries out what the scheduler decides.

Client processes report what they want of each engine and ask where to send it. The controller gives
both to the scheduler (`scheduler/`), has a backend carry out its moves, and reports what became of
them. It knows neither Ray nor vLLM: the backend does.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from raybench.engines.base import DemandReport
from raybench.engines.scheduler import EngineScheduler
from raybench.engines.scheduler.messages import (
    Action,
    Announce,
    Asleep,
    ClientGone,
    Close,
    Drained,
    Event,
    FailureKind,
    Load,
    Loaded,
    MoveFailed,
    Refuse,
    Reopen,
    ReplicaState,
    Reported,
    Restarting,
    Sleep,
    SleepLevel,
    Tick,
    Unload,
    Unloaded,
    Wake,
    Woken,
)
from raybench.engines.scheduler.move_costs import Swaps
from raybench.statements import Statement

CLIENT_SILENCE_S = 120.0
"""A client that was not heard of for so long has ended."""
_LONG_POLL_S = 10.0
_MOVE_DEADLINE_S = 300.0
"""Going to sleep and waking up take seconds; what takes longer than this hangs."""


class MoveFailedError(Exception):
    """A load, wake or sleep failed; `kind` says what may help."""

    def __init__(self, reason: str, kind: FailureKind = "other") -> None:
        super().__init__(reason)
        self.kind: FailureKind = kind


class Backend(Protocol):
    """What starts, moves and ends replicas. Each method raises MoveFailedError or what it met."""

    async def load(
        self, replica: str, engine: str, devices: Sequence[str], *, has_process: bool
    ) -> float | None:
        """Wait until a replica is up; return the GiB that it takes of each device, if measured.

        has_process: its process was started again after a death, and loads by itself.
        """
        ...

    async def wake(self, replica: str, level: SleepLevel) -> bool:
        """Wake a replica; return False where it is not the model any more that went to sleep."""
        ...

    async def close(self, replica: str, *, cut_waiting: bool) -> None:
        """Have a replica take no more requests, and wait until it has none."""
        ...

    async def reopen(self, replica: str) -> None:
        """Have a closed replica take requests again."""
        ...

    async def sleep(self, replica: str, level: SleepLevel) -> tuple[float | None, float | None]:
        """Put a replica to sleep; return the GiB left on each device and those in host memory."""
        ...

    async def unload(self, replica: str) -> None:
        """End a replica, or what is left of it; returns when its memory is free."""
        ...


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """How one engine stands."""

    states: Mapping[str, ReplicaState]
    """By replica."""
    models: Mapping[str, int]
    """Requests without a reply, by the model that is asked."""
    failure: str = ""
    """Why it is unavailable."""
    waits_for_weights: bool = False
    """No node that could run it has its weights yet."""


@dataclass(frozen=True, slots=True)
class Status:
    """How all engines stand."""

    engines: Mapping[str, EngineStatus]
    swaps: Swaps
    said: Sequence[str] = ()
    """What happened to engines and nodes that people should know, from the beginning on."""


@dataclass(frozen=True, slots=True)
class Assignments:
    """Where the requests of each engine go."""

    version: int
    """Grows with each change."""
    replicas: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The replicas that take requests, by engine."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """Why an engine is unavailable."""


class EngineController:
    """Keeps the engines as the scheduler wants them."""

    def __init__(
        self,
        scheduler: EngineScheduler,
        backend: Backend,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with nothing loaded. The clock returns seconds, the scheduler's among them.

        say: reports to people what happened.
        """
        self._scheduler = scheduler
        self._backend = backend
        self._say = say
        self._clock = clock
        self._assignments = Assignments(0)
        self._changed = asyncio.Condition()
        self._heard: dict[str, float] = {}
        """When each client was heard of last."""
        self._moves: dict[str, asyncio.Task[None]] = {}
        """The load, wake, sleep or unload of each replica that is under way."""
        self._calls: dict[str, set[asyncio.Task[None]]] = {}
        """Closings and reopenings of each replica that are under way."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._restarted: dict[str, asyncio.Future[bool]] = {}
        """Processes that started again and wait for their devices; the answer says whether to go
        on."""
        self._reopening: set[str] = set()
        """Replicas that do not take requests again yet."""
        self._loading: set[str] = set()
        """Replicas whose first process may load at once."""
        self._tick: asyncio.TimerHandle | None = None
        self._is_stopped = False
        self.wrong_wakes = 0
        """Replicas that were another model after a wake, and were loaded again."""

    async def start(self) -> None:
        """Load what fits before anybody asks."""
        self._act(self._scheduler.preload(self._clock()))
        self._keep(self._watch_clients())

    # Clients

    async def report(self, reports: Sequence[DemandReport]) -> None:
        """Take in what a client wants of some engines."""
        for report in reports:
            self._heard[report.client] = self._clock()
            self.note(Reported(report))

    async def assignments(self, client: str, known: int) -> Assignments:
        """Return where requests go, once that is other than version `known`; or after 10 s."""
        self._heard[client] = self._clock()
        if self._assignments.version == known:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LONG_POLL_S), self._changed:
                    await self._changed.wait_for(lambda: self._assignments.version != known)
        self._heard[client] = self._clock()
        return self._assignments

    async def leave(self, client: str) -> None:
        """Take in that a client has ended."""
        if self._heard.pop(client, None) is not None:
            self.note(ClientGone(client))

    # People

    def status(self) -> Status:
        """Return how things stand."""
        without_weights = self._scheduler.without_weights()
        return Status(
            {
                name: EngineStatus(
                    self._scheduler.states(name),
                    self._scheduler.open_requests(name),
                    self._scheduler.failures().get(name, ""),
                    name in without_weights,
                )
                for name in self._scheduler.engines()
            },
            self._scheduler.swaps(self._clock()),
        )

    async def turn_away(self, reason: str) -> None:
        """Begin no more moves, and refuse the requests that have no replica yet."""
        await self.stop()
        failures = dict.fromkeys(self._scheduler.engines(), reason)
        self._assignments = Assignments(self._assignments.version + 1, {}, failures)
        await self._notify()

    # Processes of replicas

    async def begin_load(self, replica: str) -> bool:
        """Wait until a replica's process may load its engine; False: it has to end instead.

        Serve starts a process again that died. Its devices may have a move then.
        """
        if self._is_stopped:
            return False
        if replica in self._loading:
            self._loading.discard(replica)
            return True
        self._refuse_load(replica)  # it asked before, and died while it waited
        self._say(
            Statement(
                "engine.replica_died",
                "the process of replica {replica} died: its requests are sent again",
                replica=replica,
            )
        )
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._restarted[replica] = answer
        self.note(Restarting(replica))
        return await answer

    # Devices

    def note(self, event: Event) -> None:
        """Take in what happened to devices, replicas or clients; begin what follows from it."""
        if self._is_stopped:
            return
        actions = self._scheduler.handle(event, self._clock())
        self._act(actions)
        if actions or not isinstance(event, Reported):
            self._publish(is_new=any(isinstance(action, Refuse) for action in actions))

    async def stop(self) -> None:
        """Begin no more moves, and wait for none."""
        self._is_stopped = True
        if self._tick is not None:
            self._tick.cancel()
        for answer in self._restarted.values():
            if not answer.done():
                answer.set_result(False)
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _act(self, actions: Sequence[Action]) -> None:
        for action in actions:
            match action:
                case Refuse():
                    pass
                case Announce(text):
                    self._say(text)
                case Reopen(replica):
                    self._reopening.add(replica)
                    self._call(replica, self._reopen(replica))
                case Close(replica, cut_waiting):
                    self._call(replica, self._close(replica, cut_waiting=cut_waiting))
                case Load(replica) | Wake(replica) | Sleep(replica) | Unload(replica):
                    before = self._moves.get(replica)
                    self._moves[replica] = self._keep(self._move(action, before))
        if self._tick is not None:
            self._tick.cancel()
            self._tick = None
        if (at := self._scheduler.next_tick()) is not None:
            delay = max(at - self._clock(), 0.0)
            self._tick = asyncio.get_running_loop().call_later(delay, self.note, Tick())

    def _call(self, replica: str, work: Coroutine[Any, Any, None]) -> None:
        """Begin a call to a replica, which ends with it: its name comes back."""
        calls = self._calls.setdefault(replica, set())
        task = self._keep(work)
        calls.add(task)
        task.add_done_callback(calls.discard)

    def _keep(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _move(
        self, action: Load | Wake | Sleep | Unload, before: asyncio.Task[None] | None
    ) -> None:
        """Carry out a move; report what became of it. An unload ends the move before it."""
        name = action.replica
        if before is not None and not before.done():
            before.cancel()
            await asyncio.gather(before, return_exceptions=True)
        try:
            event = await self._carry_out(action)
        except Exception as error:  # whatever Ray or vLLM ran into decides what is tried next
            kind = error.kind if isinstance(error, MoveFailedError) else "other"
            event = MoveFailed(name, str(error) or type(error).__name__, kind)
        if self._moves.get(name) is asyncio.current_task():
            del self._moves[name]
        self.note(event)
        if isinstance(event, MoveFailed) and isinstance(action, Load):
            self._say_failed(action.engine, event.reason)

    def _say_failed(self, engine: str, reason: str) -> None:
        """Say why a load failed whose engine is still to be had; of others, clients learn it."""
        if engine not in self._scheduler.failures():
            others = self._scheduler.open_replicas().get(engine, ())
            self._say(
                Statement(
                    "engine.load_failed",
                    "{reason}; {what_follows}",
                    reason=reason.rstrip("."),
                    what_follows="its other replicas do its work"
                    if others
                    else "it is tried again",
                )
            )

    async def _carry_out(self, action: Load | Wake | Sleep | Unload) -> Event:
        name = action.replica
        match action:
            case Load(engine=engine, devices=devices):
                restarted = self._restarted.pop(name, None)
                has_process = restarted is not None and not restarted.done()
                if restarted is not None and not restarted.done():
                    restarted.set_result(True)
                else:
                    self._loading.add(name)
                try:
                    gib = await self._backend.load(name, engine, devices, has_process=has_process)
                finally:
                    self._loading.discard(name)
                return Loaded(name, gib)
            case Wake(level=level):
                async with asyncio.timeout(_MOVE_DEADLINE_S):
                    is_same = await self._backend.wake(name, level)
                if not is_same:
                    self.wrong_wakes += 1
                    raise MoveFailedError("it was another model after its sleep")
                return Woken(name)
            case Sleep(level=level):
                async with asyncio.timeout(_MOVE_DEADLINE_S):
                    left_gib, host_gib = await self._backend.sleep(name, level)
                return Asleep(name, left_gib, host_gib)
            case Unload():
                self._refuse_load(name)
                for call in self._calls.pop(name, ()):
                    call.cancel()
                with contextlib.suppress(Exception):  # there may be nothing left to end
                    await self._backend.unload(name)
                self._refuse_load(name)  # Serve may have started it again meanwhile
                return Unloaded(name)

    def _refuse_load(self, replica: str) -> None:
        """Have a process that waits for its devices end instead."""
        restarted = self._restarted.pop(replica, None)
        if restarted is not None and not restarted.done():
            restarted.set_result(False)

    async def _close(self, replica: str, *, cut_waiting: bool) -> None:
        # A replica that dies meanwhile has no request left either.
        with contextlib.suppress(Exception):
            await self._backend.close(replica, cut_waiting=cut_waiting)
        self.note(Drained(replica))

    async def _reopen(self, replica: str) -> None:
        # Serve starts a replica again that died: it is open then.
        try:
            with contextlib.suppress(Exception):
                await self._backend.reopen(replica)
        finally:
            self._reopening.discard(replica)
        self._publish(is_new=False)

    def _publish(self, *, is_new: bool) -> None:
        """Tell clients where requests go, if that has changed or a client has to be refused."""
        opened, failures = self._scheduler.open_replicas(), self._scheduler.failures()
        replicas = {
            engine: ready
            for engine, names in opened.items()
            if (ready := tuple(it for it in names if it not in self._reopening))
        }
        before = self._assignments
        if is_new or replicas != before.replicas or failures != before.failures:
            self._assignments = Assignments(before.version + 1, replicas, failures)
            self._keep(self._notify())

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _watch_clients(self) -> None:
        while True:
            await asyncio.sleep(CLIENT_SILENCE_S / 4)
            for client, heard in [*self._heard.items()]:
                if self._clock() - heard > CLIENT_SILENCE_S:
                    await self.leave(client)
