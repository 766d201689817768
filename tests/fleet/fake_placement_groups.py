"""Placement groups as Ray gives them, on nodes that a test makes up."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from types import SimpleNamespace

import pytest

from raybench.config import FleetConf, labels
from raybench.fleet import reservations
from raybench.fleet.devices import Machine

_NODE_ID = "ray.io/node-id"
Selectors = Sequence[Mapping[str, str]]


class FakeGroup:
    """A placement group, with the devices that it has."""

    def __init__(
        self, bundles: Sequence[Mapping[str, float]], strategy: str, name: str, on: Selectors
    ) -> None:
        self.bundles, self.strategy, self.name = bundles, strategy, name
        self.on = on or [{}] * len(bundles)
        self.devices: list[str] = []
        self.placed = asyncio.Event()

    async def ready(self) -> None:
        """Wait until it has its devices."""
        await self.placed.wait()


class FakeRay:
    """Nodes with GPUs, and the placement groups that have some of them or wait for some."""

    def __init__(self, **gpus: int) -> None:
        self.gpus = dict(gpus)
        self.busy: set[str] = set()
        """Devices that others use."""
        self.groups: list[FakeGroup] = []
        self.deaf = 0
        """How often nodes cannot be asked what they have."""
        self.unusable: set[str] = set()
        """Nodes on whose GPUs no engine can start."""

    def patch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Have reservations use it."""
        module = SimpleNamespace(
            placement_group=self.placement_group, remove_placement_group=self.remove
        )
        monkeypatch.setitem(sys.modules, "ray.util.placement_group", module)
        monkeypatch.setattr(reservations, "_devices_of", self._devices_of)
        monkeypatch.setattr(reservations, "nodes", self.machines)

    @property
    def kept(self) -> list[list[str]]:
        """Return the devices of each group, in alphabetical order."""
        return sorted(sorted(group.devices) for group in self.groups)

    def add(self, node: str, gpus: int) -> None:
        """Let a node come."""
        self.gpus[node] = gpus
        self._place()

    def kill(self, node: str) -> None:
        """Let a node die. As in Ray, groups wait for others in the place of its devices."""
        del self.gpus[node]

    def free(self, *devices: str) -> None:
        """Let others give devices back."""
        self.busy -= {*devices}
        self._place()

    def placement_group(
        self,
        bundles: Sequence[Mapping[str, float]],
        strategy: str = "PACK",
        name: str = "",
        bundle_label_selector: Selectors = (),
    ) -> FakeGroup:
        group = FakeGroup(bundles, strategy, name, bundle_label_selector)
        self.groups.append(group)
        self._place()
        return group

    def remove(self, group: FakeGroup) -> None:
        self.groups.remove(group)
        self._place()

    def machines(
        self, conf: FleetConf, *, gpu: bool, only: set[str] | None = None
    ) -> list[Machine]:
        """Return the nodes, as raybench.fleet.cluster.nodes does."""
        if self.deaf:
            self.deaf -= 1
            raise ConnectionError("it is not up yet")
        there = self.gpus if only is None else self.gpus.keys() & only
        return [
            Machine(node, 8.0, {str(it): 80.0 for it in range(self.gpus[node])})
            for node in sorted(there)
            if node not in self.unusable
        ]

    async def _devices_of(self, group: FakeGroup, number: int) -> list[str]:
        assert len(group.devices) == number
        return group.devices

    def _place(self) -> None:
        for group in self.groups:
            if not group.placed.is_set() and (devices := self._fitting(group)):
                group.devices = devices
                group.placed.set()

    def _fitting(self, group: FakeGroup) -> list[str]:
        taken = self.busy.union(*(other.devices for other in self.groups))
        free = {
            node: [it for it in (f"{node}/gpu{n}" for n in range(count)) if it not in taken]
            for node, count in self.gpus.items()
        }
        for nodes in [[node] for node in free] + [[*free]] * (group.strategy == "PACK"):
            left = {node: [*free[node]] for node in nodes}
            devices = []
            for on in group.on:
                fits = (it for it in left if left[it] and labels.chosen({_NODE_ID: it}, on))
                if (node := next(fits, None)) is not None:
                    devices.append(left[node].pop(0))
            if len(devices) == len(group.bundles):
                return devices
        return []
