"""How much faster are eight replicas of an engine than one?

    python -m perf.replicas [--requests 120000] [--gpus 8]

The real feeder and replica servers with virtual engines (perf/rig), in virtual time: by default
12,000 questions, each asked ten times. The requests of one caller go to one replica and to several.
Printed for each kind of reply lengths is

    efficiency: T1 / (GPUs x T)

where T1 and T are the times from the first request to the last reply. The end of a run, when the
last long replies leave their batches half empty, is counted. In a second run a replica dies at half
and is back after 90 s, as by Serve; its efficiency is of the GPU time that was there.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from perf import arguments
from perf.feeding_lengths import KINDS, Lengths, LocalReplica, ServedEngine, requests_of
from perf.rig.devices import DeviceMemory
from perf.rig.engine import VirtualEngine
from perf.rig.profile import EngineProfile
from perf.rig.virtual_time import VirtualLoop
from raybench.engines.base import ReplicaEvent
from raybench.engines.feeder import EngineFeeder, FeederConf
from raybench.engines.replica_server import ReplicaServer
from raybench.types import Request

_RESTART_S = 90.0
_REPLY_DEADLINE_S = 600.0


def main() -> None:
    """Print the efficiency for each kind of replies."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--requests", type=arguments.count, default=120_000)
    parser.add_argument("--gpus", type=arguments.count, default=8)
    given = parser.parse_args()
    for kind in KINDS:
        one = seconds(kind, given.requests, 1)
        several = seconds(kind, given.requests, given.gpus)
        disturbed = seconds(kind, given.requests, given.gpus, dies_at=several / 2)
        gpu_s = given.gpus * disturbed - _RESTART_S
        print(
            f"{kind.name:14} efficiency: {one / (given.gpus * several):.3f} of {given.gpus} GPUs; "
            f"{one / gpu_s:.3f} with a replica that dies; {one:.0f} s on one, {several:.0f} s on "
            f"{given.gpus}"
        )


def seconds(kind: Lengths, requests: int, gpus: int, *, dies_at: float | None = None) -> float:
    """Return how long this number of replicas takes, in virtual time."""

    async def run() -> float:
        loop = asyncio.get_running_loop()
        replicas = {f"engine-r{number}": await _started(kind, number) for number in range(gpus)}
        feeder = EngineFeeder("engine", FeederConf("perf"), loop.time)
        feeder.set_replicas(replicas)
        begun = loop.time()
        if dies_at is not None:
            loop.call_later(dies_at, replicas["engine-r0"].die)
        async with aclosing(feeder.stream(requests_of(kind, requests))) as replies:
            async for _, completion in replies:
                if completion.error is not None:
                    raise RuntimeError(completion.error)
        return loop.time() - begun

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(run())


@dataclass
class _Replica:
    """A replica whose process may die, and is started again."""

    engine: VirtualEngine
    _local: LocalReplica
    _is_up: asyncio.Event

    async def stream(self, requests: Sequence[Request]) -> AsyncGenerator[ReplicaEvent]:
        """Answer these requests, once the process is up."""
        await self._is_up.wait()
        async with aclosing(self._local.stream(requests)) as events:
            async for event in events:
                yield event

    def die(self) -> None:
        """End the process."""
        self._is_up.clear()
        self.engine.die()
        asyncio.get_running_loop().create_task(self._restart())

    async def _restart(self) -> None:
        await asyncio.sleep(_RESTART_S)
        self.engine, self._local = await _engine(self.engine.profile, self.engine.name)
        self._is_up.set()


async def _started(kind: Lengths, number: int) -> _Replica:
    profile = EngineProfile(load_s=0.0, reply_tokens=kind.median, reply_spread=kind.spread)
    engine, local = await _engine(profile, f"engine-r{number}")
    is_up = asyncio.Event()
    is_up.set()
    return _Replica(engine, local, is_up)


async def _engine(profile: EngineProfile, name: str) -> tuple[VirtualEngine, LocalReplica]:
    engine = VirtualEngine(profile, DeviceMemory({"gpu": 80.0}), ["gpu"], name=name)
    await engine.start()
    clock = asyncio.get_running_loop().time
    server = ReplicaServer(
        ServedEngine(engine), _REPLY_DEADLINE_S, end_process=engine.die, clock=clock
    )
    return engine, LocalReplica(server)


if __name__ == "__main__":
    main()
