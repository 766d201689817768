"""The devices that engines share: what there is of their memory, and who takes or will take it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from raybench.fleet.resident import Leaver, Resident
from raybench.fleet.turns import Demand, Device, State

TOLERANCE = 1e-9


class Memory:
    """That of the devices that are there: nodes come and go."""

    def __init__(self, devices: Sequence[Device]) -> None:
        """Begin with these."""
        self._devices = {device.name: device for device in devices}

    def __len__(self) -> int:
        return len(self._devices)

    def add(self, devices: Sequence[Device]) -> None:
        """Take in devices that have come."""
        self._devices |= {device.name: device for device in devices}

    def drop(self, names: Iterable[str]) -> None:
        """Forget devices that are gone."""
        for name in names:
            self._devices.pop(name, None)

    def node(self, devices: Sequence[str]) -> str:
        """Return the node of devices that an engine has."""
        return self._devices[devices[0]].node

    def sets(self, demand: Demand) -> Iterator[tuple[str, ...]]:
        """Yield the sets of devices that could hold an engine by itself."""
        nodes: dict[str, list[Device]] = {}
        for device in self._devices.values():
            if demand.memory_gib <= device.memory_gib + TOLERANCE:
                nodes.setdefault(device.node, []).append(device)
        for devices in nodes.values():
            for chosen in combinations(devices, demand.devices):
                yield tuple(device.name for device in chosen)

    def too_big(self, demand: Demand) -> str:
        """Say why an engine fits nowhere."""
        largest = max((device.memory_gib for device in self._devices.values()), default=0.0)
        return (
            f"engine {demand.engine} needs {demand.memory_gib:.1f} GiB on {demand.devices} "
            f"device{'s' * (demand.devices > 1)} of one node; there are {len(self._devices)}, the "
            f"largest with {largest:.1f} GiB. Spread it over more devices (tensor_parallel_size), "
            "lower its KV cache (fleet.kv_cache_gib), or choose a smaller model"
        )

    def held(self, engines: Iterable[Resident]) -> dict[str, float]:
        """Return what these have of each device now."""
        return self._sum((engine, engine.takes_gib) for engine in engines)

    def claimed(
        self, engines: Iterable[Resident], leaving: Mapping[str, Leaver]
    ) -> dict[str, float]:
        """Return what these will have of each device when those who leave are gone."""
        return self._sum((engine, _claim(engine, leaving.get(engine.name))) for engine in engines)

    def fits(self, demand: Demand, devices: Sequence[str], taken: Mapping[str, float]) -> bool:
        """Tell whether there is room on all of these, beside what is taken."""
        return all(
            taken[name] + demand.memory_gib <= self._devices[name].memory_gib + TOLERANCE
            for name in devices
        )

    def _sum(self, parts: Iterable[tuple[Resident, float]]) -> dict[str, float]:
        total = dict.fromkeys(self._devices, 0.0)
        for engine, gib in parts:
            for device in engine.devices:
                total[device] += gib
        return total


def _claim(engine: Resident, leaver: Leaver | None) -> float:
    if leaver:
        return 0.0 if leaver.unload or not engine.demand.can_sleep else engine.demand.asleep_gib
    if engine.state in (State.WANTED, State.ARRIVING, State.AWAKE):
        return engine.demand.memory_gib
    return engine.demand.asleep_gib if engine.level else 0.0
