"""The keeper: the one actor that brings engines in and out, as the residency policy decides.

Whoever wants to send work to a hosted engine takes a lease here first (`leases.py`). The keeper
runs in the cluster and not in the driver, so that drivers, arena actors, data workers and the HTTP
endpoint all share one view of what is awake.
"""

import asyncio
import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from raybench.config import FleetConf
from raybench.errors import Problem, RunFailed
from raybench.fleet import reasons
from raybench.fleet.attendance import Attendance
from raybench.fleet.deployment import application, deployed_as
from raybench.fleet.engines import EngineSpec
from raybench.fleet.llm_config import Place, llm_config
from raybench.fleet.places import Layout
from raybench.fleet.replicas import by_engine
from raybench.fleet.residency import Residency
from raybench.fleet.serve_calls import applications, deploy
from raybench.fleet.swaps import Swaps
from raybench.fleet.turns import (
    Action,
    Done,
    Event,
    Failed,
    Found,
    Grant,
    Load,
    Lost,
    Queued,
    Refuse,
    Settled,
    Sleep,
    State,
    Tick,
    Unload,
    Wake,
)
from raybench.statements import Statement

_POLL_S = 0.5
_GIVEN_BACK = "the lease was given back"
_STOPPED = "the engines are being stopped"
_MOVE_DEADLINE_S = 300.0
"""Going to sleep and waking up take seconds; what takes longer than this hangs."""
CLIENT_SILENCE_S = 120.0
"""The leases of a client that was not heard of for so long are given back."""


@dataclass(frozen=True, slots=True)
class Status:
    """What a person wants to know of the engines."""

    states: Mapping[str, State]
    waiting: Mapping[str, int]
    """Requests that wait for their engine."""
    failures: Mapping[str, str]
    swaps: Swaps
    queued: Mapping[str, int]
    """Requests that wait, by their models."""
    running: Mapping[str, int]
    """Requests of calls that are with an engine, by their models."""
    said: Sequence[str] = ()
    """What happened to nodes, in words, from the beginning on."""


