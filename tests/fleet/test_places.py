"""What fits where: side by side, or taking turns."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.config import FleetConf
from raybench.fleet import devices, group_engines, places
from raybench.fleet.engines import EngineSpec
from raybench.fleet.places import Layout, Node, awake, layout, slots
from raybench.fleet.residency import Residency
from raybench.fleet.turns import State
from raybench.types import ModelSpec


def engines(count: int, weights: str = "org/m", **options: Any) -> tuple[EngineSpec, ...]:
    """So many engines of different weights."""
    return group_engines(
        [ModelSpec(f"m{n}", "vllm", f"{weights}{n}", options=options) for n in range(count)]
    )


@pytest.fixture
def on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The beginning of paths of weights that take 10 GiB each."""
    for number in range(4):
        (tmp_path / f"m{number}").mkdir()
    monkeypatch.setattr(places, "weights_gib", lambda weights: 10.0)
    return str(tmp_path / "m")


def gpus(*gib: float, address: str = "1.2.3.4") -> Node:
    return Node(address, 100.0, {str(number): each for number, each in enumerate(gib)})


def side_by_side(found: Layout) -> int:
    return len(awake(found.devices, found.demands))


def share(found: Layout, engine: int = 0) -> float:
    """The part of one of its devices that an engine takes."""
    return found.demands[engine].memory_gib / found.devices[0].memory_gib


# ------------------------------------------------------------------------------------------ CPU


def test_on_a_cpu_with_room_for_all_ray_places_them() -> None:
    found = layout(engines(3), [Node("here", 6.1)], FleetConf(), gpu=False)
    assert found.places is None
    assert side_by_side(found) == 3


def test_on_a_cpu_without_room_for_all_they_take_turns() -> None:
    # Weights that are not there yet count nothing; runtime and KV cache take 1 GiB each.
    found = layout(engines(3), [Node("here", 5.0)], FleetConf(), gpu=False)
    assert found.places == {"here/cpu": ("here", "")}
    assert side_by_side(found) == 2
    assert not any(demand.can_sleep for demand in found.demands)


def test_a_smaller_kv_cache_lets_more_stay_awake() -> None:
    conf = FleetConf(kv_cache_gib=0.25)
    assert side_by_side(layout(engines(4), [Node("here", 5.0)], conf, gpu=False)) == 4


def test_engines_of_a_cpu_cluster_spread_over_its_nodes() -> None:
    nodes = [Node("a", 2.0), Node("b", 2.0)]
    assert side_by_side(layout(engines(2), nodes, FleetConf(), gpu=False)) == 2
    three = layout(engines(3), nodes, FleetConf(), gpu=False)
    assert side_by_side(three) == 2
    assert three.places == {"a/cpu": ("a", ""), "b/cpu": ("b", "")}


@given(st.integers(1, 6), st.integers(1, 8))
def test_slots_are_counted_on_cpus_whatever_the_memory(wanted: int, count: int) -> None:
    conf = FleetConf(slots=wanted)
    found = layout(engines(count), [Node("here", 0.1)], conf, gpu=False)
    assert side_by_side(found) == min(wanted, count)
    assert (found.places is None) == (count <= wanted)


def test_weights_of_the_hub_count_as_far_as_it_tells() -> None:
    first, second, third = engines(3)
    nodes = [Node("here", 8.1)]
    found = layout((first, second, third), nodes, FleetConf(), gpu=False, sizes={first.name: 2.0})
    assert [demand.memory_gib for demand in found.demands] == [6.0, 2.0, 2.0]
    assert side_by_side(found) == 2


def test_an_engine_that_fits_nowhere_is_refused_with_the_mend() -> None:
    found = layout(engines(1), [Node("here", 1.5)], FleetConf(), gpu=False)
    (demand,) = found.demands
    policy = Residency(found.devices, found.demands)
    assert policy.state(demand.engine) is State.FAILED
    assert "needs 2.0 GiB" in policy.failures()[demand.engine]
    assert "fleet.kv_cache_gib" in policy.failures()[demand.engine]


# ------------------------------------------------------------------------------------------ GPU


def test_with_gpus_for_all_each_has_its_own() -> None:
    found = layout(engines(2), [gpus(80, 80)], FleetConf(), gpu=True)
    assert found.places is None
    assert side_by_side(found) == 2


def test_with_fewer_gpus_they_take_turns_asleep_and_awake() -> None:
    found = layout(engines(3), [gpus(80, 80)], FleetConf(memory_share=0.8), gpu=True)
    assert found.places == {"1.2.3.4/gpu0": ("1.2.3.4", "0"), "1.2.3.4/gpu1": ("1.2.3.4", "1")}
    assert side_by_side(found) == 2
    assert [demand.memory_gib for demand in found.demands] == [64.0] * 3
    assert all(demand.can_sleep and demand.asleep_gib > 0 for demand in found.demands)


def test_gpus_are_known_by_the_ids_that_they_have() -> None:
    node = Node("n", 100.0, {"2": 80.0, "GPU-7c1": 80.0})
    found = layout(engines(3), [node], FleetConf(), gpu=True)
    assert found.places == {"n/gpu2": ("n", "2"), "n/gpuGPU-7c1": ("n", "GPU-7c1")}


def test_tensor_parallel_engines_take_several_gpus_of_one_node() -> None:
    four = engines(2, tensor_parallel_size=2)
    assert layout(four, [gpus(80, 80, 80, 80)], FleetConf(), gpu=True).places is None
    two = layout(four, [gpus(80, 80)], FleetConf(), gpu=True)
    assert side_by_side(two) == 1
    assert [demand.devices for demand in two.demands] == [2, 2]
    apart = layout(four, [gpus(80, address="a"), gpus(80, address="b")], FleetConf(), gpu=True)
    assert side_by_side(apart) == 0  # no node has two


