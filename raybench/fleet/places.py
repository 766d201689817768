"""What a cluster has to hold engines, and what each engine takes of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from raybench.config import FleetConf
from raybench.errors import Problem
from raybench.fleet.devices import elsewhere, gpus, memory_gib, on_gpu
from raybench.fleet.engines import EngineSpec, cpu_gib, gpus_of, of_hub, weights_gib
from raybench.fleet.residency import Residency
from raybench.fleet.turns import Demand, Device, Rules, State

ASLEEP_GIB = 1.5
"""What a sleeping vLLM leaves on each GPU: the CUDA context, compiled graphs, buffers."""
_CPU_LOAD_S, _GPU_LOAD_S = 40.0, 90.0
_ANY_GIB = 80.0


@dataclass(frozen=True, slots=True)
class Node:
    """A machine of the cluster."""

    id: str
    """Ray's: several raylets of one machine share an address."""
    memory_gib: float
    gpus_gib: Mapping[str, float] = field(default_factory=dict)
    """Memory of each of its GPUs, by the id that CUDA_VISIBLE_DEVICES takes."""
    problems: tuple[Problem, ...] = ()
    """What keeps engines from starting on its GPUs, which are then not among those above."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What the keeper works with."""

    devices: tuple[Device, ...]
    demands: tuple[Demand, ...]
    places: Mapping[str, tuple[str, str]] | None
    """By device, its node and its id there; None where every engine has devices of its own."""
    rules: Rules


def layout(
    engines: Sequence[EngineSpec],
    nodes: Sequence[Node],
    conf: FleetConf,
    *,
    gpu: bool,
    sizes: Mapping[str, float] = MappingProxyType({}),
) -> Layout:
    """Lay the engines out on the nodes, and find out whether all of them fit side by side.

    sizes: GiB of the weights that are not here yet, by engine, as far as anybody knows.
    """
    rules = Rules(
        patience_s=conf.patience_s,
        linger_s=conf.linger_s,
        host_gib=(
            conf.sleep_gib
            if conf.sleep_gib is not None
            # Of nodes without a GPU, such as a small head, none sleeps.
            else min((it.memory_gib for it in nodes if it.gpus_gib or not gpu), default=0.0) / 2
        ),
    )
    devices, places = devices_of(nodes, conf, gpu=gpu)
    smallest = min((device.memory_gib for device in devices), default=0.0)
    demands = tuple(
        _demand(engine, conf, smallest, sizes.get(engine.name, 0.0), gpu=gpu) for engine in engines
    )
    if gpu:
        # As many GPUs as the engines ask for, or a cluster that adds them when they are asked for.
        apart = not devices or sum(map(gpus_of, engines)) <= len(devices)
    else:
        apart = len(awake(devices, demands)) == len(engines)
    if apart and not (gpu and devices and conf.slots):
        # Ray places them, also over several nodes: to the policy each has a device of its own.
        devices = tuple(Device(engine.name, 1.0) for engine in engines)
        demands = tuple(replace(demand, memory_gib=1.0, devices=1) for demand in demands)
        return Layout(devices, demands, None, rules)
    return Layout(devices, demands, places, rules)


def devices_of(
    nodes: Sequence[Node], conf: FleetConf, *, gpu: bool
) -> tuple[tuple[Device, ...], dict[str, tuple[str, str]]]:
    """Return what these nodes hold engines in, and of each its node and its id there."""
    places: dict[str, tuple[str, str]] = {}
    devices = []
    for node in nodes:
        for ident, gib in (node.gpus_gib if gpu else {"": node.memory_gib}).items():
            name = f"{node.id}/{'gpu' if gpu else 'cpu'}{ident}"
            places[name] = (node.id, ident)
            # On CPUs with fleet.slots set, engines are counted instead of weighed.
            devices.append(Device(name, gib if gpu else conf.slots or gib, node.id))
    return tuple(devices), places


def awake(devices: Sequence[Device], demands: Sequence[Demand]) -> list[str]:
    """Return the engines that are awake side by side from the beginning."""
    trial = Residency(devices, demands)
    trial.preload(0.0)
    return [d.engine for d in demands if trial.state(d.engine) is State.ARRIVING]


def _demand(
    engine: EngineSpec, conf: FleetConf, device_gib: float, weights: float, *, gpu: bool
) -> Demand:
    if not gpu:
        needed = 1 if conf.slots else cpu_gib(engine, conf, weights)
        return Demand(engine.name, needed, load_s=_CPU_LOAD_S, leave_s=5.0)
    weights = weights or weights_gib(engine.weights)
    degree = gpus_of(engine)
    share = engine.options.get("gpu_memory_utilization")
    if conf.slots:
        # So much that no more fit side by side, and that what sleepers leave behind still counts.
        each = max(conf.memory_share / conf.slots, 1.01 / (conf.slots + 1)) * device_gib
    elif isinstance(share, int | float):
        each = float(share) * device_gib
    elif conf.kv_cache_gib and weights:
        # The smallest it can do with: several engines may be awake on one GPU.
        each = weights * 1.1 / degree + conf.kv_cache_gib + ASLEEP_GIB
    else:
        each = conf.memory_share * device_gib
    return Demand(
        engine.name,
        each,
        devices=degree,
        can_sleep=True,
        asleep_gib=ASLEEP_GIB,
        # Where nobody knows, as much as the GPUs could hold.
        host_gib=weights or each * degree,
        load_s=_GPU_LOAD_S,
    )


def slots(engines: Sequence[EngineSpec], conf: FleetConf) -> int | None:
    """Return how many of these are awake at once on this machine; None where nobody knows yet.

    What a cluster has shows once it is reached, and what weights of the hub take on a CPU once they
    are weighed there. A GPU's memory is not asked for beforehand: engines are weighed by their
    share of it alone.
    """
    hosted = [engine for engine in engines if engine.kind == "vllm"]
    others = len(engines) - len(hosted)
    gpu = on_gpu(conf)
    unweighed = not gpu and not conf.slots and any(of_hub(engine.weights) for engine in hosted)
    if hosted and (elsewhere(conf) or unweighed):
        return None
    if gpu:
        conf = replace(conf, kv_cache_gib=None)
    here = Node("", memory_gib(), dict.fromkeys(gpus(), _ANY_GIB) if gpu else {})
    found = layout(hosted, [here], conf, gpu=gpu)
    return others + len(awake(found.devices, found.demands))
