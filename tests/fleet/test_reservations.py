"""GPUs that are kept from others: what is reserved, chosen, given up and given back."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from fleet.fake_placement_groups import FakeRay
from refusals import refused
from virtual_time import now

from raybench.config import FleetConf
from raybench.engines.scheduler.messages import EngineNeed, MemoryBudget, Node
from raybench.fleet.needs import nodes_of
from raybench.fleet.reservations import Reservations

pytestmark = pytest.mark.virtual_time


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    made = FakeRay(x=2, y=1)
    made.patch(monkeypatch)
    return made


def all_nodes(ray: FakeRay) -> tuple[Node, ...]:
    return nodes_of(ray.machines(FleetConf(), gpu=True), FleetConf(), gpu=True)


def need(devices: int = 1, nodes: int = 1) -> EngineNeed:
    return EngineNeed("e", MemoryBudget(1.0), devices=devices, nodes=nodes)


def names(nodes: Sequence[Node]) -> list[str]:
    return [device.name for node in nodes for device in node.devices]


async def test_every_device_is_reserved_by_itself(ray: FakeRay) -> None:
    kept = Reservations("run", gpu=True)
    await kept.reserve(all_nodes(ray), 10.0)
    assert ray.kept == [["x/gpu0"], ["x/gpu1"], ["y/gpu0"]]
    assert kept.devices == {"x/gpu0", "x/gpu1", "y/gpu0"}
    assert kept.memory_gib("x/gpu1") == 80.0
    assert len({group.name for group in ray.groups}) == 3


async def test_on_cpus_no_device_is_kept_from_others(ray: FakeRay) -> None:
    kept = Reservations("run", gpu=False)
    await kept.reserve(nodes_of(ray.machines(FleetConf(), gpu=False), FleetConf(), gpu=False), 10.0)
    assert ray.groups == []
    assert kept.devices == {"x/cpu", "y/cpu"}


async def test_devices_that_others_use_are_waited_for(ray: FakeRay) -> None:
    ray.busy = {"x/gpu1"}
    kept, began = Reservations("run", gpu=True), now()
    asyncio.get_running_loop().call_later(5.0, ray.free, "x/gpu1")
    await kept.reserve(all_nodes(ray), 10.0)
    assert now() - began >= 5.0
    assert len(ray.kept) == 3


async def test_where_one_does_not_become_free_in_time_all_are_given_back(ray: FakeRay) -> None:
    ray.busy = {"x/gpu1"}
    kept = Reservations("run", gpu=True)
    with refused("resources.gpus"):
        await kept.reserve(all_nodes(ray), 10.0, "it=")
    assert ray.groups == []
    assert kept.devices == frozenset()


async def test_a_reservation_that_is_cancelled_leaves_nothing(ray: FakeRay) -> None:
    ray.busy = {"x/gpu1"}
    kept = Reservations("run", gpu=True)
    waiting = asyncio.create_task(kept.reserve(all_nodes(ray), 10.0))
    await asyncio.sleep(1.0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert ray.groups == []
    assert kept.devices == frozenset()


async def test_ray_chooses_the_devices_of_each_replica(ray: FakeRay) -> None:
    ray.busy = {"x/gpu0"}
    kept = Reservations("run", gpu=True)
    chosen = await kept.choose([need(), need()], FleetConf(), 10.0)
    assert names(chosen) == ["x/gpu1", "y/gpu0"]
    assert kept.devices == {"x/gpu1", "y/gpu0"}
    assert kept.memory_gib("y/gpu0") == 80.0


async def test_groups_that_are_not_ready_in_time_are_removed(ray: FakeRay) -> None:
    kept, began = Reservations("run", gpu=True), now()
    chosen = await kept.choose([need(3), need(2), need(2)], FleetConf(), 10.0)
    assert names(chosen) == ["x/gpu0", "x/gpu1"]
    assert ray.kept == [["x/gpu0", "x/gpu1"]]
    assert now() - began >= 10.0


async def test_no_device_is_chosen_where_none_is_free(ray: FakeRay) -> None:
    ray.busy = {"x/gpu0", "x/gpu1", "y/gpu0"}
    kept = Reservations("run", gpu=True)
    assert await kept.choose([need()], FleetConf(), 10.0) == ()
    assert ray.groups == []


async def test_a_choice_that_is_cancelled_leaves_nothing(ray: FakeRay) -> None:
    kept = Reservations("run", gpu=True)
    waiting = asyncio.create_task(kept.choose([need(), need(3)], FleetConf(), 10.0))
    await asyncio.sleep(1.0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert ray.groups == []
    assert kept.devices == frozenset()


async def test_only_nodes_with_these_labels_are_chosen(ray: FakeRay) -> None:
    kept = Reservations("run", gpu=True)
    conf = FleetConf(nodes={"ray.io/node-id": "!in(x, z)"})
    assert names(await kept.choose([need()], conf, 10.0)) == ["y/gpu0"]


async def test_a_replica_is_put_on_nodes_with_its_own_labels_too(ray: FakeRay) -> None:
    kept = Reservations("run", gpu=True)
    on_y = replace(need(), on={"ray.io/node-id": "y"})
    assert names(await kept.choose([on_y, need()], FleetConf(), 10.0)) == ["x/gpu0", "y/gpu0"]


async def test_the_gpus_of_a_replica_are_on_one_node_unless_it_is_spread(ray: FakeRay) -> None:
    kept = Reservations("run", gpu=True)
    assert await kept.choose([need(3)], FleetConf(), 10.0) == ()
    chosen = await kept.choose([need(3, nodes=2)], FleetConf(), 10.0)
    assert names(chosen) == ["x/gpu0", "x/gpu1", "y/gpu0"]


async def test_chosen_nodes_that_cannot_be_asked_are_asked_again(ray: FakeRay) -> None:
    ray.deaf = 2
    kept = Reservations("run", gpu=True)
    assert names(await kept.choose([need()], FleetConf(), 10.0)) == ["x/gpu0"]


async def test_chosen_nodes_that_cannot_be_asked_at_all_are_given_back(ray: FakeRay) -> None:
    ray.deaf = 1000
    kept = Reservations("run", gpu=True)
    with pytest.raises(ConnectionError):
        await kept.choose([need()], FleetConf(), 10.0)
    assert ray.groups == []


async def test_chosen_devices_on_which_no_engine_can_start_are_given_back(ray: FakeRay) -> None:
    ray.unusable = {"y"}
    kept = Reservations("run", gpu=True)
    chosen = await kept.choose([need(2), need()], FleetConf(), 10.0)
    assert names(chosen) == ["x/gpu0", "x/gpu1"]
    assert ray.kept == [["x/gpu0", "x/gpu1"]]


async def test_one_group_that_keeps_several_devices_is_given_back_once(ray: FakeRay) -> None:
    kept = Reservations("run", gpu=True)
    await kept.choose([need(2), need()], FleetConf(), 10.0)
    assert kept.groups_of(["x/gpu1"]) == [{"x/gpu0", "x/gpu1"}]
    assert kept.groups_of(["y/gpu0", "gone/gpu0"]) == [{"y/gpu0"}]
    kept.forget(["x/gpu0", "x/gpu1"])
    assert ray.kept == [["y/gpu0"]]
    assert kept.devices == {"y/gpu0"}


async def test_devices_that_are_released_are_taken_again(ray: FakeRay) -> None:
    kept = Reservations("run", gpu=True)
    await kept.reserve(all_nodes(ray), 10.0)
    kept.release(["x/gpu0", "y/gpu0"])
    assert ray.kept == [["x/gpu1"]]
    assert len(kept.devices) == 3
    await kept.take(["x/gpu0", "y/gpu0"])
    assert len(ray.kept) == 3


async def test_devices_that_are_gone_are_not_taken_again(ray: FakeRay) -> None:
    kept = Reservations("run", gpu=True)
    await kept.reserve(all_nodes(ray), 10.0)
    kept.release(["x/gpu0", "y/gpu0"])
    ray.kill("y")
    kept.forget(["y/gpu0"])
    await kept.take(["x/gpu0", "y/gpu0"])
    assert ray.kept == [["x/gpu0"], ["x/gpu1"]]


async def test_what_was_never_reserved_can_be_forgotten(ray: FakeRay) -> None:
    kept = Reservations("run", gpu=True)
    kept.forget(["x/gpu0"])
    kept.release(["x/gpu0"])
    assert kept.devices == frozenset()
