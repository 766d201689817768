"""Replicas: copies of an engine that share its requests."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from raybench.config import FleetConf
from raybench.fleet.devices import elsewhere, gpus, memory_gib, on_gpu
from raybench.fleet.engines import EngineSpec, replica_counts
from raybench.fleet.places import Layout, Node, layout

_NUMBER = re.compile(r"-r\d+$")
"""Engines' names end with eight hexadecimal digits, among which there is no r."""


def replica_names(engine: str, count: int) -> tuple[str, ...]:
    """Return the names of an engine's replicas; the first is named like the engine."""
    return engine, *(f"{engine}-r{number}" for number in range(1, count))


def engine_of(replica: str) -> str:
    """Return the name of the engine that a replica belongs to."""
    return _NUMBER.sub("", replica)


def by_engine(replicas: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of the replicas of each engine."""
    found: dict[str, list[str]] = {}
    for name in replicas:
        found.setdefault(engine_of(name), []).append(name)
    return found


def replicated(
    engines: Sequence[EngineSpec],
    nodes: Sequence[Node],
    conf: FleetConf,
    *,
    gpu: bool,
    sizes: Mapping[str, float] = MappingProxyType({}),
) -> tuple[tuple[EngineSpec, ...], Layout]:
    """Return the replicas of these engines, and where they go.

    Engines that do not fit side by side with as many replicas as they ask for have one each.
    """
    free = sum(len(node.gpus_gib) for node in nodes) if gpu else 0
    counts = replica_counts(engines, conf, free)
    replicas = tuple(
        replace(engine, name=name)
        for engine in engines
        for name in replica_names(engine.name, counts[engine.name])
    )
    each = {spec.name: sizes.get(engine_of(spec.name), 0.0) for spec in replicas}
    found = layout(replicas, nodes, conf, gpu=gpu, sizes=each)
    if len(replicas) > len(engines) and found.places is not None:
        return tuple(engines), layout(engines, nodes, conf, gpu=gpu, sizes=sizes)
    return replicas, found


def planned(engines: Sequence[EngineSpec], conf: FleetConf) -> Mapping[str, int]:
    """Return how many replicas each engine would have, as far as that is known before a run.

    What a cluster has is known once it is reached: until then `auto` counts as one.
    """
    if elsewhere(conf):
        return replica_counts(engines, conf, 0)
    gpu = on_gpu(conf)
    # Replicas on GPUs have whole ones, of whatever size.
    here = Node("", memory_gib(), dict.fromkeys(gpus(), 1.0) if gpu else {})
    replicas, _ = replicated(engines, [here], conf, gpu=gpu)
    return Counter(engine_of(replica.name) for replica in replicas)
