"""A Serve replica of the rig: what `BatchServer` is (raybench/fleet/replica.py), without vLLM.

Nodes of the rig name it in RAYBENCH_SERVER_CLASS (raybench/fleet/deployment.py).
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from perf.rig import node
from perf.rig.devices import OutOfDeviceMemoryError
from perf.rig.engine import EngineDeadError, VirtualEngine
from perf.rig.request_engine import RequestEngine
from perf.rig.weights import devices_wanted, profile_of
from raybench.fleet.reasons import SILENT_DEATH
from raybench.fleet.streams import Placed, in_groups
from raybench.types import Completion, Request

_LAST_WORDS_S = 0.5


class VirtualReplica:
    """One engine of the rig, with the methods that raybench calls."""

    async def __init__(self, config: Mapping[str, Any]) -> None:  # type: ignore[misc]  # as Ray's
        """Start it, by what LLMConfig is given."""
        profile = profile_of(config)
        devices = await _devices(devices_wanted(config))
        name = config["model_loading_config"]["model_id"]
        self._engine = VirtualEngine(
            profile, node.memory(), devices, name=name, faults=node.faults()
        )
        self._requests = RequestEngine(self._engine)
        self._dying = False
        try:
            await self._engine.start()
        except Exception as error:  # vLLM's core process dies of it, and says so like this
            raise RuntimeError(f"{_called(error)}: {error}") from error

    async def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Answer every request of the batch; a request the engine refuses fails alone."""
        return list(await asyncio.gather(*(self._one(request) for request in requests)))

    async def stream(self, requests: Sequence[Request]) -> AsyncGenerator[list[Placed]]:
        """Answer the batch like `complete`, replies with their places as soon as they are there."""
        async with aclosing(in_groups(self._one(request) for request in requests)) as replies:
            async for group in replies:
                yield group

    async def sleep(self, level: int = 1) -> None:
        """Put the engine to sleep."""
        await self._engine.sleep(level)

    async def wakeup(self, tags: Sequence[str] | None = None) -> None:
        """Wake the engine up."""
        await self._engine.wake_up(tags)

    async def is_sleeping(self) -> bool:
        """Tell whether the engine sleeps."""
        return self._engine.is_sleeping

    async def reset_prefix_cache(self) -> None:
        """Forget the prompts that were read."""
        await self._engine.reset_prefix_cache()

    async def collective_rpc(self, method: str, **_: Any) -> None:
        """Have the engine's workers run a method."""
        await self._engine.collective_rpc(method)

    async def check_health(self) -> None:
        """Tell Serve at its first look that the engine is dead."""
        try:
            await self._engine.check_health()
        except EngineDeadError as death:
            raise self._last_words() from death

    async def _one(self, request: Request) -> Completion:
        try:
            completion = await self._requests.generate(request)
        except EngineDeadError as death:
            raise self._last_words() from death
        node.count_reply(self._engine.name)
        return completion

    def _last_words(self) -> Exception:
        """Return what is said of a dead engine; its replica ends once that is out."""
        if not self._dying:
            self._dying = True
            asyncio.get_running_loop().call_later(_LAST_WORDS_S, os._exit, 1)
        return RuntimeError(f"it died under its requests: {SILENT_DEATH}")


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
