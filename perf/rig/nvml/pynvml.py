"""A stand-in for `pynvml` on nodes of the rig: it reads the memory of their virtual GPUs.

It has what raybench asks of NVML. Only processes of these nodes have its folder on PYTHONPATH.
"""

from dataclasses import dataclass

from perf.rig.devices import SharedDeviceMemory
from perf.rig.node import memory

NVML_DEVICE_MIG_DISABLE = 0
_DRIVER = "580.95.05"
_UUID = "GPU-00000000-0000-0000-0000-{:012d}"


class NVMLError(Exception):
    """What NVML raises."""


@dataclass(frozen=True)
class Device:
    """The handle of a device."""

    index: int


@dataclass(frozen=True)
class Memory:
    """The memory of a device in bytes."""

    total: int
    free: int
    used: int


@dataclass(frozen=True)
class Process:
    """A process that has memory of a device."""

    pid: int
    usedGpuMemory: int


def nvmlInit() -> None:
    """Begin."""


def nvmlShutdown() -> None:
    """End."""


def nvmlSystemGetDriverVersion() -> str:
    """Return the version of the driver."""
    return _DRIVER


def nvmlDeviceGetCount() -> int:
    """Return the number of devices."""
    return len(memory().devices)


def nvmlDeviceGetHandleByIndex(index: int) -> Device:
    """Return the handle of a device."""
    if not 0 <= index < nvmlDeviceGetCount():
        raise NVMLError("Invalid Argument")
    return Device(index)


def nvmlDeviceGetHandleByUUID(uuid: str) -> Device:
    """Return the handle of a device."""
    for index in range(nvmlDeviceGetCount()):
        if _UUID.format(index) == uuid:
            return Device(index)
    raise NVMLError("Not Found")


def nvmlDeviceGetUUID(handle: Device) -> str:
    """Return the UUID of a device."""
    return _UUID.format(handle.index)


def nvmlDeviceGetName(handle: Device) -> str:
    """Return the name of a device."""
    return "Virtual GPU"


def nvmlDeviceGetCudaComputeCapability(handle: Device) -> tuple[int, int]:
    """Return what a device can do: as much as an H100."""
    return 9, 0


def nvmlDeviceGetMemoryInfo(handle: Device) -> Memory:
    """Return the memory of a device, all processes together."""
    books: SharedDeviceMemory = memory()
    total, free = books.total(str(handle.index)), books.free(str(handle.index))
    return Memory(total, free, total - free)


def nvmlDeviceGetComputeRunningProcesses(handle: Device) -> list[Process]:
    """Return the processes that have memory of a device."""
    return [Process(*it) for it in memory().processes(str(handle.index)).items()]


def nvmlDeviceGetMigMode(handle: Device) -> tuple[int, int]:
    """Return whether the device is cut into MIG instances, now and after a restart."""
    return NVML_DEVICE_MIG_DISABLE, NVML_DEVICE_MIG_DISABLE
