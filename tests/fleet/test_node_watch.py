"""Nodes that come and go under engines: what is lost, found and asked for."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager

import pytest
from fleet.fake_placement_groups import FakeRay
from statements import code, codes, the, values
from virtual_time import now, until

from raybench.config import FleetConf
from raybench.demands import Demand, NoneComesError
from raybench.engines.scheduler.messages import (
    Device,
    DevicesFound,
    DevicesLost,
    EngineNeed,
    MemoryBudget,
    Node,
    NoMoreDevices,
)
from raybench.errors import Problem
from raybench.fleet import node_watch
from raybench.fleet.devices import Machine
from raybench.fleet.needs import nodes_of
from raybench.fleet.node_watch import NodeWatch
from raybench.fleet.reservations import Reservations

pytestmark = pytest.mark.virtual_time

Change = DevicesLost | DevicesFound | NoMoreDevices
Next = Callable[[], Awaitable[Change]]
CONF = FleetConf(start_deadline_s=100.0)


class FakeCluster(FakeRay):
    """Nodes with GPUs, and an autoscaler that is asked for more."""

    def __init__(self) -> None:
        super().__init__(x=2, head=0)
        self.asked: list[Demand] = []
        self.none = ""
        """Why nothing comes, where that is so."""
        self.said: list[str] = []
        self.problems: dict[str, Problem] = {}
        """Nodes on whose GPUs no engine can start."""

    async def come(
        self, lacking: Callable[[], int], demand: Demand, what: str, **more: object
    ) -> None:
        self.asked.append(demand)
        while lacking():
            if self.none:
                raise NoneComesError(Problem("resources.nodes", self.none))
            await asyncio.sleep(1.0)

    def machines(
        self, conf: FleetConf, *, gpu: bool, only: set[str] | None = None
    ) -> list[Machine]:
        found = super().machines(conf, gpu=gpu, only=only)
        return [
            Machine(it.id, it.memory_gib, {}, (self.problems[it.id],))
            if it.id in self.problems
            else it
            for it in found
        ]


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    found = FakeCluster()
    found.patch(monkeypatch)
    monkeypatch.setattr(node_watch, "_alive", lambda: {*found.gpus})
    monkeypatch.setattr(node_watch, "may_come", lambda: True)
    monkeypatch.setattr(node_watch, "come", found.come)
    monkeypatch.setattr(node_watch, "nodes", found.machines)
    return found


@asynccontextmanager
async def watched(
    there: FakeCluster, *needs: int, gpu: bool = True
) -> AsyncIterator[tuple[Reservations, Next]]:
    """Watch all nodes, or devices that Ray chose for these numbers of them."""
    kept = Reservations("run", gpu=gpu)
    if needs:
        wanted = [EngineNeed("e", MemoryBudget(1.0), devices=count) for count in needs]
        await kept.choose(wanted, CONF, 10.0)
    else:
        await kept.reserve(nodes_of(there.machines(CONF, gpu=gpu), CONF, gpu=gpu), 10.0)
    watch = NodeWatch(kept, CONF, there.said.append, gpu=gpu, takes_all=not needs)
    async with aclosing(watch.changes()) as changes:

        async def after() -> Change:
            return await anext(changes)

        yield kept, after


def found(*devices: str) -> DevicesFound:
    by_node: dict[str, list[str]] = {}
    for device in devices:
        by_node.setdefault(device.partition("/")[0], []).append(device)
    return DevicesFound(
        tuple(
            Node(name, tuple(Device(it, 80.0) for it in those), 4.0)
            for name, those in by_node.items()
        )
    )


def lost(*devices: str, awaited: bool = True) -> DevicesLost:
    return DevicesLost(frozenset(devices), awaited)


# The run takes all devices


async def test_another_node_is_asked_for_in_the_place_of_one_that_died(there: FakeCluster) -> None:
    async with watched(there) as (kept, after):
        there.kill("x")
        assert await after() == lost("x/gpu0", "x/gpu1")
        there.add("y", 1)
        assert await after() == found("y/gpu0")
        assert kept.devices == {"y/gpu0"}
        assert await after() == NoMoreDevices()
        (demand,) = there.asked
        assert demand.amounts == {"GPU": 2}  # as the one that died had
        assert there.kept == [["y/gpu0"]]


async def test_nodes_that_die_are_lost_once(there: FakeCluster) -> None:
    there.add("y", 1)
    async with watched(there) as (_, after):
        there.kill("x")
        assert await after() == lost("x/gpu0", "x/gpu1")
        there.kill("y")
        assert await after() == lost("y/gpu0")
        assert len(there.asked) == 1


async def test_where_no_node_comes_the_wait_ends(there: FakeCluster) -> None:
    async with watched(there) as (_, after):
        there.none = "and none came within 1 s"
        there.kill("x")
        assert await after() == lost("x/gpu0", "x/gpu1")
        assert await after() == NoMoreDevices()
        assert the("fleet.node_died", there.said) == {"reason": there.none}


async def test_without_an_autoscaler_no_node_is_awaited_and_one_that_comes_is_taken(
    there: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_watch, "may_come", lambda: False)
    async with watched(there) as (_, after):
        there.kill("x")
        assert await after() == lost("x/gpu0", "x/gpu1", awaited=False)
        there.add("z", 2)
        there.add("more", 0)
        assert await after() == found("z/gpu0", "z/gpu1")
        there.kill("z")
        assert await after() == lost("z/gpu0", "z/gpu1", awaited=False)
        assert there.asked == []


async def test_what_others_use_of_new_nodes_is_left_to_them(there: FakeCluster) -> None:
    async with watched(there) as (kept, after):
        there.busy = {"y/gpu1"}
        there.add("y", 2)
        there.add("z", 1)
        assert await after() == found("z/gpu0")
        waits = asyncio.ensure_future(after())
        await until(lambda: bool(there.said))
        assert codes(there.said) == ["fleet.new_nodes_taken"]
        assert kept.devices == {"x/gpu0", "x/gpu1", "z/gpu0"}
        assert there.kept == [["x/gpu0"], ["x/gpu1"], ["z/gpu0"]]
        there.kill("x")
        assert await waits == lost("x/gpu0", "x/gpu1")


async def test_a_loss_is_noticed_while_new_devices_are_waited_for(there: FakeCluster) -> None:
    async with watched(there) as (_, after):
        there.busy = {"y/gpu0"}
        there.add("y", 1)
        waits = asyncio.ensure_future(after())
        await asyncio.sleep(7.0)
        there.kill("x")
        assert await waits == lost("x/gpu0", "x/gpu1")
        assert there.said == []


async def test_a_node_that_dies_while_it_is_reserved_is_not_found(there: FakeCluster) -> None:
    async with watched(there) as (kept, after):
        there.busy = {"y/gpu0"}
        there.add("y", 1)
        waits = asyncio.ensure_future(after())
        await asyncio.sleep(7.0)
        there.none = "and none came within 1 s"
        there.kill("y")
        assert await waits == lost("y/gpu0")
        there.free("y/gpu0")
        assert await after() == NoMoreDevices()
        assert kept.devices == {"x/gpu0", "x/gpu1"}


async def test_a_new_node_on_whose_gpus_no_engine_can_start_is_left_out(there: FakeCluster) -> None:
    there.problems["y"] = Problem("resources.driver", "the driver is too old")
    async with watched(there) as (_, after):
        there.add("y", 2)
        there.add("z", 1)
        assert await after() == found("z/gpu0")
        (said,) = there.said
        assert (code(said), values(said)) == (
            "fleet.node_left_out",
            {"problem": there.problems["y"].text},
        )


async def test_a_node_that_cannot_be_asked_is_asked_again(there: FakeCluster) -> None:
    async with watched(there) as (_, after):
        there.deaf = 2
        there.add("y", 1)
        assert await after() == found("y/gpu0")


async def test_on_cpus_a_node_is_a_device(there: FakeCluster) -> None:
    async with watched(there, gpu=False) as (_, after):
        there.kill("x")
        assert await after() == lost("x/cpu")
        there.add("y", 0)
        change = await after()
        assert isinstance(change, DevicesFound)
        assert [it.name for node in change.nodes for it in node.devices] == ["y/cpu"]
        (demand,) = there.asked
        assert demand.amounts == {"CPU": 1}


# The run has only as many devices as it needs


async def test_ray_chooses_others_in_the_place_of_lost_ones(
    there: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_watch, "may_come", lambda: False)
    async with watched(there, 1) as (kept, after):
        there.add("y", 2)  # of which the run takes nothing yet
        there.kill("x")
        assert await after() == lost("x/gpu0")
        assert await after() == found("y/gpu0")
        assert await after() == NoMoreDevices()
        assert kept.devices == {"y/gpu0"}
        assert there.kept == [["y/gpu0"]]
        assert there.asked == []


async def test_a_run_that_needs_no_more_leaves_nodes_that_come_to_others(
    there: FakeCluster,
) -> None:
    async with watched(there, 1) as (_, after):
        there.add("y", 2)
        waits = asyncio.ensure_future(after())
        await asyncio.sleep(30.0)
        assert not waits.done()
        assert there.kept == [["x/gpu0"]]
        waits.cancel()
        await asyncio.gather(waits, return_exceptions=True)


async def test_the_wait_ends_where_no_device_becomes_free(there: FakeCluster) -> None:
    async with watched(there, 2) as (kept, after):
        there.kill("x")
        began = now()
        assert await after() == lost("x/gpu0", "x/gpu1")
        assert await after() == NoMoreDevices()
        assert now() - began >= CONF.start_deadline_s
        assert the("fleet.devices_died", there.said)["lacking"] == 2
        assert there.kept == []
        assert kept.devices == frozenset()


async def test_devices_that_were_reserved_together_are_chosen_together(there: FakeCluster) -> None:
    async with watched(there, 2) as (_, after):
        there.add("y", 1)
        there.add("z", 2)
        there.kill("x")
        assert await after() == lost("x/gpu0", "x/gpu1")
        assert await after() == found("z/gpu0", "z/gpu1")
        assert await after() == NoMoreDevices()


async def test_devices_that_were_reserved_by_themselves_come_by_themselves(
    there: FakeCluster,
) -> None:
    async with watched(there, 1, 1) as (_, after):
        there.kill("x")
        there.add("y", 1)
        assert await after() == lost("x/gpu0", "x/gpu1")
        assert await after() == found("y/gpu0")
        there.add("z", 1)
        assert await after() == found("z/gpu0")
        assert await after() == NoMoreDevices()


async def test_a_second_loss_is_made_good_as_well(there: FakeCluster) -> None:
    there.add("y", 1)
    async with watched(there, 2, 1) as (kept, after):
        there.kill("x")
        assert await after() == lost("x/gpu0", "x/gpu1")
        there.kill("y")
        assert await after() == lost("y/gpu0")
        there.add("z", 3)
        assert isinstance(await after(), DevicesFound)
        assert await after() == NoMoreDevices()
        assert kept.devices == {"z/gpu0", "z/gpu1", "z/gpu2"}


async def test_devices_on_several_nodes_that_were_reserved_together_are_lost_together(
    there: FakeCluster,
) -> None:
    there.add("y", 1)
    kept = Reservations("run", gpu=True)
    spread = EngineNeed("e", MemoryBudget(1.0), devices=3, nodes=2)
    await kept.choose([spread], CONF, 10.0)
    watch = NodeWatch(kept, CONF, there.said.append, gpu=True, takes_all=False)
    async with aclosing(watch.changes()) as changes:
        there.kill("y")
        assert await anext(changes) == lost("x/gpu0", "x/gpu1", "y/gpu0")
        there.add("z", 1)
        assert await anext(changes) == found("x/gpu0", "x/gpu1", "z/gpu0")
        assert await anext(changes) == NoMoreDevices()


async def test_a_chosen_node_that_cannot_be_asked_is_asked_again(there: FakeCluster) -> None:
    async with watched(there, 1) as (_, after):
        there.add("y", 1)
        there.kill("x")
        there.deaf = 2
        assert await after() == lost("x/gpu0")
        assert await after() == found("y/gpu0")


async def test_the_wait_ends_where_chosen_nodes_cannot_be_asked_at_all(there: FakeCluster) -> None:
    async with watched(there, 1) as (kept, after):
        there.add("y", 1)
        there.kill("x")
        there.deaf = 1000
        assert await after() == lost("x/gpu0")
        assert await after() == NoMoreDevices()
        assert there.kept == []
        assert kept.devices == frozenset()


async def test_nothing_is_asked_for_once_it_has_ended(there: FakeCluster) -> None:
    async with watched(there, 1) as (_, after):
        there.kill("x")
        assert await after() == lost("x/gpu0")
        await until(lambda: bool(there.groups))
    await until(lambda: not there.groups)


async def test_others_have_the_labels_that_the_engine_of_the_lost_ones_asks_for(
    there: FakeCluster,
) -> None:
    there.add("y", 1)
    kept = Reservations("run", gpu=True)
    on = {"ray.io/node-id": "!in(y, head)"}
    wanted = EngineNeed("e", MemoryBudget(1.0), devices=1, on=on)
    await kept.choose([wanted], CONF, 10.0)
    assert kept.devices == {"x/gpu0"}
    watch = NodeWatch(kept, CONF, there.said.append, gpu=True, takes_all=False)
    async with aclosing(watch.changes()) as changes:
        there.kill("x")
        assert await anext(changes) == lost("x/gpu0")
        await asyncio.sleep(20.0)
        there.add("z", 1)
        assert await anext(changes) == found("z/gpu0")
