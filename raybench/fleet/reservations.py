"""GPUs that are kept from others for as long as a run has engines on them.

The controller puts engines on GPUs, not Ray, which would give these GPUs to others. Placement
groups keep them. Ray drops these with the driver, or with the controller of an endpoint.
"""

import asyncio
import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any
from uuid import uuid4

from raybench.config import FleetConf, labels
from raybench.engines.scheduler.messages import EngineNeed, Node
from raybench.errors import Problem, RunFailed
from raybench.fleet.cluster import nodes
from raybench.fleet.needs import nodes_of

_NODE_ID = "ray.io/node-id"
_TRIES, _AGAIN_S = 10, 5.0
"""How often chosen nodes are asked again what they have. Within that time Ray knows who died."""


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
        self._labels: dict[str, Mapping[str, str]] = {}
        """Of the nodes on which Ray chose a device, as far as its engine asks for any."""

    @property
    def devices(self) -> frozenset[str]:
        """Return the names of all devices."""
        return frozenset(self._gib)

    def memory_gib(self, device: str) -> float:
        """Return the memory of a device."""
        return self._gib[device]

    def labels_of(self, devices: Iterable[str]) -> Mapping[str, str]:
        """Return the labels of nodes by which these devices were chosen for an engine."""
        return next((self._labels[it] for it in sorted(devices) if it in self._labels), {})

    def groups_of(self, devices: Iterable[str]) -> list[frozenset[str]]:
        """Return these devices by the group that keeps them, with all others that it keeps."""
        wanted, by_group = {*devices}, dict[object, set[str]]()
        for device in self.devices:
            group = self._groups.get(device)
            by_group.setdefault(device if group is None else id(group), set()).add(device)
        return [frozenset(together) for together in by_group.values() if together & wanted]

    async def reserve(self, nodes: Sequence[Node], within_s: float, setting: str = "") -> None:
        """Keep all devices of these nodes; raise RunFailed if they do not become free in time."""
        devices = {device.name: device.memory_gib for node in nodes for device in node.devices}
        self._gib |= devices
        try:
            async with asyncio.timeout(within_s):
                await self.take(devices)
        except BaseException as error:
            self.forget(devices)
            if isinstance(error, TimeoutError):
                raise RunFailed(taken(len(devices), within_s, setting)) from error
            raise

    async def take(self, devices: Iterable[str]) -> None:
        """Wait until these devices are kept from others, but for those that are gone."""
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
            if device in self._gib
        }
        self._groups |= new
        for group in new.values():
            await group.ready()

    async def choose(
        self, needs: Sequence[EngineNeed], conf: FleetConf, within_s: float
    ) -> tuple[Node, ...]:
        """Have Ray choose GPUs for one replica of each of these; return those it found in time.

        Ray knows which GPUs others use, and asks its autoscaler for those that are lacking.
        """
        from ray.util.placement_group import placement_group, remove_placement_group

        selectors = [labels.for_ray({**conf.nodes, **need.on}) for need in needs]
        groups = [
            placement_group(
                [{"GPU": 1}] * need.devices,
                strategy="STRICT_PACK" if need.nodes == 1 else "PACK",
                name=f"{self._name}/{next(self._numbers)}",
                **({"bundle_label_selector": [selector] * need.devices} if selector else {}),
            )
            for need, selector in zip(needs, selectors, strict=True)
        ]
        waiting = [asyncio.ensure_future(_ready(group)) for group in groups]
        kept: dict[str, Any] = {}
        on: dict[str, Mapping[str, str]] = {}
        try:
            await asyncio.wait(waiting, timeout=within_s)
            for need, group, wait in zip(needs, groups, waiting, strict=True):
                if wait.done():
                    with contextlib.suppress(Exception):  # its node died
                        await wait
                        names = await _devices_of(group, need.devices)
                        kept |= dict.fromkeys(names, group)
                        on |= dict.fromkeys(names, need.on)
            chosen = only(await _ask(kept, conf), kept)
            self._gib |= {it.name: it.memory_gib for node in chosen for it in node.devices}
            self._groups |= {name: kept[name] for name in kept if name in self._gib}
            self._labels |= {name: on[name] for name in on if name in self._gib}
            return chosen
        finally:
            useful = [*self._groups.values()]  # other threads give devices back
            for group, wait in zip(groups, waiting, strict=True):
                wait.cancel()
                if group not in useful:
                    remove_placement_group(group)

    def forget(self, devices: Iterable[str]) -> None:
        """Give devices up that are gone, or that others use.

        Of a node that died Ray would go on to ask for them, and take them when it comes back.
        """
        devices = [*devices]
        self.release(devices)
        for device in devices:
            self._gib.pop(device, None)
            self._labels.pop(device, None)

    def release(self, devices: Iterable[str]) -> None:
        """Give devices back to Ray, which gives them to a replica of this run."""
        from ray.util.placement_group import remove_placement_group

        groups = [self._groups.pop(device) for device in devices if device in self._groups]
        for group in {id(group): group for group in groups}.values():
            remove_placement_group(group)


def only(nodes: Sequence[Node], devices: Iterable[str]) -> tuple[Node, ...]:
    """Return the nodes with these of their devices."""
    chosen = {*devices}
    found = [
        replace(node, devices=tuple(it for it in node.devices if it.name in chosen))
        for node in nodes
    ]
    return tuple(node for node in found if node.devices)


def taken(devices: int, within_s: float, setting: str = "") -> Problem:
    """Return the problem of GPUs that others use."""
    return Problem(
        "resources.gpus",
        f"{devices} GPUs did not become free within {setting}{within_s:g} s: others use them",
    )


async def _ready(group: Any) -> None:
    await group.ready()


async def _ask(devices: Iterable[str], conf: FleetConf) -> tuple[Node, ...]:
    """Return the nodes of these devices. One that cannot be asked is asked again."""
    where = {device.rpartition("/")[0] for device in devices}
    for _ in range(_TRIES):
        with contextlib.suppress(Exception):  # a node that died is asked before Ray knows
            found = await asyncio.to_thread(nodes, conf, gpu=True, only=where)
            return nodes_of(found, conf, gpu=True)
        await asyncio.sleep(_AGAIN_S)
    return nodes_of(await asyncio.to_thread(nodes, conf, gpu=True, only=where), conf, gpu=True)


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