class Keeper:
    """Applies the policy; made an actor by `host.py`."""

    def __init__(
        self,
        specs: Sequence[EngineSpec],
        conf: FleetConf,
        plan: Layout,
        *,
        gpu: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Keep these engines where the plan has room for them. The clock returns seconds."""
        self._clock = clock
        self._specs = {spec.name: spec for spec in specs}
        self._demands = {demand.engine: demand for demand in plan.demands}
        self._memory = {device.name: device.memory_gib for device in plan.devices}
        self._conf = conf
        self._gpu = gpu
        self._said: list[str] = []
        self._nodes = (
            Attendance(plan.places, conf, self._said.append, engine=specs[0].name, gpu=gpu)
            if plan.places is not None
            else None
        )
        self._policy = Residency(plan.devices, plan.demands, plan.rules, self._clock())
        self._answers: dict[str, asyncio.Future[str]] = {}
        self._clients: dict[str, float] = {}
        self._owners: dict[str, str] = {}
        self._asked: dict[str, tuple[str, int]] = {}
        """Of leases that wait or were granted, the model and the number of requests."""
        self._queued: Counter[str] = Counter()
        self._running: Counter[str] = Counter()
        self._granted: set[str] = set()
        self._early: set[str] = set()
        """Leases given back before they were asked for: calls of an actor may overtake others."""
        self._stopped: set[str] = set()
        """Engines that were to sleep and had to be stopped instead."""
        self._devices: dict[str, tuple[str, ...]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._moves: dict[str, asyncio.Task[None]] = {}
        """By engine, the last of its moves."""
        self._tick: asyncio.TimerHandle | None = None
        self._stopping = False
        self._deploying = threading.Lock()
        """Serve pickles what it deploys, which two threads at once get wrong."""

    async def start(self) -> None:
        """Load what fits, before anybody asks."""
        from raybench.fleet.quiet import quieten

        quieten()
        self._act(self._policy.preload(self._clock()))
        if self._nodes is not None:
            self._keep(asyncio.create_task(self._attend(self._nodes)))

    async def lease(self, client: str, lease: str, engine: str, work: int, model: str = "") -> str:
        """Wait until the engine is awake and its turn; return '' or why it will never be."""
        if self._stopping:
            return _STOPPED
        if lease in self._early:
            self._early.remove(lease)
            return _GIVEN_BACK
        self._clients[client] = self._clock()
        self._owners[lease] = client
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._answers[lease] = answer
        self._asked[lease] = model or engine, work
        self._queued[model or engine] += work
        try:
            self._handle(Queued(lease, engine, work))
            return await answer
        finally:
            del self._answers[lease]

    async def release(self, lease: str) -> None:
        """Take a lease back: granted, refused, waiting, or still to come."""
        if lease in self._owners:
            self._take_back(lease)
        else:
            self._early.add(lease)

    async def replicas(self) -> Mapping[str, Sequence[str]]:
        """Return the names of the replicas of each engine."""
        return by_engine(self._specs)

    async def alive(self, client: str) -> Status:
        """Note that a client is there; tell it how things stand."""
        self._clients[client] = self._clock()
        for name, heard in list(self._clients.items()):
            if self._clock() - heard > CLIENT_SILENCE_S:
                del self._clients[name]
                for lease in [lease for lease, owner in self._owners.items() if owner == name]:
                    self._take_back(lease)
        return self.status()

    def status(self) -> Status:
        """Return how things stand."""
        return Status(
            states={name: self._policy.state(name) for name in self._specs},
            waiting=self._policy.waiting(),
            failures=self._policy.failures(),
            swaps=self._policy.swaps(self._clock()),
            queued=dict(+self._queued),
            running=dict(+self._running),
            said=tuple(self._said),
        )

    async def turn_away(self) -> None:
        """Tell everybody who waits that no engine comes any more, and start none."""
        self._stopping = True
        if self._tick:
            self._tick.cancel()
        for task in self._tasks:
            task.cancel()
        for lease in list(self._answers):
            self._answer(lease, _STOPPED)

    async def stop(self) -> None:
        """Stop every engine, and start none any more."""
        await self.turn_away()
        await asyncio.to_thread(self._stop_all)

    def _stop_all(self) -> None:
        with self._deploying:  # a thread may be at it, whose task was just cancelled
            stop(list(self._specs))

    def _take_back(self, lease: str) -> None:
        del self._owners[lease]
        self._forget(lease)
        self._answer(lease, _GIVEN_BACK)
        self._handle(Done(lease))

    def _answer(self, lease: str, reason: str) -> None:
        answer = self._answers.get(lease)
        if answer and not answer.done():
            answer.set_result(reason)

    def _forget(self, lease: str) -> None:
        """Count a lease's requests no more: it is over, or will not be granted."""
        model, work = self._asked.pop(lease, ("", 0))
        (self._running if lease in self._granted else self._queued)[model] -= work
        self._granted.discard(lease)

    def _handle(self, event: Event) -> None:
        self._act(self._policy.handle(event, self._clock()))

    def _act(self, actions: Sequence[Action]) -> None:
        if self._stopping:
            return
        for action in actions:
            match action:
                case Grant(lease):
                    model, work = self._asked[lease]
                    self._queued[model] -= work
                    self._running[model] += work
                    self._granted.add(lease)
                    self._answer(lease, "")
                case Refuse(lease, reason):
                    self._forget(lease)
                    self._answer(lease, reason)
                case Load() | Wake() | Sleep() | Unload():
                    self._moves[action.engine] = asyncio.create_task(self._move(action))
                    self._keep(self._moves[action.engine])
        if self._tick:
            self._tick.cancel()
        self._tick = None
        if (at := self._policy.next_tick()) is not None:
            loop = asyncio.get_running_loop()
            self._tick = loop.call_later(max(at - self._clock(), 0.0), self._handle, Tick())

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _attend(self, nodes: Attendance) -> None:
        """See to it that what was on nodes that die comes up on others."""
        async with contextlib.aclosing(nodes.changes()) as changes:
            async for change in changes:
                match change:
                    case Lost(lost):
                        for name, taken in self._devices.items():
                            if lost & {*taken} and (move := self._moves.get(name)):
                                move.cancel()  # what it waits for is gone; what comes next is said
                    case Found(devices):
                        self._memory |= {it.name: it.memory_gib for it in devices}
                self._handle(change)

    async def _move(self, action: Load | Wake | Sleep | Unload) -> None:
        name = action.engine
        event: Settled | Failed = Settled(name)
        try:
            match action:
                case Load(devices=devices):
                    self._devices[name] = devices
                    self._stopped.discard(name)
                    await self._load(name)
                case Wake():
                    await self._back(name)
                case Sleep(level=level):
                    await self._away(name, level)
                case Unload():
                    self._stopped.discard(name)
                    await self._unload(name)
        except Exception as error:  # whatever Ray or vLLM ran into is told to who waits
            why = str(error)
            if not isinstance(error, RunFailed):
                why = f"{self._called(name)}: {reasons.last_line(why) or type(error).__name__}"
            with contextlib.suppress(Exception):
                await self._unload(name)
            event = Failed(name, why)
        self._handle(event)

    async def _away(self, name: str, level: int) -> None:
        """Have an engine leave its devices: asleep, or else stopped."""
        try:
            async with asyncio.timeout(_MOVE_DEADLINE_S):
                await self._sleep(name, level)
        except Exception:
            await self._unload(name)
            self._stopped.add(name)

    async def _back(self, name: str) -> None:
        """Have an engine come back to its devices: awake, or else started again."""
        if name not in self._stopped:
            with contextlib.suppress(Exception):  # its replica may have died in its sleep
                async with asyncio.timeout(_MOVE_DEADLINE_S):
                    if await self._wake(name):
                        return
                self._said.append(
                    Statement(
                        "engine.changed_in_sleep",
                        "{engine} gave other replies after its sleep than before, and is loaded "
                        "again",
                        engine=self._called(name),
                    )
                )
            await self._unload(name)
        self._stopped.discard(name)
        await self._load(name)

    async def _load(self, name: str) -> None:
        await asyncio.to_thread(self._deploy, name)
        deadline = self._clock() + self._conf.start_deadline_s
        while self._clock() < deadline:
            await asyncio.sleep(_POLL_S)
            state = (await asyncio.to_thread(applications)).get(name)
            if state is not None and state.status == "RUNNING":
                return
            if state is not None and state.status in ("DEPLOY_FAILED", "UNHEALTHY"):
                reason = reasons.of_application(state)
                raise RunFailed(
                    Problem(
                        "engine.start",
                        f"{self._called(name)} did not start: {reasons.mended(reason)}",
                    )
                )
        raise RunFailed(
            Problem(
                "engine.start",
                f"{self._called(name)} was not up within "
                f"fleet.start_deadline_s={self._conf.start_deadline_s:g} s",
                setting="fleet.start_deadline_s",
                given=self._conf.start_deadline_s,
                fix="Give it more time, or look at Ray's logs in "
                "/tmp/ray/session_latest/logs/serve",
            )
        )

    def _deploy(self, name: str) -> None:
        config = llm_config(self._specs[name], self._conf, gpu=self._gpu, place=self._place(name))
        with self._deploying:
            if self._stopping:
                return
            deploy(partial(application, config, self._conf.reply_deadline_s), name)

    def _called(self, name: str) -> str:
        """Name an engine as people know it: by its models."""
        return f"the engine of {self._specs[name].called}"

    def _place(self, name: str) -> Place:
        if self._nodes is None:
            return Place()
        devices = self._devices[name]
        places = [self._nodes.places[device] for device in devices]
        if not self._gpu:
            return Place(node=places[0][0])
        if self._conf.slots:
            share = self._conf.memory_share / self._conf.slots
        else:
            smallest = min(self._memory[device] for device in devices)
            share = self._demands[name].memory_gib / smallest
        return Place(places[0][0], tuple(gpu for _, gpu in places), share)

    async def _unload(self, name: str) -> None:
        await asyncio.to_thread(stop, [name])

    async def _sleep(self, name: str, level: int) -> None:
        await handle(name).drain_and_sleep.remote(level)

    async def _wake(self, name: str) -> bool:
        """Wake an engine; return False where it is not the model any more that went to sleep."""
        return bool(await handle(name).wake_and_compare.remote())


def handle(name: str) -> Any:
    """Return the handle of an engine's deployment."""
    from ray import serve

    return serve.get_deployment_handle(deployed_as(name), name, _check_exists=False)


def stop(names: Sequence[str], *, wait: bool = True) -> None:
    """Stop those of these engines that are there, and wait for their end or leave it to Serve."""
    from ray import serve

    there = applications()
    for name in names:
        if name in there:
            serve.delete(name, _blocking=wait)
