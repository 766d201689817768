"""What the scheduler of engines needs to know of engines and nodes, and where a run would begin.

The memory of an engine is estimated from the sizes of its files. The first load measures it.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from raybench.config import FleetConf
from raybench.config.labels import chosen
from raybench.engines.base import DemandReport
from raybench.engines.scheduler import EngineScheduler
from raybench.engines.scheduler.messages import (
    Action,
    Device,
    DevicesLost,
    EngineNeed,
    Load,
    Loaded,
    MemoryBudget,
    Node,
    Reported,
    Rules,
    SleepLevel,
)
from raybench.errors import Code, Problem
from raybench.fleet import engines
from raybench.fleet.devices import (
    GIB,
    Machine,
    elsewhere,
    gpus,
    memory_gib,
    on_gpu,
)
from raybench.fleet.engines import EngineSpec, asked_replicas, gpus_of, is_path, of_hub
from raybench.paths import expanded
from raybench.statements import Statement
from raybench.types import JUDGING

# Estimates for vLLM 0.29 on GPUs.
_CONTEXT_GIB = 0.6
_GRAPHS_GIB = 1.5
_COMMUNICATION_GIB = 1.0
_BATCHED_TOKENS = 8192
"""What vLLM's server takes in one step on GPUs of 70 GiB and more; on smaller ones it is less."""
_HIDDEN, _VOCABULARY = 5120, 150_000
"""Assumed where config.json is not on this machine: sizes of a model of 14 billion parameters."""
_BYTES_PER_ACTIVATION = 4 * 4
_LOGIT_ROWS = 1024
_RELOADED_FORMATS = ("auto", "safetensors", "pt")
"""Formats of which an engine that dropped its weights can load them again; not all others do."""
_GPU_LOAD_S, _CPU_LOAD_S = 90.0, 40.0
_MOST_GPUS = 1024
_ANY_GIB = 1e6
"""Memory of a GPU that all weights fit into."""
_SHOWN = 8
"""Of a node's id, which Ray makes of 56 digits."""
_REQUESTS = 10**9
"""More than any run asks: each replica pays."""


def nodes_of(machines: Sequence[Machine], conf: FleetConf, *, gpu: bool) -> tuple[Node, ...]:
    """Return the machines that have devices, as the scheduler knows them.

    A device is named NODE/gpuID or NODE/cpu. On CPUs it is the machine's memory, or `fleet.slots`
    units of one engine each.
    """
    found = []
    for machine in machines:
        devices = (
            [Device(f"{machine.id}/gpu{ident}", gib) for ident, gib in machine.gpus_gib.items()]
            if gpu
            else [
                Device(f"{machine.id}/cpu", conf.slots or machine.memory_gib, exclusive_moves=False)
            ]
        )
        host_gib = machine.memory_gib / 2 if conf.sleep_gib is None else conf.sleep_gib
        if devices:
            found.append(Node(machine.id, tuple(devices), host_gib, machine.labels))
    return tuple(found)


def gpus_wanted(needs: Iterable[EngineNeed], nodes: Sequence[Node], conf: FleetConf) -> int | None:
    """Return how many GPUs a run takes; None where it takes all of these nodes.

    It takes all where engines take turns, or become as many replicas as there is room for. Where
    there is no GPU yet, one replica of each engine asks for its own.
    """
    needs = [*needs]
    there = sum(len(node.devices) for node in nodes)
    wanted = sum(need.devices * (need.replicas or 1) for need in needs)
    if conf.slots or (there and (wanted > there or any(it.replicas is None for it in needs))):
        return None
    return wanted


