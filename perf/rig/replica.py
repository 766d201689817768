"""A Serve replica of the rig: what `BatchServer` is (raybench/fleet/replica.py), without vLLM.

Nodes of the rig name it in RAYBENCH_SERVER_CLASS (raybench/fleet/deployment.py).
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

from perf.rig import node
from perf.rig.devices import OutOfDeviceMemoryError
from perf.rig.engine import EngineDeadError, VirtualEngine
from perf.rig.request_engine import RequestEngine
from perf.rig.weights import devices_wanted, profile_of
from raybench.engines.base import ReplicaEvent
from raybench.engines.replica_server import ReplicaServer
from raybench.fleet.deployment import gpus_of, name_of, wait_for_devices
from raybench.fleet.memory_meter import MemoryMeter, ReplicaMemory
from raybench.fleet.reasons import SILENT_DEATH
from raybench.types import Completion, Request

_LAST_WORDS_S = 0.5


class VirtualReplica:
    """One engine of the rig, with the methods that raybench calls."""

    async def __init__(  # type: ignore[misc]  # as Ray's
        self, config: Mapping[str, Any], reply_deadline_s: float, controller: Any
    ) -> None:
        """Start it, by what LLMConfig is given, once the controller lets it."""
        await wait_for_devices(config, controller)
        self._meter = MemoryMeter(gpus_of(config))
        await self._meter.begin()
        profile = profile_of(config)
        devices = await _devices(devices_wanted(config))
        name = name_of(config)
        self._engine = VirtualEngine(
            profile, node.memory(), devices, name=name, faults=node.faults()
        )
        self._server = ReplicaServer(
            _Counted(self._engine, self._last_words), reply_deadline_s,
            end_process=partial(os._exit, 1), clock=asyncio.get_running_loop().time,
        )  # fmt: skip
        self._dying = False
        try:
            await self._engine.start()
        except Exception as error:  # vLLM's core process dies of it, and says so like this
            raise RuntimeError(f"{_called(error)}: {error}") from error

    async def stream(self, requests: Sequence[Request]) -> AsyncGenerator[Sequence[ReplicaEvent]]:
        """Answer requests, replies with their places as soon as they are there."""
        async with aclosing(self._server.stream_groups(requests)) as groups:
            async for group in groups:
                yield group

    async def drain(self, *, cut_waiting: bool) -> None:
        """Take no more requests, and wait until those that are here are answered."""
        await self._server.drain(cut_waiting=cut_waiting)

    async def reopen(self) -> None:
        """Take requests again after a drain."""
        self._server.reopen()

    async def memory_after_load(self) -> ReplicaMemory | None:
        """Return what it takes after its load."""
        return await self._meter.end()

    async def put_to_sleep(self, level: int) -> ReplicaMemory | None:
        """Go to sleep after a drain; return what it takes then."""
        await self._meter.begin()
        await self._server.sleep(level)
        return await self._meter.end()

    async def wake_and_compare(self) -> bool:
        """Wake up; return False where it is not the model any more that went to sleep."""
        await self._meter.begin()
        is_same = await self._server.wake()
        await self._meter.end()
        return is_same

    async def check_health(self) -> None:
        """Tell Serve at its first look that the engine is dead."""
        try:
            await self._engine.check_health()
        except EngineDeadError as death:
            raise self._last_words() from death

    def _last_words(self) -> Exception:
        """Return what is said of a dead engine; its replica ends once that is out."""
        if not self._dying:
            self._dying = True
            asyncio.get_running_loop().call_later(_LAST_WORDS_S, os._exit, 1)
        return RuntimeError(f"it died under its requests: {SILENT_DEATH}")


class _Counted(RequestEngine):
    """An engine whose replies are counted, and whose death ends its replica."""

    def __init__(self, engine: VirtualEngine, last_words: Callable[[], Exception]) -> None:
        super().__init__(engine)
        self._name, self._last_words = engine.name, last_words

    async def generate(self, request: Request) -> Completion:
        """Answer one request."""
        try:
            completion = await super().generate(request)
        except EngineDeadError as death:
            raise self._last_words() from death
        node.count_reply(self._name)
        return completion


def _called(error: Exception) -> str:
    if isinstance(error, OutOfDeviceMemoryError):
        return "torch.OutOfMemoryError"
    return type(error).__name__


async def _devices(count: int) -> tuple[str, ...]:
    """Return the devices of this replica: those it is told, or else those of its placement group.

    vLLM's workers get theirs in the same two ways (raybench/fleet/llm_config.py).
    """
    if os.environ.get("RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES") == "1":
        return tuple(os.environ["CUDA_VISIBLE_DEVICES"].split(","))
    import ray
    from ray.util.placement_group import get_current_placement_group
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    group = get_current_placement_group()
    asked = ray.remote(_own_device)
    answers = [
        asked.options(
            num_cpus=0,
            num_gpus=1,
            scheduling_strategy=PlacementGroupSchedulingStrategy(
                group, placement_group_bundle_index=index
            ),
        ).remote()
        for index in range(count)
    ]
    return tuple(await asyncio.gather(*answers))


def _own_device() -> str:
    """Return the device that Ray gave to this task."""
    import ray

    (device,) = ray.get_runtime_context().get_accelerator_ids()["GPU"]
    return str(device)
