"""The memory that a virtual engine takes of its devices, when vLLM does. Paths are below vllm/."""

import math
from collections.abc import Iterable, Sequence

from perf.rig.devices import (
    GIB,
    HOST,
    DeviceMemory,
    OutOfDeviceMemoryError,
    format_gib,
    out_of_memory,
)
from perf.rig.profile import EngineProfile

TOO_LITTLE_FREE = (
    "Free memory on device {device} ({free}/{total} GiB) on startup is less than desired GPU "
    "memory utilization ({share}, {wanted} GiB). Decrease GPU memory utilization or reduce GPU "
    "memory used by other processes."
)
MEMORY_WAS_FREED = (
    "Error in memory profiling. Initial free memory {before} GiB, current free memory {now} GiB. "
    "This happens when other processes sharing the same container release GPU memory while vLLM "
    "is profiling during initialization. To fix this, ensure consistent GPU memory allocation or "
    "isolate vLLM in its own container."
)
NO_CACHE_MEMORY = (
    "No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when "
    "initializing the engine (this flag also controls CPU memory reservation on the CPU backend, "
    "despite its name). See https://docs.vllm.ai/en/latest/configuration/conserving_memory/ for "
    "more details."
)
NOT_FREED = "Memory usage increased after sleeping."
# By csrc/cumem_allocator.cpp, which is not installed: github.com/vllm-project/vllm/issues/13941
NO_MEMORY_TO_WAKE = "CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62"
TAGS = frozenset({"weights", "kv_cache"})
"""What sleeps and wakes; the rest is freed, or stays."""


class EngineMemory:
    """What one engine has of each of its devices, and of its node's memory."""

    def __init__(
        self, profile: EngineProfile, memory: DeviceMemory, devices: Sequence[str], name: str
    ) -> None:
        self._profile, self._memory, self._devices, self._name = profile, memory, devices, name
        self._free_at_start: dict[str, int] = {}
        self._requested: dict[str, int] = {}
        self._kv = 0
        self._weights = round(profile.weights_gib * GIB / len(devices))

    def begin(self) -> None:
        """Take what is there before vLLM looks at its devices, and see what it may take then.

        (v1/worker/gpu_worker.py:414)
        """
        several = len(self._devices) > 1
        for device in self._devices:
            self._take(device, "context", self._profile.context_gib)
            communication = self._profile.communication_gib if several else 0.0
            self._take(device, "communication", communication)
        self._free_at_start = {device: self._memory.free(device) for device in self._devices}
        for device, free in self._free_at_start.items():
            self._requested[device] = self._request(device, free)

    def load_weights(self) -> None:
        """Take the memory of the weights."""
        for device in self._devices:
            self._memory.take(self._name, device, "weights", self._weights)

    def begin_profile(self) -> None:
        """Take what the largest step needs (v1/worker/gpu_worker.py:557)."""
        for device in self._devices:
            self._take(device, "activations", self._profile.activation_gib)

    def end_profile(self) -> None:
        """Measure what is left for the KV cache, and take it."""
        for device in self._devices:
            self._memory.give_back(self._name, device, "activations")
        if self._profile.kv_gib is not None:  # v1/worker/gpu_worker.py:527
            self._kv = round(self._profile.kv_gib * GIB)
        else:
            self._kv = min(
                self._requested[device] - self._consumed(device) for device in self._devices
            )
        if self._kv <= 0:  # v1/core/kv_cache_utils.py:858
            raise ValueError(NO_CACHE_MEMORY)
        for device in self._devices:
            self._memory.take(self._name, device, "kv_cache", self._kv)
            self._take_graphs(device)

    def out_of_memory(self) -> OutOfDeviceMemoryError:
        """Return what PyTorch raises where a device has no memory for the weights."""
        device = self._devices[0]
        return out_of_memory(device, self._weights, 0, self._memory.total(device))

    def pin(self) -> None:
        """Copy the weights to the host's memory; raises OutOfDeviceMemoryError."""
        pinned = round(self._profile.weights_gib * self._profile.pinned_factor * GIB)
        pinned -= self._memory.held(self._name, HOST).get("pinned", 0)  # kept since the last time
        self._memory.take(self._name, HOST, "pinned", pinned)

    def unpin(self) -> None:
        """Free the host's memory, unless it stays with the process."""
        if not self._profile.keeps_pinned:
            self._memory.give_back(self._name, HOST, "pinned")

    def leave(self, leaked_gib: float) -> None:
        """Give the devices back, but for what vLLM does not free, and for what is leaked."""
        left = round(self._profile.left_asleep_gib * GIB)
        for device in self._devices:
            for part in ("weights", "kv_cache", "graphs", "activations"):
                self._memory.give_back(self._name, device, part)
            parts = self._memory.held(self._name, device)
            rest = max(0, left - parts["context"] - parts["communication"])
            self._memory.take(self._name, device, "asleep", rest)
            if leaked_gib:
                self._take(device, "leaked", leaked_gib)

    def free(self) -> list[int]:
        """Return the bytes that are free on each device."""
        return [self._memory.free(device) for device in self._devices]

    def take_back(self, tags: Iterable[str]) -> None:
        """Take memory again for what wakes: all of it, or none where it is not there."""
        sizes = {"weights": self._weights, "kv_cache": self._kv}
        wanted = {tag: sizes[tag] for tag in tags}
        if any(free < sum(wanted.values()) for free in self.free()):
            raise RuntimeError(NO_MEMORY_TO_WAKE)
        for device in self._devices:
            for tag, size in wanted.items():
                self._memory.take(self._name, device, tag, size)

    def end_sleep(self) -> None:
        """Take what a running engine has besides weights and cache, for what a sleeper has."""
        for device in self._devices:
            self._memory.give_back(self._name, device, "asleep")
            self._take_graphs(device)

    def end(self) -> None:
        """Give everything back, as at the end of the process."""
        self._memory.end(self._name)

    def _request(self, device: str, free: int) -> int:
        """Return the memory that vLLM allows itself (v1/worker/utils.py:516)."""
        total, share = self._memory.total(device), self._profile.gpu_memory_utilization
        requested = math.ceil(total * share)
        if free < requested:
            sizes = {"free": free, "total": total, "wanted": requested}
            given = {name: format_gib(size) for name, size in sizes.items()}
            number = self._devices.index(device)
            raise ValueError(TOO_LITTLE_FREE.format(device=f"cuda:{number}", share=share, **given))
        return requested

    def _consumed(self, device: str) -> int:
        """Return what vLLM takes to be its own besides the KV cache.

        It is what the whole device has less than at the start: also what others took meanwhile
        (utils/mem_utils.py:317).
        """
        before, now = self._free_at_start[device], self._memory.free(device)
        if now > before:  # v1/worker/gpu_worker.py:585
            sizes = {"before": format_gib(before), "now": format_gib(now)}
            raise AssertionError(MEMORY_WAS_FREED.format(**sizes))
        own = self._profile.activation_gib + self._profile.graphs_gib
        return before - now + round(own * GIB)

    def _take_graphs(self, device: str) -> None:
        self._take(device, "graphs", self._profile.graphs_gib)
        self._take(device, "activations", self._profile.activation_gib)

    def _take(self, device: str, part: str, gib: float) -> None:
        self._memory.take(self._name, device, part, round(gib * GIB))
