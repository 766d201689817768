"""A cluster in virtual time: the real scheduler, controller, feeders and replica servers.

Not real are Ray, Serve and the engines: calls take `CALL_S`, a process that dies is started again
after `RESTART_S` as Serve does it, and engines are virtual (`engine.py`).
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing

from perf.rig.devices import GIB, HOST, DeviceMemory
from perf.rig.engine import EngineDeadError, VirtualEngine
from perf.rig.faults import FaultList
from perf.rig.profile import EngineProfile
from perf.rig.request_engine import RequestEngine
from raybench.engines.assignments import AssignmentLoop
from raybench.engines.base import DemandReport, ReplicaClosed, ReplicaEvent
from raybench.engines.controller import Assignments, EngineController, MoveFailedError
from raybench.engines.failures import failure_kind
from raybench.engines.feeder import EngineFeeder, FeederConf
from raybench.engines.replica_server import ReplicaServer
from raybench.engines.scheduler import EngineScheduler
from raybench.engines.scheduler.messages import EngineNeed, Node, Rules, SleepLevel
from raybench.types import Completion, Request

CALL_S = 0.002
RESTART_S = 2.0
_LAST_WORDS_S = 0.5


class ReplicaProcess:
    """The process of a replica, which Serve starts again where it dies."""

    def __init__(
        self, world: "VirtualWorld", name: str, engine: str, devices: Sequence[str]
    ) -> None:
        self.name = name
        self._world, self._engine_name = world, engine
        self._node = devices[0].partition("/")[0]
        self._devices = [device.partition("/")[2] for device in devices]
        self.server: ReplicaServer | None = None
        self.engine: VirtualEngine | None = None
        self.is_up: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._died = asyncio.Event()
        self._life = asyncio.get_running_loop().create_task(self._live())

    async def _live(self) -> None:
        try:
            while await self._world.controller.begin_load(self.name):
                self._died.clear()
                if not await self._start():
                    return
                await self._died.wait()
                self._stop()
                self.is_up = asyncio.get_running_loop().create_future()
                await asyncio.sleep(RESTART_S)
        finally:
            self._stop()

    async def _start(self) -> bool:
        self.engine = VirtualEngine(
            self._world.profiles[self._engine_name],
            self._world.memory[self._node],
            self._devices,
            name=self.name,
            faults=self._world.faults,
        )
        try:
            await self.engine.start()
        except Exception as error:
            self.is_up.set_exception(MoveFailedError(str(error), failure_kind(str(error))))
            return False
        self.server = ReplicaServer(
            _Dying(self.engine, self.die),
            self._world.reply_deadline_s,
            end_process=self.die,
            clock=asyncio.get_running_loop().time,
        )
        self.is_up.set_result(None)
        return True

    def die(self) -> None:
        """End the process at once."""
        if self.engine is not None:
            self.engine.die()
        asyncio.get_running_loop().call_later(_LAST_WORDS_S, self._died.set)

    def _stop(self) -> None:
        self.server = None
        if self.engine is not None:
            self.engine.stop()
            self.engine = None

    async def end(self) -> None:
        """End the process for good."""
        self._life.cancel()
        await asyncio.gather(self._life, return_exceptions=True)
        if self.is_up.done() and not self.is_up.cancelled():
            self.is_up.exception()  # nobody has to ask for it

    def held_gib(self, device: str | None = None) -> float:
        """Return what the engine has now of a device of its node, by default of its first."""
        memory = self._world.memory[self._node]
        return sum(memory.held(self.name, device or self._devices[0]).values()) / GIB


class _Dying(RequestEngine):
    """An engine whose death ends its process."""

    def __init__(self, engine: VirtualEngine, die: Callable[[], None]) -> None:
        super().__init__(engine)
        self._die = die

    async def generate(self, request: Request) -> Completion:
        """Answer one request."""
        try:
            return await super().generate(request)
        except EngineDeadError:
            self._die()
            raise


class _Backend:
    """Starts, moves and ends the processes of a world."""

    def __init__(self, world: "VirtualWorld") -> None:
        self._world = world

    async def load(
        self, replica: str, engine: str, devices: Sequence[str], *, has_process: bool
    ) -> float | None:
        if not has_process:
            self._world.processes[replica] = ReplicaProcess(self._world, replica, engine, devices)
        process = self._world.processes[replica]
        await asyncio.shield(process.is_up)
        return process.held_gib()

    async def wake(self, replica: str, level: SleepLevel) -> bool:
        return await self._server(replica).wake()

    async def close(self, replica: str, *, cut_waiting: bool) -> None:
        await asyncio.sleep(CALL_S)
        await self._server(replica).drain(cut_waiting=cut_waiting)

    async def reopen(self, replica: str) -> None:
        self._server(replica).reopen()

    async def sleep(self, replica: str, level: SleepLevel) -> tuple[float | None, float | None]:
        process = self._world.processes[replica]
        await self._server(replica).sleep(level)
        return process.held_gib(), process.held_gib(HOST)

    async def unload(self, replica: str) -> None:
        if (process := self._world.processes.pop(replica, None)) is not None:
            await process.end()

    def _server(self, replica: str) -> ReplicaServer:
        server = self._world.processes[replica].server
        if server is None:
            raise ConnectionError("the replica is not up")
        return server


class VirtualWorld:
    """Nodes with devices, engines, and client processes that ask them."""

    def __init__(
        self,
        nodes: Sequence[Node],
        needs: Sequence[EngineNeed],
        profiles: Mapping[str, EngineProfile],
        *,
        rules: Rules | None = None,
        reply_deadline_s: float = 600.0,
    ) -> None:
        """Make it, inside a running loop, with nothing loaded."""
        loop = asyncio.get_running_loop()
        self.profiles = profiles
        self.reply_deadline_s = reply_deadline_s
        self.faults = FaultList()
        self.memory = {
            node.name: DeviceMemory(
                {device.name.partition("/")[2]: device.memory_gib for device in node.devices}
            )
            for node in nodes
        }
        self.processes: dict[str, ReplicaProcess] = {}
        self.said: list[str] = []
        self.scheduler = EngineScheduler(nodes, needs, rules, loop.time())
        self.controller = EngineController(
            self.scheduler, _Backend(self), self.said.append, loop.time
        )
        self._loops: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Load what fits."""
        await self.controller.start()

    def client(self, name: str) -> dict[str, EngineFeeder]:
        """Start a client process; return its feeders, by engine."""
        loop = asyncio.get_running_loop()
        feeders = {
            engine: EngineFeeder(engine, FeederConf(name), loop.time) for engine in self.profiles
        }
        assignments = AssignmentLoop(name, _Remote(self.controller), feeders, self._connect)
        self._loops.append(loop.create_task(assignments.run()))
        return feeders

    def _connect(self, replica: str) -> "_ReplicaHandle":
        return _ReplicaHandle(self, replica)

    async def stop(self) -> None:
        """End all that runs."""
        for task in self._loops:
            task.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        await self.controller.stop()
        for process in [*self.processes.values()]:
            await process.end()


class _Remote:
    """The controller, as far away as an actor."""

    def __init__(self, controller: EngineController) -> None:
        self._controller = controller

    async def report(self, reports: Sequence[DemandReport]) -> None:
        await asyncio.sleep(CALL_S)
        await self._controller.report(reports)

    async def assignments(self, client: str, known: int) -> Assignments:
        await asyncio.sleep(CALL_S)
        return await self._controller.assignments(client, known)


class _ReplicaHandle:
    """A replica, as a client process sees it."""

    def __init__(self, world: VirtualWorld, name: str) -> None:
        self._world, self._name = world, name

    async def stream(self, requests: Sequence[Request]) -> AsyncGenerator[ReplicaEvent]:
        """Answer these requests; a replica that is started again is waited for, as by Serve."""
        await asyncio.sleep(CALL_S)
        if (process := self._world.processes.get(self._name)) is None:
            raise ReplicaClosed
        await asyncio.shield(process.is_up)
        if process.server is None:
            raise ConnectionError("the replica died")
        async with aclosing(process.server.stream(requests)) as events:
            async for event in events:
                yield event