def needs_of(
    spec: EngineSpec,
    conf: FleetConf,
    nodes: Sequence[Node],
    *,
    gpu: bool,
    weights_gib: float = 0.0,
) -> EngineNeed | Problem:
    """Return what one replica of an engine needs, or why no GPU of these nodes can hold it.

    weights_gib: size of the weights' files; 0 where it is unknown. Without nodes, nothing is
    refused: they may still come.
    """
    asked = asked_replicas(spec, conf)
    is_referee = any(model.name.endswith(JUDGING) for model in spec.models)
    if not gpu:
        return EngineNeed(
            spec.name,
            _cpu_memory(spec, conf, weights_gib),
            # A second engine on the same cores makes both slower.
            replicas=1 if asked == "auto" else asked,
            on=spec.nodes,
            is_referee=is_referee,
            load_s=_CPU_LOAD_S,
        )
    nodes = [node for node in nodes if chosen(node.labels, spec.nodes)] or nodes
    if weights_gib := weights_gib or engines.weights_gib(spec.weights, spec.load_format):
        weights_gib += _draft_gib(spec.options)
    count = _count_nodes(spec, nodes)
    if count is None:
        return _too_many_gpus(spec, nodes)
    share, memory = _gpu_memory(spec, conf, weights_gib)
    devices = [device for node in nodes for device in node.devices]
    if devices and all(memory.weights > _room(device, share, memory) for device in devices):
        return _too_large(spec, devices, share, memory)
    levels: tuple[SleepLevel, ...] = (1, 2)
    if count > 1 or spec.options.get("enable_sleep_mode") is False:  # see llm_config
        levels = ()
    elif spec.load_format not in _RELOADED_FORMATS:
        levels = (1,)
    return EngineNeed(
        spec.name,
        memory,
        share=share,
        devices=gpus_of(spec),
        nodes=count,
        replicas=None if asked == "auto" else asked,
        on=spec.nodes,
        can_sleep=frozenset(levels),
        is_referee=is_referee,
        load_s=_GPU_LOAD_S,
    )


def _cpu_memory(spec: EngineSpec, conf: FleetConf, weights_gib: float) -> MemoryBudget:
    if conf.slots:  # engines are counted instead of weighed
        return MemoryBudget(0.0, context=1.0)
    total = engines.cpu_gib(spec, conf, weights_gib)
    kv = conf.kv_cache_gib or engines.CPU_KV_CACHE_GIB
    return MemoryBudget(total - kv - engines.RUNTIME_GIB, kv, context=engines.RUNTIME_GIB)


def _gpu_memory(
    spec: EngineSpec, conf: FleetConf, weights_gib: float
) -> tuple[float, MemoryBudget]:
    """Return the share of a GPU that an engine fills with KV cache, and what it takes at least.

    The share is 0 where the size of the KV cache is given.
    """
    options, degree = spec.options, gpus_of(spec)
    kv_bytes, own_share = (
        options.get("kv_cache_memory_bytes"),
        options.get("gpu_memory_utilization"),
    )
    share, kv = conf.memory_share, 0.0
    if conf.slots:
        # So large that no more engines fit, and small enough for what sleepers leave behind.
        share = max(conf.memory_share / conf.slots, 1.01 / (conf.slots + 1))
    elif isinstance(kv_bytes, int | float) and weights_gib:
        share, kv = 0.0, kv_bytes / GIB
    elif isinstance(own_share, int | float):
        share = float(own_share)
    elif conf.kv_cache_gib and weights_gib:
        share, kv = 0.0, conf.kv_cache_gib
    return share, MemoryBudget(
        weights_gib / degree,
        kv,
        activations=_activations_gib(spec),
        graphs=0.0 if options.get("enforce_eager") else _GRAPHS_GIB,
        communication=_COMMUNICATION_GIB if degree > 1 else 0.0,
        context=_CONTEXT_GIB,
    )


def _draft_gib(options: Mapping[str, Any]) -> float:
    """Return the size of a draft model for speculative decoding that is on this machine."""
    config = options.get("speculative_config")
    draft = config.get("model") if isinstance(config, Mapping) else None
    return engines.weights_gib(draft) if isinstance(draft, str) else 0.0


def _activations_gib(spec: EngineSpec) -> float:
    """Return what the tensors of one step take: hidden states, and logits of some rows."""
    config = _read_config(spec.weights)
    hidden, vocabulary = config.get("hidden_size"), config.get("vocab_size")
    tokens = spec.options.get("max_num_batched_tokens")
    states = _positive(tokens, _BATCHED_TOKENS) * _positive(hidden, _HIDDEN) * _BYTES_PER_ACTIVATION
    return (states + _LOGIT_ROWS * _positive(vocabulary, _VOCABULARY) * 4) / GIB


def _positive(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) and value > 0 else otherwise


