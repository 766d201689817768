"""Replicas of engines: their names, and when an engine has more than one."""

import pytest

from raybench.config import FleetConf
from raybench.fleet.engines import EngineSpec, group_engines
from raybench.fleet.places import Node
from raybench.fleet.replicas import by_engine, engine_of, replica_names, replicated
from raybench.types import ModelSpec


def engines(*weights: str, **options: object) -> tuple[EngineSpec, ...]:
    return group_engines([ModelSpec(it, "vllm", it, options=options) for it in weights])


def node(gpus: int, gib: float = 80.0) -> Node:
    return Node("a", 100.0, {f"{number}": gib for number in range(gpus)})


def test_the_first_replica_is_named_like_its_engine() -> None:
    (engine,) = engines("org/model-r1")
    names = replica_names(engine.name, 3)
    assert names == (engine.name, f"{engine.name}-r1", f"{engine.name}-r2")
    assert {engine_of(name) for name in names} == {engine.name}
    assert by_engine([*names, "other-0a1b2c3d"]) == {
        engine.name: [*names],
        "other-0a1b2c3d": ["other-0a1b2c3d"],
    }


@pytest.mark.parametrize(
    ("gpus", "asked", "each"),
    [
        (8, 2, (2, 2)),
        (4, 2, (2, 2)),
        (3, 2, (2, 1)),
        (1, 2, (1, 1)),
        (8, 1, (1, 1)),
        (8, "auto", (4, 4)),
        (5, "auto", (3, 2)),
    ],
)
def test_engines_have_the_replicas_that_fit_side_by_side(
    gpus: int, asked: int | str, each: tuple[int, int]
) -> None:
    two = engines("org/a", "org/b")
    replicas, plan = replicated(two, [node(gpus)], FleetConf(replicas=asked), gpu=True)
    names = by_engine(spec.name for spec in replicas)
    assert tuple(map(len, names.values())) == each
    assert [demand.engine for demand in plan.demands] == [spec.name for spec in replicas]
    if len(replicas) > 2:
        assert plan.places is None  # all side by side


def test_a_replica_takes_the_gpus_of_its_engine() -> None:
    two = engines("org/a", "org/b", tensor_parallel_size=2)
    for gpus, count in ((5, 2), (7, 3), (8, 4)):
        replicas, _ = replicated(two, [node(gpus)], FleetConf(replicas=2), gpu=True)
        assert len(replicas) == count


@pytest.mark.parametrize(("gib", "count"), [(9.0, 2), (3.0, 1)])
def test_on_cpus_memory_decides(gib: float, count: int) -> None:
    (engine,) = engines("org/a")
    there = [Node("a", gib)]
    replicas, plan = replicated(
        [engine], there, FleetConf(replicas=2), gpu=False, sizes={engine.name: 1.0}
    )
    assert len(replicas) == count
    assert (plan.places is None) == (count == 2)
