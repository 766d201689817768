"""What the scheduler needs to know of engines, and where the engines of a run begin."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from raybench.config import FleetConf
from raybench.engines.scheduler.messages import EngineNeed, MemoryBudget
from raybench.errors import Problem
from raybench.fleet import devices as fleet_devices
from raybench.fleet import needs as fleet_needs
from raybench.fleet.devices import Machine
from raybench.fleet.engines import EngineSpec, cpu_gib, group_engines
from raybench.fleet.needs import (
    PlacementPlan,
    awake_at_once,
    gpus_wanted,
    needs_of,
    nodes_of,
    plan_here,
    plan_placement,
)
from raybench.types import JUDGING, ModelSpec

ROSTER = Path(__file__).parents[2] / "conf/roster/autobench_paper.yaml"
SIZES = {  # GB, as the roster's comments have them
    "smollm2-1.7b": 3.4, "llama-3.2-1b": 2.5, "llama-3.2-3b": 6.4, "qwen2.5-3b": 6.2,
    "qwen2.5-7b": 15.0, "qwen2.5-14b": 30.0, "llama-3-8b": 16.0, "gemma-7b": 17.0,
    "mistral-small-3.1-24b": 48.0, "gpt-oss-20b": 14.0, "gemma-3-1b": 2.0, "phi-3-mini-4k": 7.6,
}  # fmt: skip


def engine(name: str, **options: Any) -> EngineSpec:
    return group_engines([ModelSpec(name, "vllm", f"org/{name}", options=options)])[0]


def node(*gib: float, name: str = "a", memory_gib: float = 500.0) -> Machine:
    return Machine(name, memory_gib, {f"{number}": each for number, each in enumerate(gib)})


def need(spec: EngineSpec, *nodes: Machine, gib: float = 16.0, **conf: Any) -> EngineNeed:
    fleet = FleetConf(**conf)
    found = needs_of(spec, fleet, nodes_of(nodes, fleet, gpu=True), gpu=True, weights_gib=gib)
    assert isinstance(found, EngineNeed)
    return found


def problem(spec: EngineSpec, *nodes: Machine, gib: float = 16.0, **conf: Any) -> Problem:
    fleet = FleetConf(**conf)
    found = needs_of(spec, fleet, nodes_of(nodes, fleet, gpu=True), gpu=True, weights_gib=gib)
    assert isinstance(found, Problem)
    assert found.code == "resources.gpus"
    return found


Sized = Sequence[tuple[EngineSpec, float]]
"""Engines and the GiB of their weights."""


def plan(engines: Sized, *nodes: Machine, **conf: Any) -> PlacementPlan:
    sizes = {spec.name: gib for spec, gib in engines}
    specs = [spec for spec, _ in engines]
    return plan_placement(specs, FleetConf(**conf), nodes, gpu=True, sizes=sizes)


def numbers_in_fix(found: Problem) -> list[int]:
    """The numbers of a fix: tensor_parallel_size, GPUs, GiB."""
    return [int(number) for number in re.findall(r"\d+", found.fix or "")]


def devices(found: PlacementPlan) -> dict[str, tuple[tuple[str, ...], ...]]:
    return {each.models: each.replicas for each in found.placed}


def counts(found: PlacementPlan) -> dict[str, int]:
    return {each.models: len(each.replicas) for each in found.placed}


def waiting(found: PlacementPlan) -> list[str]:
    return [each.models for each in found.waiting]


def some_engines(count: int, gib: float = 8.0, **options: Any) -> list[tuple[EngineSpec, float]]:
    """Engines of different weights of one size."""
    return [(engine(f"m{number}", **options), gib) for number in range(count)]


def placed_on_cpus(count: int, *gib: float, weights_gib: float = 0.0, **conf: Any) -> PlacementPlan:
    """The plan of engines on machines of these sizes."""
    machines = [Machine(f"n{number}", each) for number, each in enumerate(gib)]
    specs = [spec for spec, _ in some_engines(count)]
    sizes = {spec.name: weights_gib for spec in specs}
    return plan_placement(specs, FleetConf(**conf), machines, gpu=False, sizes=sizes)


# ---------------------------------------------------------------------------------------- nodes


def test_each_gpu_is_a_device_and_half_of_the_memory_holds_sleepers() -> None:
    nodes = [node(80, 24), Machine("head", 64.0)]
    (found,) = nodes_of(nodes, FleetConf(), gpu=True)
    assert [(each.name, each.memory_gib) for each in found.devices] == [
        ("a/gpu0", 80),
        ("a/gpu1", 24),
    ]
    assert found.host_gib == 250.0
    assert nodes_of(nodes, FleetConf(sleep_gib=0.0), gpu=True)[0].host_gib == 0.0


def test_on_cpus_the_device_is_the_memory_or_has_as_many_units_as_slots() -> None:
    (found,) = nodes_of([node(80)], FleetConf(), gpu=False)
    assert [(each.name, each.memory_gib) for each in found.devices] == [("a/cpu", 500.0)]
    (found,) = nodes_of([node(80)], FleetConf(slots=3), gpu=False)
    assert [each.memory_gib for each in found.devices] == [3]


def test_gpus_are_known_by_the_ids_that_they_have() -> None:
    found = plan(some_engines(2), Machine("n", 100.0, {"2": 80.0, "GPU-7c1": 80.0}))
    assert devices(found) == {"m0": (("n/gpu2",),), "m1": (("n/gpuGPU-7c1",),)}


# ---------------------------------------------------------------------------------------- needs


def test_an_engine_alone_on_its_gpus_fills_a_share_of_them() -> None:
    found = need(engine("m", tensor_parallel_size=2), node(80, 80), gib=30.0)
    assert (found.devices, found.nodes, found.share, found.memory.kv) == (2, 1, 0.9, 0.0)
    assert found.memory.weights == 15.0
    assert found.memory.communication == 1.0
    assert found.can_sleep == {1, 2}
    assert need(engine("m"), node(80)).memory.communication == 0.0
    assert need(engine("m", gpu_memory_utilization=0.4), node(80)).share == 0.4


def test_a_given_kv_cache_takes_the_place_of_the_share() -> None:
    found = need(engine("m"), node(80), kv_cache_gib=5.0)
    assert (found.share, found.memory.kv) == (0.0, 5.0)
    own = engine("m", kv_cache_memory_bytes=2 * 1024**3, gpu_memory_utilization=0.4)
    found = need(own, node(80), kv_cache_gib=5.0)
    assert (found.share, found.memory.kv) == (0.0, 2.0)
    # Nobody knows what else it takes.
    assert need(engine("m"), node(80), gib=0.0, kv_cache_gib=5.0).share == 0.9


@given(st.integers(1, 8), st.floats(0.1, 1.0))
def test_as_many_engines_as_slots_fit_on_a_gpu(slots: int, memory_share: float) -> None:
    share = need(engine("m"), node(80), gib=1.0, slots=slots, memory_share=memory_share).share
    assert share * slots <= 1.0 + 1e-9 < share * (slots + 1) + 1e-9


def test_activations_follow_the_config_of_the_model(tmp_path: Path) -> None:
    def activations(config: object, **options: Any) -> float:
        (tmp_path / "config.json").write_text(json.dumps(config))
        model = ModelSpec("m", "vllm", str(tmp_path), options=options)
        return need(group_engines([model])[0], node(80)).memory.activations

    text = {"hidden_size": 4096, "vocab_size": 131_072}
    assert activations(text) == pytest.approx(8192 * 4096 * 16 / 1024**3 + 0.5)
    assert activations({"text_config": text}) == activations(text)
    assert activations(text, max_num_batched_tokens=2048) == pytest.approx(0.125 + 0.5)
    assert activations([]) == need(engine("m"), node(80)).memory.activations


def test_a_draft_model_adds_its_weights(tmp_path: Path) -> None:
    with (tmp_path / "model.safetensors").open("wb") as file:
        file.truncate(1024**3)
    drafted = engine("m", speculative_config={"model": str(tmp_path)})
    assert need(drafted, node(80), gib=16.0).memory.weights == 17.0
    assert need(drafted, node(80), gib=0.0).memory.weights == 0.0
    assert need(engine("m", speculative_config={"method": "ngram"}), node(80)).memory.weights == 16


def test_an_engine_without_graphs_takes_no_memory_for_them() -> None:
    assert need(engine("m"), node(80)).memory.graphs == 1.5
    assert need(engine("m", enforce_eager=True), node(80)).memory.graphs == 0.0


def test_formats_that_cannot_be_loaded_again_sleep_at_level_1_only() -> None:
    assert need(engine("m", load_format="safetensors"), node(80)).can_sleep == {1, 2}
    assert need(engine("m", load_format="gguf"), node(80)).can_sleep == {1}


def test_an_engine_without_sleep_mode_does_not_sleep() -> None:
    """Ray places those on several nodes, which have none (llm_config)."""
    assert need(engine("m", enable_sleep_mode=False), node(80)).can_sleep == frozenset()
    spread = engine("m", pipeline_parallel_size=2)
    assert need(spread, node(80), node(80, name="b")).can_sleep == frozenset()
    assert need(spread, node(80, 80)).can_sleep == {1, 2}


def test_judges_are_referees() -> None:
    judge = group_engines([ModelSpec(f"m{JUDGING}", "vllm", "org/m")])[0]
    assert need(judge, node(80)).is_referee
    assert not need(engine("m"), node(80)).is_referee


@pytest.mark.parametrize(("asked", "replicas"), [("auto", None), (3, 3)])
def test_replicas_are_a_number_or_as_many_as_pay(asked: int | str, replicas: int | None) -> None:
    assert need(engine("m"), node(80), replicas=asked).replicas == replicas
    own = replace(engine("m"), replicas=2)
    assert need(own, node(80), replicas=asked).replicas == 2


# -------------------------------------------------------------------------------------- refused


def test_weights_that_no_gpu_can_hold_are_refused_with_the_number_of_gpus() -> None:
    found = problem(engine("m"), node(80), gib=140.0)
    assert numbers_in_fix(found) == [2, 2, 80]
    assert found.setting == "roster.models[].options.tensor_parallel_size"
    # Two stages of a pipeline hold half of the weights each.
    staged = engine("m", pipeline_parallel_size=2)
    assert need(staged, node(80, 80), gib=140.0).devices == 2
    found = problem(staged, node(80, 80), gib=600.0)
    assert numbers_in_fix(found) == [8, 16, 80]


def test_a_kv_cache_larger_than_every_gpu_is_refused() -> None:
    found = problem(engine("m"), node(24), kv_cache_gib=30.0)
    assert numbers_in_fix(found) == []


def test_more_gpus_than_any_node_has_are_refused_unless_in_stages() -> None:
    nodes = [node(*[80.0] * 8, name=name) for name in "ab"]
    problem(engine("m", tensor_parallel_size=16), *nodes)
    problem(engine("m", tensor_parallel_size=8, pipeline_parallel_size=3), *nodes)
    staged = engine("m", tensor_parallel_size=4, pipeline_parallel_size=4)
    assert need(staged, *nodes).nodes == 2
    assert need(staged, node(*[80.0] * 16)).nodes == 1


def test_without_nodes_nothing_is_refused() -> None:
    assert need(engine("m", tensor_parallel_size=16), gib=10_000.0).nodes == 1
    found = plan([(engine("m"), 10_000.0)])
    assert (waiting(found), found.placed, found.problems) == (["m"], (), ())


def test_an_engine_that_fits_nowhere_with_all_it_needs_is_a_problem_of_the_plan() -> None:
    # Each of its weights fits, but only one of two GPUs is large enough.
    large = engine("large", tensor_parallel_size=2)
    found = plan([(large, 60.0), (engine("small"), 3.0)], node(80, 24))
    assert [each.code for each in found.problems] == ["resources.gpus"]
    assert [*counts(found)] == ["small"]


# --------------------------------------------------------------------------------------- plans


def test_large_models_get_the_large_gpus_of_a_mixed_node() -> None:
    small = [(engine(f"small{number}"), 8.0) for number in range(3)]
    found = plan([*small, (engine("large"), 65.0)], node(80, 80, 24, 24))
    where = devices(found)
    assert where["large"][0][0] in {"a/gpu0", "a/gpu1"}
    assert {*where["small0"][0], *where["small1"][0]} == {"a/gpu2", "a/gpu3"}
    assert len({device for (each,) in where.values() for device in each}) == 4
    assert not waiting(found)


def test_a_pipeline_over_two_nodes_leaves_no_gpu_to_others_until_its_turn_ends() -> None:
    nodes = [node(*[80.0] * 8, name=name) for name in "ab"]
    large = engine("large", tensor_parallel_size=8, pipeline_parallel_size=2)
    small = [(engine(f"small{number}"), 8.0) for number in range(3)]
    for roster in ([(large, 800.0), *small], [*small, (large, 800.0)]):
        found = plan(roster, *nodes)
        assert len(devices(found)["large"][0]) == 16
        assert waiting(found) == ["small0", "small1", "small2"]


def test_the_roster_of_the_paper_on_eight_gpus() -> None:
    models = [
        ModelSpec(each["name"], "vllm", each["weights"], options=each.get("options", {}))
        for each in yaml.safe_load(ROSTER.read_text("utf-8"))["models"]
    ]
    specs = [(spec, SIZES[spec.called] / 1.074) for spec in group_engines(models)]
    assert len(specs) == 12
    found = plan(specs, node(*[80.0] * 8), replicas="auto")
    assert {*counts(found).values()} == {1}
    assert waiting(found) == ["smollm2-1.7b", "llama-3.2-1b", "qwen2.5-3b", "gemma-3-1b"]
    assert [line.code for line in found.lines()] == ["plan.placed"] * 8 + ["plan.waiting_for_turn"]
    # The four largest share eight GPUs: more of them go to those that take longest.
    largest = sorted(specs, key=lambda each: -each[1])[:4]
    found = plan(largest, node(*[80.0] * 8), replicas="auto")
    assert counts(found) == {
        "qwen2.5-14b": 2, "llama-3-8b": 1, "gemma-7b": 2, "mistral-small-3.1-24b": 3,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("gpus", "replicas", "each"),
    [
        (8, 2, [2, 2]), (4, 2, [2, 2]), (3, 2, [2, 1]), (1, 2, [1]), (8, 1, [1, 1]),
        (8, "auto", [4, 4]), (5, "auto", [3, 2]),
    ],
)  # fmt: skip
def test_engines_have_the_replicas_that_fit_side_by_side(
    gpus: int, replicas: int | str, each: list[int]
) -> None:
    found = plan(some_engines(2), node(*[80.0] * gpus), replicas=replicas)
    assert [*counts(found).values()] == each


@pytest.mark.parametrize(("gpus", "count"), [(5, 2), (7, 3), (8, 4)])
def test_a_replica_takes_the_gpus_of_its_engine(gpus: int, count: int) -> None:
    two = some_engines(2, tensor_parallel_size=2)
    found = plan(two, node(*[80.0] * gpus), replicas=2)
    assert sum(counts(found).values()) == count
    names = [name for replicas in devices(found).values() for each in replicas for name in each]
    assert len({*names}) == len(names) == 2 * count


def test_a_share_of_its_own_lets_several_engines_have_one_gpu() -> None:
    found = plan(some_engines(3, gpu_memory_utilization=0.3), node(80))
    assert (len(found.placed), waiting(found)) == (3, [])


@given(st.integers(1, 6), st.integers(1, 8), st.floats(0.1, 1.0), st.integers(1, 3))
def test_slots_are_counted_on_each_gpu(slots: int, count: int, share: float, gpus: int) -> None:
    conf: dict[str, Any] = {"slots": slots, "memory_share": share}
    found = plan(some_engines(count, 0.0), node(*[80.0] * gpus), **conf)
    assert len(found.placed) == min(slots * gpus, count)


def test_a_number_of_replicas_is_kept_and_auto_takes_the_rest() -> None:
    three, rest = replace(engine("three"), replicas=3), replace(engine("rest"), replicas="auto")
    found = plan([(rest, 8.0), (three, 8.0)], node(*[80.0] * 8))
    assert counts(found) == {"rest": 5, "three": 3}
    lines = {line.values["models"]: line for line in found.lines()}
    assert lines["three"].code == "plan.placed_replicas"
    assert lines["three"].values["replicas"] == 3
    assert lines["three"].values["devices"].count(",") == 2
    found = plan([(rest, 8.0), (three, 8.0)], node(80, 80))
    assert counts(found) == {"rest": 1, "three": 1}


def test_two_engines_with_a_given_kv_cache_share_a_gpu() -> None:
    two = [(engine("one"), 16.0), (engine("two"), 16.0)]
    found = plan(two, node(80), kv_cache_gib=10.0)
    assert devices(found) == {"one": (("a/gpu0",),), "two": (("a/gpu0",),)}
    assert waiting(plan(two, node(80))) == ["two"]
    assert waiting(plan(two, node(80), slots=2)) == []


def test_a_judge_is_loaded_before_the_models_that_it_judges() -> None:
    judge = group_engines([ModelSpec(f"j{JUDGING}", "vllm", "org/j")])[0]
    found = plan([(engine("m"), 8.0), (judge, 8.0)], node(80))
    assert (counts(found), waiting(found)) == ({"j": 1}, ["m"])


def test_devices_of_several_nodes_are_named_with_their_node() -> None:
    two = [(replace(engine("m"), replicas=2), 8.0)]
    one_node, two_nodes = (
        plan(two, node(80, 80)),
        plan(two, node(80), node(80, name="b")),
    )
    assert [line.values["devices"] for line in one_node.lines()] == ["GPU 0, 1"]
    twelve = plan([(replace(engine("m"), replicas=12), 8.0)], node(*[80.0] * 12))
    (line,) = twelve.lines()
    assert re.findall(r"\d+", line.values["devices"]) == [str(number) for number in range(12)]
    (line,) = two_nodes.lines()
    assert [each.split()[-1] for each in line.values["devices"].split("; ")] == ["a", "b"]


@pytest.mark.parametrize(("replicas", "number"), [("auto", 1), (2, 2)])
def test_on_cpus_auto_is_one_replica(replicas: int | str, number: int) -> None:
    conf, spec = FleetConf(replicas=replicas), engine("m")
    found = needs_of(spec, conf, nodes_of([node()], conf, gpu=False), gpu=False, weights_gib=3.0)
    assert isinstance(found, EngineNeed)
    assert (found.replicas, found.can_sleep, found.devices) == (number, frozenset(), 1)
    assert found.memory == MemoryBudget(6.0, 1.0, context=1.0)
    assert found.memory.total == cpu_gib(spec, conf, 3.0)
    assert plan_placement([spec], conf, [node()], gpu=False).replicas() == {spec.name: number}


def test_on_cpus_engines_wait_where_memory_or_slots_are_taken() -> None:
    specs = [engine(f"m{number}") for number in range(3)]
    found = plan_placement(specs, FleetConf(), [node(memory_gib=5.0)], gpu=False)
    assert (len(found.placed), waiting(found)) == (2, ["m2"])
    found = plan_placement(specs, FleetConf(slots=1), [node(memory_gib=5.0)], gpu=False)
    assert (len(found.placed), waiting(found)) == (1, ["m1", "m2"])
    found = plan_placement(specs, FleetConf(), [node(memory_gib=1.0)], gpu=False)
    assert [each.code for each in found.problems] == ["resources.memory"] * 3


def test_a_smaller_kv_cache_lets_more_engines_have_their_memory() -> None:
    assert len(placed_on_cpus(4, 5.0).placed) == 2
    assert len(placed_on_cpus(4, 5.0, kv_cache_gib=0.25).placed) == 4


def test_engines_of_a_cpu_cluster_spread_over_its_machines() -> None:
    found = placed_on_cpus(3, 2.0, 2.0)
    assert devices(found) == {"m0": (("n0/cpu",),), "m1": (("n1/cpu",),)}
    assert waiting(found) == ["m2"]


@given(st.integers(1, 6), st.integers(1, 8))
def test_slots_are_counted_on_cpus_whatever_the_memory(slots: int, count: int) -> None:
    found = placed_on_cpus(count, 0.1, slots=slots)
    assert len(found.placed) == min(slots, count)


def test_weights_of_the_hub_count_as_far_as_they_are_known() -> None:
    specs = [spec for spec, _ in some_engines(3)]
    found = plan_placement(
        specs, FleetConf(), [node(memory_gib=8.1)], gpu=False, sizes={specs[0].name: 2.0}
    )
    assert (len(found.placed), len(found.waiting)) == (2, 1)


@pytest.mark.parametrize(("gib", "replicas"), [(9.0, 2), (3.0, 1)])
def test_on_cpus_memory_decides_how_many_replicas_there_are(gib: float, replicas: int) -> None:
    found = placed_on_cpus(1, gib, weights_gib=0.5, replicas=2)
    assert counts(found) == {"m0": replicas}


# --------------------------------------------------------------------------------- GPUs of a run


@pytest.mark.parametrize(
    ("engines", "gpus", "conf", "wanted"),
    [
        (2, 4, {}, 2),
        (2, 4, {"replicas": 2}, 4),
        (2, 4, {"replicas": 3}, None),
        (2, 4, {"replicas": "auto"}, None),
        (5, 4, {}, None),
        (2, 4, {"slots": 1}, None),
        (5, 0, {}, 5),
        (5, 0, {"replicas": "auto"}, 5),
    ],
)
def test_a_run_takes_the_gpus_of_its_engines_or_all_where_they_take_turns(
    engines: int, gpus: int, conf: dict[str, Any], wanted: int | None
) -> None:
    fleet = FleetConf(**conf)
    nodes = nodes_of([node(*[80.0] * gpus)], fleet, gpu=True)
    needs = [
        needs_of(spec, fleet, nodes, gpu=True, weights_gib=gib)
        for spec, gib in some_engines(engines)
    ]
    assert gpus_wanted([it for it in needs if isinstance(it, EngineNeed)], nodes, fleet) == wanted


# ---------------------------------------------------------------------------- before Ray starts


@pytest.fixture
def on_disk(tmp_path: Path) -> str:
    """The beginning of paths of weights that are on this machine, without files."""
    for number in range(4):
        (tmp_path / f"m{number}").mkdir()
    return str(tmp_path / "m")


def set_machine(monkeypatch: pytest.MonkeyPatch, gib: float, visible: str = "") -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.setattr(fleet_needs, "memory_gib", lambda: gib)
    monkeypatch.setattr(fleet_devices, "build", lambda: "gpu" if visible else "cpu")


def hosted(count: int, weights: str, **options: Any) -> tuple[EngineSpec, ...]:
    return group_engines(
        [ModelSpec(f"m{n}", "vllm", f"{weights}{n}", options=options) for n in range(count)]
    )


def test_as_many_engines_are_awake_as_the_memory_of_a_cpu_machine_holds(
    monkeypatch: pytest.MonkeyPatch, on_disk: str
) -> None:
    set_machine(monkeypatch, 5.0)
    assert awake_at_once(hosted(2, on_disk), FleetConf()) == 2
    assert awake_at_once(hosted(3, on_disk), FleetConf()) == 2
    assert awake_at_once(hosted(3, on_disk), FleetConf(slots=1)) == 1


def test_what_a_cluster_or_the_hub_holds_is_not_guessed(
    monkeypatch: pytest.MonkeyPatch, on_disk: str
) -> None:
    set_machine(monkeypatch, 5.0)
    assert plan_here(hosted(3, on_disk), FleetConf(address="ray://head:10001")) is None
    assert awake_at_once(hosted(3, on_disk), FleetConf(address="ray://head:10001")) is None
    assert awake_at_once(hosted(3, "org/m"), FleetConf()) is None
    assert awake_at_once(hosted(3, "org/m"), FleetConf(slots=2)) == 2


@pytest.mark.parametrize("conf", [FleetConf(), FleetConf(kv_cache_gib=50)])
def test_as_many_engines_are_awake_as_the_gpus_of_a_machine_hold(
    monkeypatch: pytest.MonkeyPatch, on_disk: str, conf: FleetConf
) -> None:
    set_machine(monkeypatch, 100.0, "4,5")
    found = plan_here(hosted(2, on_disk), conf)
    assert found is not None
    assert devices(found) == {"m0": (("/gpu4",),), "m1": (("/gpu5",),)}
    assert awake_at_once(hosted(4, on_disk), conf) == 2
    assert awake_at_once(hosted(4, on_disk, tensor_parallel_size=2), conf) == 1
    assert awake_at_once(hosted(3, on_disk, gpu_memory_utilization=0.3), conf) == 3


def test_engines_that_others_host_are_always_awake(
    monkeypatch: pytest.MonkeyPatch, on_disk: str
) -> None:
    set_machine(monkeypatch, 2.5)
    others = group_engines(
        [
            ModelSpec("far", "openai", "m", options={"base_url": "http://h/v1"}),
            ModelSpec("sim", "simulated", ""),
        ]
    )
    assert awake_at_once([*others, *hosted(3, on_disk)], FleetConf()) == 3
    assert awake_at_once(others, FleetConf()) == 2


def test_a_model_with_nodes_of_its_own_sits_on_these() -> None:
    def of(name: str, nodes: dict[str, str]) -> EngineSpec:
        return group_engines([ModelSpec(name, "vllm", f"org/{name}", nodes=nodes)])[0]

    kind = "ray.io/accelerator-type"
    here = [
        replace(node(24, 24, name="small"), labels={kind: "L4"}),
        replace(node(80, name="large"), labels={kind: "H100"}),
    ]
    large, other = of("large", {kind: "H100"}), of("other", {})
    found = plan([(other, 8.0), (large, 16.0)], *here)
    devices = {it.engine: it.replicas for it in found.placed}
    assert devices == {large.name: (("large/gpu0",),), other.name: (("small/gpu0",),)}
    nowhere = of("nowhere", {kind: "H200"})
    (refused,) = plan([(nowhere, 16.0)], *here).problems
    assert refused.code == "resources.gpus"
    # Only the GPUs of these nodes count.
    two = replace(large, options={"tensor_parallel_size": 2})
    assert problem(two, *here).code == "resources.gpus"


def test_models_of_the_same_weights_on_different_nodes_have_engines_of_their_own() -> None:
    models = [
        ModelSpec(name, "vllm", "org/m", nodes=nodes)
        for name, nodes in (("a", {"x": "1"}), ("b", {"x": "2"}), ("c", {"x": "1"}))
    ]
    assert [engine.called for engine in group_engines(models)] == ["a, c", "b"]
