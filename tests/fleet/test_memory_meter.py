"""What a replica takes of its GPUs is measured, also where NVML does not know its processes."""

import os
from collections.abc import Mapping, Sequence

import pytest

from raybench.fleet.gpus import DeviceUse
from raybench.fleet.memory_meter import MemoryMeter, own_processes

pytestmark = pytest.mark.virtual_time

FOREIGN, WORKER, OTHER_WORKER = 7, 11, 12


class Gpus:
    """GPUs whose processes have these GiB, and the replica's processes in host memory."""

    def __init__(self, *devices: Mapping[int, float], are_named: bool = True) -> None:
        self.taken = [dict(device) for device in devices]
        self.are_named = are_named
        self.host = {WORKER: 1.0}

    def read(self, devices: Sequence[str]) -> list[DeviceUse]:
        return [
            DeviceUse(sum(it.values()), dict(it) if self.are_named else {}) for it in self.taken
        ]

    def meter(self) -> MemoryMeter:
        return MemoryMeter([str(n) for n in range(len(self.taken))], self.read, lambda: self.host)


@pytest.mark.parametrize("are_named", [True, False])
async def test_load_sleep_and_wake_are_measured_beside_others(are_named: bool) -> None:
    gpus = Gpus({FOREIGN: 30.0}, are_named=are_named)
    meter, found = gpus.meter(), list[float]()
    for gib in (20.0, 2.0, 21.0, 3.0):
        await meter.begin()
        gpus.taken[0][WORKER] = gib
        measured = await meter.end()
        assert measured is not None
        found.append(measured.device_gib)
        gpus.taken[0][FOREIGN] += 5.0  # between moves others move
    assert found == [20.0, 2.0, 21.0, 3.0]


async def test_of_several_devices_the_one_counts_of_which_most_is_taken() -> None:
    gpus = Gpus({}, {})
    gpus.host[OTHER_WORKER] = 1.0
    meter = gpus.meter()
    await meter.begin()
    gpus.taken = [{WORKER: 9.0}, {OTHER_WORKER: 8.0}]
    measured = await meter.end()
    assert measured is not None
    assert measured.device_gib == 9.0


async def test_an_id_that_nvml_named_before_the_load_is_that_of_another_process() -> None:
    """In a container NVML may give the ids that processes have on the host."""
    gpus = Gpus({WORKER: 30.0})
    meter = gpus.meter()
    await meter.begin()
    gpus.taken[0][99] = 20.0
    measured = await meter.end()
    assert measured is not None
    assert measured.device_gib == 20.0


async def test_the_host_memory_of_a_sleep_is_that_by_which_the_processes_grew() -> None:
    gpus = Gpus({WORKER: 20.0})
    meter = gpus.meter()
    await meter.begin()
    gpus.host = {WORKER: 16.0, OTHER_WORKER: 1.0}
    gpus.taken[0][OTHER_WORKER] = 1.0
    measured = await meter.end()
    assert measured is not None
    assert measured.host_gib == 16.0


async def test_nothing_is_measured_without_devices_an_answer_or_a_use() -> None:
    def fail(devices: Sequence[str]) -> Sequence[DeviceUse]:
        raise OSError("NVML Shared Library Not Found")

    for meter in (MemoryMeter([]), MemoryMeter(["0"], fail), Gpus({FOREIGN: 1.0}).meter()):
        await meter.begin()
        assert await meter.end() is None


def test_the_processes_of_a_replica_are_its_own_and_those_it_started() -> None:
    assert own_processes()[os.getpid()] > 0