def test_a_kv_cache_of_known_size_lets_several_share_a_gpu(on_disk: str) -> None:
    four = engines(4, on_disk)
    assert side_by_side(layout(four, [gpus(80)], FleetConf(), gpu=True)) == 1
    found = layout(four, [gpus(80)], FleetConf(kv_cache_gib=10), gpu=True)
    assert side_by_side(found) == 3
    assert 21 / 80 < share(found) < 26 / 80
    # Over two GPUs each holds half of the weights.
    halves = layout(
        engines(4, on_disk, tensor_parallel_size=2),
        [gpus(80, 80)],
        FleetConf(kv_cache_gib=10),
        gpu=True,
    )
    assert side_by_side(halves) == 4


def test_what_a_model_says_of_its_memory_counts() -> None:
    found = layout(engines(3, gpu_memory_utilization=0.3), [gpus(80)], FleetConf(), gpu=True)
    assert side_by_side(found) == 3
    assert share(found) == pytest.approx(0.3)


@given(st.integers(1, 6), st.integers(1, 8), st.floats(0.1, 1.0), st.integers(1, 3))
def test_slots_are_counted_on_each_gpu(wanted: int, count: int, part: float, there: int) -> None:
    conf = FleetConf(slots=wanted, memory_share=part)
    found = layout(engines(count), [gpus(*[80.0] * there)], conf, gpu=True)
    assert found.places is not None
    assert side_by_side(found) == min(wanted * there, count)


def test_with_slots_sleepers_leave_the_gpu_when_what_they_leave_there_is_too_much() -> None:
    found = layout(engines(20), [gpus(80)], FleetConf(slots=1), gpu=True)
    demand = found.demands[0]
    assert demand.memory_gib + 19 * demand.asleep_gib > 80 > demand.memory_gib
    assert share(found) == 0.9


@pytest.mark.parametrize("conf", [FleetConf(), FleetConf(slots=2)])
def test_a_cluster_without_gpus_yet_is_left_to_grow(conf: FleetConf) -> None:
    found = layout(engines(3), [Node("head", 30.0)], conf, gpu=True)
    assert found.places is None
    assert side_by_side(found) == 3


def test_the_memory_for_sleepers_is_half_of_the_smallest_node_or_as_said() -> None:
    nodes = [Node("a", 100.0, {"0": 80.0}), Node("b", 60.0, {"0": 80.0})]
    assert layout(engines(3), nodes, FleetConf(), gpu=True).rules.host_gib == 30.0
    said = layout(engines(3), nodes, FleetConf(sleep_gib=0.0), gpu=True)
    assert said.rules.host_gib == 0.0


# ---------------------------------------------------------------------------- before Ray starts


def machine(monkeypatch: pytest.MonkeyPatch, gib: float, visible: str | None = "") -> None:
    facts: Mapping[str, Any] = {"RAY_ADDRESS": None, "CUDA_VISIBLE_DEVICES": visible}
    for name, value in facts.items():
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    monkeypatch.setattr(places, "memory_gib", lambda: gib)
    monkeypatch.setattr(devices, "build", lambda: "gpu" if visible else "cpu")


def test_slots_of_a_cpu_machine(monkeypatch: pytest.MonkeyPatch, on_disk: str) -> None:
    machine(monkeypatch, 5.0)
    assert slots(engines(2, on_disk), FleetConf()) == 2
    assert slots(engines(3, on_disk), FleetConf()) == 2
    assert slots(engines(3, on_disk), FleetConf(slots=1)) == 1


def test_slots_are_not_guessed(monkeypatch: pytest.MonkeyPatch, on_disk: str) -> None:
    machine(monkeypatch, 5.0)
    assert slots(engines(3, on_disk), FleetConf(address="ray://head:10001")) is None
    assert slots(engines(3, "org/m"), FleetConf()) is None
    assert slots(engines(3, "org/m"), FleetConf(slots=2)) == 2


@pytest.mark.parametrize("conf", [FleetConf(), FleetConf(kv_cache_gib=50)])
def test_slots_of_a_machine_with_gpus(
    monkeypatch: pytest.MonkeyPatch, on_disk: str, conf: FleetConf
) -> None:
    machine(monkeypatch, 100.0, "4,5")
    assert slots(engines(2, on_disk), conf) == 2
    assert slots(engines(4, on_disk), conf) == 2
    assert slots(engines(4, on_disk, tensor_parallel_size=2), conf) == 1
    assert slots(engines(3, gpu_memory_utilization=0.3), conf) == 3


def test_engines_that_others_host_need_no_slot(
    monkeypatch: pytest.MonkeyPatch, on_disk: str
) -> None:
    machine(monkeypatch, 2.5)
    others = group_engines(
        [
            ModelSpec("far", "openai", "m", options={"base_url": "http://h/v1"}),
            ModelSpec("sim", "simulated", ""),
        ]
    )
    assert slots([*others, *engines(3, on_disk)], FleetConf()) == 3
    assert slots(others, FleetConf()) == 2


@given(st.lists(st.floats(0.5, 200), min_size=1, max_size=4), st.integers(1, 5), st.booleans())
def test_who_is_awake_from_the_beginning_fits(gib: list[float], count: int, gpu: bool) -> None:
    nodes = [gpus(*gib)] if gpu else [Node(str(n), each) for n, each in enumerate(gib)]
    found = layout(engines(count), nodes, FleetConf(), gpu=gpu)
    policy = Residency(found.devices, found.demands, found.rules)
    assert len(policy.preload(0.0)) == side_by_side(found)
    room = {device.name: device.memory_gib for device in found.devices}
    for device, used in policy.usage().items():
        assert used <= room[device] or math.isclose(used, room[device])
