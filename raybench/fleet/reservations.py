"""GPUs that are kept from others for as long as a run has engines on them.

The controller puts engines on GPUs, not Ray, which would give these GPUs to others. Placement
groups keep them. Ray drops these with the process that made them, however that ends.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any
from uuid import uuid4

from raybench.config import labels
from raybench.engines.scheduler.messages import EngineNeed, Node
from raybench.errors import Problem, RunFailed

_NODE_ID = "ray.io/node-id"


class Reservations:
    """The devices of a run. On CPUs nothing is kept from others."""

    def __init__(self, name: str, *, gpu: bool) -> None:
        """Begin with no devices. The name tells people what the GPUs are kept for."""
        self._name = f"{name} {uuid4().hex[:8]}"
        self._numbers = count()
        self._gpu = gpu
        self._gib: dict[str, float] = {}
        self._groups: dict[str, Any] = {}
        """By device; one group may keep several."""

    @property
    def devices(self) -> frozenset[str]:
        """Return the names of all devices."""
        return frozenset(self._gib)

    def memory_gib(self, device: str) -> float:
        """Return the memory of a device."""
        return self._gib[device]

    async def reserve(self, nodes: Sequence[Node], within_s: float, setting: str = "") -> None:
        """Keep all devices of these nodes; raise RunFailed if they do not become free in time."""
        devices = {device.name: device.memory_gib for node in nodes for device in node.devices}
        self._gib |= devices
        try:
            async with asyncio.timeout(within_s):
                await self.take(devices)
        except TimeoutError as error:
            self.forget(devices)
            raise RunFailed(taken(len(devices), within_s, setting)) from error

    async def take(self, devices: Iterable[str]) -> None:
        """Wait until these devices are kept from others."""
        from ray.util.placement_group import placement_group

        if not self._gpu:
            return
        new = {
            device: placement_group(
                [{"GPU": 1}],
                name=f"{self._name}/{next(self._numbers)}",
                bundle_label_selector=[{_NODE_ID: device.rpartition("/")[0]}],
            )
            for device in devices
        }
        self._groups |= new
        for group in new.values():
            await group.ready()

    async def choose(
        self, needs: Sequence[EngineNeed], on: Mapping[str, str], within_s: float
    ) -> list[str]:
        """Have Ray choose GPUs for one replica of each of these; return those it found in time.

        Ray knows which GPUs others use, and asks its autoscaler for those that are lacking.
        """
        from ray.util.placement_group import placement_group, remove_placement_group

        selector = labels.for_ray(on)
        groups = [
            placement_group(
                [{"GPU": 1}] * need.devices,
                strategy="STRICT_PACK" if need.nodes == 1 else "PACK",
                name=f"{self._name}/{next(self._numbers)}",
                **({"bundle_label_selector": [selector] * need.devices} if selector else {}),
            )
            for need in needs
        ]
        waiting = [asyncio.ensure_future(_ready(group)) for group in groups]
        await asyncio.wait(waiting, timeout=within_s)
        found: list[str] = []
        for need, group, wait in zip(needs, groups, waiting, strict=True):
            if not wait.done() or wait.exception():
                wait.cancel()
                remove_placement_group(group)
                continue
            devices = await _devices_of(group, need.devices)
            self._groups |= dict.fromkeys(devices, group)
            found += devices
        return found

    def know(self, nodes: Sequence[Node]) -> None:
        """Take in what memory devices have that Ray has chosen."""
        self._gib |= {it.name: it.memory_gib for node in nodes for it in node.devices}

    def forget(self, devices: Iterable[str]) -> None:
        """Give devices up that are gone, or that others use.

        Of a node that died Ray would go on to ask for them, and take them when it comes back.
        """
        devices = [*devices]
        self.release(devices)
        for device in devices:
            self._gib.pop(device, None)

    def release(self, devices: Iterable[str]) -> None:
        """Give devices back to Ray, which gives them to an engine of ours."""
        from ray.util.placement_group import remove_placement_group

        for device in devices:
            if (group := self._groups.pop(device, None)) is not None:
                remove_placement_group(group)


def only(nodes: Sequence[Node], devices: Iterable[str]) -> list[Node]:
    """Return the nodes with these of their devices."""
    chosen = {*devices}
    found = [
        replace(node, devices=tuple(it for it in node.devices if it.name in chosen))
        for node in nodes
    ]
    return [node for node in found if node.devices]


def taken(devices: int, within_s: float, setting: str = "") -> Problem:
    """Return the problem of GPUs that others use."""
    return Problem(
        "resources.gpus",
        f"{devices} GPUs did not become free within {setting}{within_s:g} s: others use them",
    )


async def _ready(group: Any) -> None:
    await group.ready()


async def _devices_of(group: Any, number: int) -> list[str]:
    """Return the names of the devices that a placement group has."""
    import ray
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    asked = ray.remote(_own_device)
    return [
        *await asyncio.gather(
            *(
                asked.options(
                    num_cpus=0,
                    num_gpus=1,
                    scheduling_strategy=PlacementGroupSchedulingStrategy(
                        group, placement_group_bundle_index=index
                    ),
                ).remote()
                for index in range(number)
            )
        )
    ]


def _own_device() -> str:
    """Return the name of the device that Ray gave to this task."""
    import ray

    context = ray.get_runtime_context()
    (gpu,) = context.get_accelerator_ids()["GPU"]
    return f"{context.get_node_id()}/gpu{gpu}"
