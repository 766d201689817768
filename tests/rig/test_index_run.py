"""Nodes with virtual GPUs, and an index run on them: raybench's own code up to the journal."""

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import helpers
import pytest
from helpers import raybench
from rig.nodes import Rig, nodes
from statements import the

from perf.rig.devices import GIB
from perf.rig.faults import Fault
from perf.rig.weights import write_weights
from raybench.config import FleetConf
from raybench.fleet import cluster, open_fleet
from raybench.types import Message, ModelSpec, Request

pytestmark = pytest.mark.ray
QUICK = {
    "load_s": 0.5, "profile_s": 0.1, "step_s": 0.001, "prefill_tokens_per_s": 1e6,
    "sleep_s": 0.2, "wake_s": 0.2,
}  # fmt: skip
MODELS = ("first", "second")
_PATIENCE_S = 300.0
Samples = Mapping[tuple[str, str, str, int], Mapping[str, Any]]


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    with nodes([2, 1], 80) as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("index")
    for name in MODELS:
        write_weights(made / name, 14, **QUICK)
    return made


@pytest.fixture(scope="module")
def one_each(rig: Rig, folder: Path) -> Samples:
    """Run both models with a replica each."""
    return _samples(rig, folder, *MODELS)


@pytest.fixture(scope="module")
def with_two(rig: Rig, folder: Path, one_each: Samples) -> Samples:
    """Run the first model with two replicas: one dies on the way, the other falls silent."""
    rig.faults.order(Fault("die_after", "*-r1", value=10))
    rig.faults.order(Fault("silent_after", "*-r0", value=10))
    return _samples(rig, folder, "first", "fleet.replicas=2", "fleet.reply_deadline_s=5")


def _samples(rig: Rig, folder: Path, *asked: str) -> Samples:
    """Run the index and return its samples: by model, benchmark, question and repeat."""
    models = [name for name in asked if name in MODELS]
    roster = ", ".join(
        f"{{name: {name}, engine: vllm, weights: {folder / name}}}" for name in models
    )
    done = raybench(
        "+experiment=index",
        "data=samples",
        "benchmarks=[mmlu_pro,gpqa_diamond]",
        f"roster.models=[{roster}]",
        "cache=false",
        *[it for it in asked if it not in models],
        cwd=folder,
        environment=rig.environment,
    )
    assert done.returncode == 0, done.stderr
    units = helpers.units_of(folder, experiment="index")
    samples = {(u["model"], u["benchmark"], u["key"], u["repeat"]): u for u in units}
    results = helpers.results_of(folder, experiment="index")
    assert len(samples) == len(units) == results["run"]["units"]
    assert [results["counts"][model]["infra_error"] for model in models] == [0] * len(models)
    return samples


@pytest.fixture
def joined(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import ray

    for name, value in rig.environment.items():
        monkeypatch.setenv(name, value)
    ray.init(address=rig.address, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


def _gpus_by_node() -> dict[str, Mapping[str, float]]:
    """Return what raybench finds on the rig's nodes, by their names."""
    import ray

    names = {node["NodeID"]: node["Labels"]["rig"] for node in ray.nodes()}
    return {names[node.id]: node.gpus_gib for node in cluster.nodes(FleetConf(), gpu=True)}


def test_every_sample_is_answered_once(rig: Rig, one_each: Samples) -> None:
    assert {model for model, *_ in one_each} == {*MODELS}
    assert len(rig.replies()) == 2
    assert sum(rig.replies().values()) == len(one_each)


def test_a_replica_that_dies_changes_no_reply(
    rig: Rig, one_each: Samples, with_two: Samples
) -> None:
    alone = {sample: unit for sample, unit in one_each.items() if sample[0] == "first"}
    assert _replies(with_two) == _replies(alone)
    (died,) = rig.faults.happened("die_after")
    assert rig.replies()[died] >= 10
    assert len(rig.faults.happened("silent_after")) == 1


async def test_an_engine_that_changes_in_its_sleep_is_loaded_again(
    rig: Rig, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two engines take turns on one GPU; the first wakes up with other weights once."""
    for name, value in rig.environment.items():
        monkeypatch.setenv(name, value)
    rig.faults.order(Fault("garbage_after_wake", "*-first-*", value=1))
    models = [ModelSpec(name, "vllm", str(folder / name)) for name in MODELS]
    conf = FleetConf(address=rig.address, nodes={"rig": "b"}, sleep_gib=100)
    said: list[str] = []
    replies: dict[str, set[str]] = {name: set() for name in MODELS}
    async with open_fleet(models, conf, said.append) as fleet:
        for name in (*MODELS, *MODELS, *MODELS):
            asked = Request((Message("user", "What is 2 + 2?"),), seed=1)
            (completion,) = await fleet.complete(name, [asked])
            replies[name].add(completion.text)
    assert [len(texts) for texts in replies.values()] == [1, 1]
    assert len(rig.faults.happened("garbage_after_wake")) == 1
    the("engine.changed_in_sleep", said)


def test_engines_that_end_leave_no_memory_behind(rig: Rig, with_two: Samples) -> None:
    for name in "ab":
        memory = rig.memory(name)
        assert {memory.free(device) for device in memory.devices} == {80 * GIB}


def _replies(samples: Samples) -> dict[tuple[str, str, str, int], tuple[str, int]]:
    return {sample: (it["response"], it["output_tokens"]) for sample, it in samples.items()}


@pytest.mark.usefixtures("joined")
def test_nodes_come_and_go(rig: Rig) -> None:
    assert _gpus_by_node() == {"a": {"0": 80, "1": 80}, "b": {"0": 80}}
    rig.kill("b")
    assert rig.add(2, 24) == "c"
    there: dict[str, Mapping[str, float]] = {}
    deadline = time.monotonic() + _PATIENCE_S
    while {*there} != {"a", "c"} and time.monotonic() < deadline:
        time.sleep(1)
        with suppress(Exception):  # a node that died is asked before Ray knows
            there = _gpus_by_node()
    assert there == {"a": {"0": 80, "1": 80}, "c": {"0": 24, "1": 24}}