def _read_config(weights: str) -> Mapping[str, Any]:
    """Return the model's config.json; nothing where it is not on this machine."""
    if not is_path(weights):
        return {}
    try:
        config = json.loads((expanded(weights) / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    found = config.get("text_config", config) if isinstance(config, dict) else {}
    return found if isinstance(found, dict) else {}


def _room(device: Device, share: float, memory: MemoryBudget) -> float:
    """Return the most that weights can take of a device."""
    free = device.memory_gib - memory.context - memory.kv
    return min(free, share * device.memory_gib) if share else free


def _count_nodes(spec: EngineSpec, nodes: Sequence[Node]) -> int | None:
    """Return over how many nodes a replica goes; None where they have too few GPUs.

    Only the stages of a pipeline are spread over nodes, and only where no node has enough GPUs.
    """
    needed = gpus_of(spec)
    stages = _positive(spec.options.get("pipeline_parallel_size"), 1)
    for count in range(1, stages + 1):
        enough = sum(len(node.devices) >= needed // count for node in nodes)
        if stages % count == 0 and enough >= count:
            return count
    return None if nodes else 1


def _too_many_gpus(spec: EngineSpec, nodes: Sequence[Node]) -> Problem:
    needed, largest = gpus_of(spec), max(len(node.devices) for node in nodes)
    return Problem(
        "resources.gpus",
        f"fleet: the engine of {spec.called} needs {needed} GPUs, and the largest node has "
        f"{largest}",
        setting="roster.models[].options.tensor_parallel_size",
        given=spec.options.get("tensor_parallel_size"),
        fix="lower tensor_parallel_size. Only the stages of pipeline_parallel_size are spread "
        "over nodes, each within one node",
    )


def _too_large(
    spec: EngineSpec, devices: Sequence[Device], share: float, memory: MemoryBudget
) -> Problem:
    """Return the problem of an engine whose weights no GPU can hold."""
    largest = max(devices, key=lambda device: _room(device, share, memory))
    room, degree = _room(largest, share, memory), gpus_of(spec)
    tensor = _positive(spec.options.get("tensor_parallel_size"), 1)
    weights, others = memory.weights * degree, degree // tensor
    fix = "choose a smaller or a quantised model"
    # Attention heads are divided: powers of two divide those of nearly all models.
    wanted = 2 ** (math.floor(math.log2(tensor)) + 1)
    while wanted * others <= _MOST_GPUS and weights / (wanted * others) > room:
        wanted *= 2
    if wanted * others <= _MOST_GPUS:
        fix = (
            f"tensor_parallel_size: {wanted} fits on {wanted * others} GPUs of "
            f"{largest.memory_gib:.0f} GiB"
        )
    return Problem(
        "resources.gpus",
        f"fleet: the weights of {spec.called} take {memory.weights:.1f} GiB on each of {degree} "
        f"GPU{'s' * (degree > 1)}, and the largest GPU here has {largest.memory_gib:.1f} GiB, "
        f"{max(room, 0.0):.1f} of them for weights",
        setting="roster.models[].options.tensor_parallel_size",
        given=spec.options.get("tensor_parallel_size"),
        fix=fix,
    )


@dataclass(frozen=True, slots=True)
class PlannedEngine:
    """An engine, and where its replicas are."""

    engine: str
    models: str
    replicas: tuple[tuple[str, ...], ...] = ()
    """The devices of each; none while the engine waits for its turn."""


@dataclass(frozen=True, slots=True)
class PlacementPlan:
    """Where the engines of a run are at its beginning, if all have as much to do."""

    placed: tuple[PlannedEngine, ...]
    waiting: tuple[PlannedEngine, ...]
    problems: tuple[Problem, ...]
    """Engines that no node can hold."""

    def replicas(self) -> dict[str, int]:
        """Return the number of replicas of each engine that is placed."""
        return {each.engine: len(each.replicas) for each in self.placed}

    def lines(self) -> Iterator[Statement]:
        """Yield a line on each engine with its devices, and one on those that wait."""
        devices = {name for each in self.placed for replica in each.replicas for name in replica}
        has_nodes = len({name.rpartition("/")[0] for name in devices}) > 1
        for each in self.placed:
            where = _describe([name for replica in each.replicas for name in replica], has_nodes)
            if len(each.replicas) == 1:
                yield Statement(
                    "plan.placed", "{devices}: {models}", devices=where, models=each.models
                )
            else:
                yield Statement(
                    "plan.placed_replicas",
                    "{devices}: {models}, {replicas} replicas",
                    devices=where,
                    models=each.models,
                    replicas=len(each.replicas),
                )
        if self.waiting:
            yield Statement(
                "plan.waiting_for_turn",
                "waiting for a turn: {models}",
                models="; ".join(each.models for each in self.waiting),
            )


def _describe(devices: Sequence[str], has_nodes: bool) -> str:
    """Return devices as people know them: 'GPU 0, 1', or 'GPU 0 on node a; GPU 3 on node b'."""
    by_node: dict[str, list[str]] = {}
    for device in dict.fromkeys(devices):
        node, _, name = device.rpartition("/")
        by_node.setdefault(node, []).append(name)
    described = []
    for node, names in by_node.items():
        ids = [name.removeprefix("gpu") for name in names if name.startswith("gpu")]
        ids.sort(key=lambda each: (len(each), each))  # 10 after 9
        where = f"GPU {', '.join(ids)}" if ids else "CPU"
        described.append(where + f" on node {node[:_SHOWN]}" * has_nodes)
    return "; ".join(described)


def plan_placement(
    specs: Sequence[EngineSpec],
    conf: FleetConf,
    machines: Sequence[Machine],
    *,
    gpu: bool,
    sizes: Mapping[str, float] = MappingProxyType({}),
) -> PlacementPlan:
    """Return where the scheduler puts these engines before any of them has finished.

    sizes: GiB of the weights that are not on this machine, by engine, as far as they are known.
    """
    here = nodes_of(machines, conf, gpu=gpu)
    needs: dict[str, EngineNeed] = {}
    problems: list[Problem] = []
    for spec in specs:
        need = needs_of(spec, conf, here, gpu=gpu, weights_gib=sizes.get(spec.name, 0.0))
        if isinstance(need, Problem):
            problems.append(need)
        else:
            needs[spec.name] = need
    plan = placement(specs, needs, here, gpu=gpu)
    return replace(plan, problems=(*problems, *plan.problems))


def placement(
    specs: Sequence[EngineSpec],
    needs: Mapping[str, EngineNeed],
    nodes: Sequence[Node],
    *,
    gpu: bool,
) -> PlacementPlan:
    """Return where the scheduler puts the engines of which the needs are known."""
    # With endless patience no engine leaves for another.
    rules = Rules(patience_s=math.inf, linger_s=math.inf)
    scheduler = EngineScheduler(nodes, [*needs.values()], rules)
    if not nodes:
        scheduler.handle(DevicesLost(frozenset(), awaited=True), 0.0)
    devices, failures = _load_all(scheduler, needs), scheduler.failures()
    placed, waiting, problems = [], [], []
    for spec in (spec for spec in specs if spec.name in needs):
        names = dict.fromkeys(model.name.removesuffix(JUDGING) for model in spec.models)
        engine = PlannedEngine(spec.name, ", ".join(names), tuple(devices.get(spec.name, ())))
        if engine.replicas:
            placed.append(engine)
        elif spec.name not in failures:
            waiting.append(engine)
        else:
            code: Code = "resources.gpus" if gpu else "resources.memory"
            problems.append(Problem(code, failures[spec.name]))
    return PlacementPlan(tuple(placed), tuple(waiting), tuple(problems))


def _load_all(
    scheduler: EngineScheduler, engine_names: Iterable[str]
) -> dict[str, list[tuple[str, ...]]]:
    """Let the scheduler load engines that have the same demand; return their replicas' devices."""
    devices: dict[str, list[tuple[str, ...]]] = {}

    def load(actions: Sequence[Action]) -> None:
        for action in actions:
            if isinstance(action, Load):
                devices.setdefault(action.engine, []).append(action.devices)
                load(scheduler.handle(Loaded(action.replica), 0.0))

    load(scheduler.preload(0.0))
    for name in engine_names:
        demand = DemandReport("plan", name, ready=1, outstanding=0, remaining=_REQUESTS)
        load(scheduler.handle(Reported(demand), 0.0))
    return devices


def plan_here(specs: Sequence[EngineSpec], conf: FleetConf) -> PlacementPlan | None:
    """Return where hosted engines would be on this machine; None where nobody knows yet.

    What a cluster has is known once it is reached, and what weights of the hub take on a CPU once
    they are weighed there. A GPU's memory is not asked for beforehand: engines are weighed by their
    share of it alone.
    """
    # This machine's labels are Ray's to know.
    specs = [
        replace(spec, models=tuple(replace(model, nodes={}) for model in spec.models))
        for spec in specs
    ]
    gpu = on_gpu(conf)
    unweighed = not gpu and not conf.slots and any(of_hub(spec.weights) for spec in specs)
    if specs and (elsewhere(conf) or unweighed):
        return None
    if gpu:
        conf = replace(conf, kv_cache_gib=None)
    here = Machine("", memory_gib(), dict.fromkeys(gpus(), _ANY_GIB) if gpu else {})
    return plan_placement(specs, conf, [here], gpu=gpu)


def awake_at_once(specs: Sequence[EngineSpec], conf: FleetConf) -> int | None:
    """Return how many engines of all kinds answer at once; None where nobody knows yet."""
    hosted = [spec for spec in specs if spec.kind == "vllm"]
    plan = plan_here(hosted, conf)
    return None if plan is None else len(specs) - len(hosted) + len(plan.placed)
