"""What a replica takes of its GPUs and of host memory, measured before and after each move."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from raybench.fleet.devices import GIB
from raybench.fleet.gpus import DeviceUse, device_uses


@dataclass(frozen=True, slots=True)
class ReplicaMemory:
    """What a replica takes after a move, in GiB."""

    device_gib: float
    """Of that of its devices of which it takes most."""
    host_gib: float
    """By how much its processes have grown in host memory."""


class MemoryMeter:
    """Measures the moves of one replica. Nobody else moves on its devices meanwhile.

    NVML names the processes on a GPU. Where it does not, as in containers with process ids of their
    own, the use of the whole GPU before and after a move is compared.
    """

    def __init__(
        self,
        devices: Sequence[str],
        read_devices: Callable[[Sequence[str]], Sequence[DeviceUse]] = device_uses,
        read_processes: Callable[[], Mapping[int, float]] | None = None,
    ) -> None:
        """Measure these devices, named as CUDA_VISIBLE_DEVICES names them; none: measure nothing.

        read_processes: returns the GiB that each process of the replica takes of host memory.
        """
        self._devices = devices
        self._read_devices = read_devices
        self._read_processes = read_processes or own_processes
        self._held = [0.0] * len(devices)
        self._foreign: list[frozenset[int]] | None = None
        """Ids that NVML named on each device before the first move: not those of the replica."""
        self._before: _Reading | None = None

    async def begin(self) -> None:
        """Read what is taken before a move."""
        self._before = await asyncio.to_thread(self._read)
        if self._foreign is None and self._before is not None:
            self._foreign = [frozenset(it.by_process) for it in self._before.devices]

    async def end(self) -> ReplicaMemory | None:
        """Return what the replica takes after the move; None where that cannot be measured."""
        before, after = self._before, await asyncio.to_thread(self._read)
        if before is None or after is None or self._foreign is None:
            return None
        for place, (was, now) in enumerate(zip(before.devices, after.devices, strict=True)):
            own = after.processes.keys() - self._foreign[place]
            if named := sum(now.by_process.get(process, 0.0) for process in own):
                self._held[place] = named
            else:
                self._held[place] += now.used_gib - was.used_gib
        if (device_gib := max(self._held)) <= 0:
            return None
        grown = sum(after.processes.values()) - sum(before.processes.values())
        return ReplicaMemory(device_gib, max(grown, 0.0))

    def _read(self) -> "_Reading | None":
        if not self._devices:
            return None
        try:
            return _Reading(self._read_devices(self._devices), self._read_processes())
        except Exception:  # of the driver or its package: estimates have to do
            return None


@dataclass(frozen=True, slots=True)
class _Reading:
    devices: Sequence[DeviceUse]
    processes: Mapping[int, float]


def own_processes() -> dict[int, float]:
    """Return the GiB of host memory of this process and of all that it started, by their ids."""
    import psutil

    own = psutil.Process()
    found = {}
    for process in (own, *own.children(recursive=True)):
        try:
            found[process.pid] = process.memory_info().rss / GIB
        except psutil.NoSuchProcess:
            continue
    return found
