"""Nodes with virtual GPUs, and an index run on them: raybench's own code up to the journal."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import helpers
import pytest
from helpers import raybench
from rig.nodes import Rig, nodes

from perf.rig.devices import GIB
from perf.rig.weights import write_weights
from raybench.config import FleetConf
from raybench.fleet import cluster

pytestmark = pytest.mark.ray
QUICK = {"load_s": 0.5, "profile_s": 0.1, "step_s": 0.001, "prefill_tokens_per_s": 1e6}
MODELS = ("first", "second")


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    with nodes([2, 1], 80) as started:
        yield started


@pytest.fixture(scope="module")
def finished(rig: Rig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("index")
    roster = ", ".join(
        f"{{name: {name}, engine: vllm, weights: {write_weights(folder / name, 14, **QUICK)}}}"
        for name in MODELS
    )
    done = raybench(
        "+experiment=index",
        "data=samples",
        "benchmarks=[mmlu_pro,gpqa_diamond]",
        f"roster.models=[{roster}]",
        cwd=folder,
        environment=rig.environment,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_raybench_finds_the_gpus_of_each_node(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    for name, value in rig.environment.items():
        monkeypatch.setenv(name, value)
    ray.init(address=rig.address, log_to_driver=False, logging_level="ERROR")
    try:
        found = {node.id: node.gpus_gib for node in cluster.nodes(FleetConf(), gpu=True)}
        there = {node["Labels"]["rig"]: node["NodeID"] for node in ray.nodes()}
    finally:
        ray.shutdown()
    assert found == {there["a"]: {"0": 80, "1": 80}, there["b"]: {"0": 80}}


def test_every_sample_is_answered_once(finished: Path) -> None:
    units = helpers.units_of(finished, experiment="index")
    names = Counter((u["model"], u["benchmark"], u["key"], u["repeat"]) for u in units)
    results = helpers.results_of(finished, experiment="index")
    assert set(names.values()) == {1}
    assert len(names) == results["run"]["units"]
    for model in MODELS:
        assert results["counts"][model]["infra_error"] == 0


def test_engines_that_end_leave_no_memory_behind(rig: Rig, finished: Path) -> None:
    for name in "ab":
        memory = rig.memory(name)
        assert {memory.free(device) for device in memory.devices} == {80 * GIB}
