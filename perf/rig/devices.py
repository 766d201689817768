"""Memory of the virtual GPUs of a node, and of its host."""

from collections import defaultdict
from collections.abc import Mapping

GIB = 1024**3
HOST = "host"
"""The name of the node's own memory, among those of its devices."""


class OutOfDeviceMemoryError(RuntimeError):
    """A device has less memory than is asked for. The text is PyTorch's."""


class DeviceMemory:
    """What is taken of the memory of a node's devices, by whom and for what. In whole bytes."""

    def __init__(self, gib: Mapping[str, float], *, host_gib: float = 1024.0) -> None:
        """Take the size of each device, by the id that CUDA_VISIBLE_DEVICES takes."""
        self._total = {name: _bytes(size) for name, size in {**gib, HOST: host_gib}.items()}
        self._taken: dict[str, dict[str, dict[str, int]]] = {
            name: defaultdict(dict) for name in self._total
        }

    @property
    def devices(self) -> tuple[str, ...]:
        """Return the ids of the devices."""
        return tuple(name for name in self._total if name != HOST)

    def total(self, device: str) -> int:
        """Return the bytes that a device has."""
        return self._total[device]

    def free(self, device: str) -> int:
        """Return the bytes of a device that nobody has taken."""
        taken = self._taken[device].values()
        return self._total[device] - sum(sum(parts.values()) for parts in taken)

    def held(self, owner: str, device: str) -> Mapping[str, int]:
        """Return the bytes that an owner has taken of a device, by what they are for."""
        return dict(self._taken[device].get(owner, {}))

    def take(self, owner: str, device: str, part: str, size: int) -> None:
        """Take bytes of a device for a part of an owner, in addition to what it has."""
        if size > (free := self.free(device)):
            raise OutOfDeviceMemoryError(
                f"CUDA out of memory. Tried to allocate {format_gib(size)} GiB. GPU {device} has a "
                f"total capacity of {format_gib(self._total[device])} GiB of which "
                f"{format_gib(free)} GiB is free."
            )
        parts = self._taken[device][owner]
        parts[part] = parts.get(part, 0) + size

    def give_back(self, owner: str, device: str, part: str) -> None:
        """Free what a part of an owner has of a device."""
        self._taken[device][owner].pop(part, None)

    def end(self, owner: str) -> None:
        """Free everything that an owner has, as the driver does when a process ends."""
        for by_owner in self._taken.values():
            by_owner.pop(owner, None)


def format_gib(size: int) -> str:
    """Return a number of bytes in GiB, written as vLLM does."""
    return f"{round(size / GIB, 2)}"


def _bytes(gib: float) -> int:
    return round(gib * GIB)
