"""The controller on a cluster: GPUs that it takes, what it refuses, how it begins and ends."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fleet.fake_placement_groups import FakeRay
from refusals import refused
from statements import code, codes, the
from virtual_time import now, until

from raybench.config import FleetConf
from raybench.engines.base import DemandReport
from raybench.engines.controller import Assignments
from raybench.engines.scheduler.messages import SleepLevel
from raybench.errors import Problem, RunFailed
from raybench.fleet import cluster_controller, node_watch, quiet
from raybench.fleet.cluster_controller import ClusterController
from raybench.fleet.downloads import Download, Outcome
from raybench.fleet.engines import EngineSpec, group_engines
from raybench.fleet.reservations import Reservations
from raybench.fleet.serve_backend import Hosting
from raybench.types import ModelSpec

pytestmark = pytest.mark.virtual_time

TOO_LARGE_GIB = 100.0


class FakeBackend:
    """Loads and ends replicas at once."""

    def __init__(self, hosting: Hosting, reservations: Reservations, *_: object) -> None:
        self.hosting, self.reservations = hosting, reservations
        self.loads: list[tuple[str, tuple[str, ...]]] = []
        self.unloads: list[str] = []
        self.is_stopped = False

    async def load(
        self, replica: str, engine: str, devices: Sequence[str], *, has_process: bool
    ) -> float | None:
        self.loads.append((engine, tuple(devices)))
        return None

    async def wake(self, replica: str, level: SleepLevel) -> bool:
        return True

    async def close(self, replica: str, *, cut_waiting: bool) -> None:
        pass

    async def reopen(self, replica: str) -> None:
        pass

    async def sleep(self, replica: str, level: SleepLevel) -> tuple[float | None, float | None]:
        return None, None

    async def unload(self, replica: str) -> None:
        self.unloads.append(replica)

    def stop(self) -> None:
        self.is_stopped = True


class FakeCluster(FakeRay):
    """Nodes with GPUs, the sizes of weights there, and the backend of the controller."""

    def __init__(self) -> None:
        super().__init__(x=2, y=2)
        self.may_come = False
        self.sizes: dict[str, float] = {}
        """GiB by the beginning of an engine's name."""
        self.backends: list[FakeBackend] = []
        self.lacks: dict[str, set[str]] = {}
        """Repositories that a node lacks."""
        self.problems: dict[str, Problem] = {}
        """Why repositories cannot be fetched."""

    async def missing_on(
        self, node: str, wanted: Mapping[str, Sequence[Download]]
    ) -> frozenset[str]:
        """Return the engines of which a node lacks files."""
        lacks = self.lacks.get(node, set())
        return frozenset(
            name for name, each in wanted.items() if any(it.repository in lacks for it in each)
        )

    async def fetch_on(self, node: str, download: Download) -> Outcome:
        """Fetch in 10 s."""
        await asyncio.sleep(10)
        if problem := self.problems.get(download.repository):
            return Outcome("missing", problem=problem)
        self.lacks[node].discard(download.repository)
        return Outcome("fetched")

    def make_backend(self, *given: Any) -> FakeBackend:
        self.backends.append(FakeBackend(*given))
        return self.backends[-1]

    async def find_sizes(self, specs: Sequence[EngineSpec]) -> dict[str, float]:
        return {
            spec.name: gib
            for spec in specs
            for model, gib in self.sizes.items()
            if spec.called == model
        }


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    found = FakeCluster()
    found.patch(monkeypatch)
    for module in (cluster_controller, node_watch):
        monkeypatch.setattr(module, "nodes", found.machines)
        monkeypatch.setattr(module, "may_come", lambda: found.may_come)
    monkeypatch.setattr(node_watch, "_alive", lambda: {*found.gpus})
    monkeypatch.setattr(cluster_controller, "sizes", found.find_sizes)
    for name in ("missing_on", "fetch_on"):
        monkeypatch.setattr(cluster_controller, name, getattr(found, name))
    monkeypatch.setattr(cluster_controller, "address_of", str)
    monkeypatch.setattr(cluster_controller, "ServeBackend", found.make_backend)
    monkeypatch.setattr(quiet, "quieten", lambda: None)
    return found


def specs_of(*models: str, **options: int) -> Sequence[EngineSpec]:
    return group_engines(
        [ModelSpec(model, "vllm", f"org/{model}", options=options) for model in models]
    )


@asynccontextmanager
async def opened(
    *models: str, gpu: bool = True, options: dict[str, int] | None = None, **conf: Any
) -> AsyncIterator[ClusterController]:
    controller = ClusterController(
        specs_of(*models, **(options or {})), FleetConf(start_deadline_s=60.0, **conf), gpu=gpu
    )
    await controller.open("handle")
    try:
        yield controller
    finally:
        await controller.stop()


@pytest.mark.parametrize(
    ("models", "conf", "gpus"),
    [
        ("a", {}, 1),
        ("ab", {}, 2),
        ("abcd", {}, 4),
        ("abcde", {}, 4),
        ("a", {"replicas": 3}, 3),
        ("a", {"replicas": "auto"}, 4),
        ("a", {"slots": 1}, 4),
    ],
)
async def test_a_run_takes_as_many_gpus_as_it_can_use(
    there: FakeCluster, models: str, conf: dict[str, Any], gpus: int
) -> None:
    async with opened(*models, **conf):
        assert sum(map(len, there.kept)) == gpus
        (backend,) = there.backends
        assert len(backend.reservations.devices) == gpus


async def test_a_run_that_needs_only_some_leaves_it_to_ray_which(there: FakeCluster) -> None:
    there.busy = {"x/gpu0", "y/gpu1"}
    async with opened("a", "b"):
        assert there.kept == [["x/gpu1"], ["y/gpu0"]]


async def test_a_run_that_takes_all_waits_for_gpus_that_others_use(there: FakeCluster) -> None:
    there.busy = {"x/gpu0"}
    asyncio.get_running_loop().call_later(20.0, there.free, "x/gpu0")
    began = now()
    async with opened(*"abcde") as controller:
        assert now() - began >= 20.0
        assert len(there.kept) == 4
        assert "fleet.fewer_gpus" not in codes(controller.status().said)


async def test_a_run_that_takes_all_does_without_gpus_that_others_keep(there: FakeCluster) -> None:
    there.busy = {"x/gpu0"}
    began = now()
    async with opened(*"abcde") as controller:
        assert now() - began <= 100.0
        assert there.kept == [["x/gpu1"], ["y/gpu0"], ["y/gpu1"]]
        assert the("fleet.fewer_gpus", controller.status().said)["count"] == 3


async def test_where_others_keep_all_gpus_a_run_waits_for_one(there: FakeCluster) -> None:
    there.busy = {"x/gpu0", "x/gpu1", "y/gpu0", "y/gpu1"}
    asyncio.get_running_loop().call_later(50.0, there.free, "y/gpu0")
    async with opened("a", replicas="auto"):
        assert there.kept == [["y/gpu0"]]


async def test_on_cpus_nothing_is_kept_from_others(there: FakeCluster) -> None:
    async with opened("a", gpu=False, slots=1):
        assert there.groups == []
        (backend,) = there.backends
        assert backend.reservations.devices == {"x/cpu", "y/cpu"}


async def test_what_fits_is_loaded_at_once(there: FakeCluster) -> None:
    async with opened("a", "b"):
        (backend,) = there.backends
        await until(lambda: len(backend.loads) == 2)
        assert {devices for _, devices in backend.loads} == {("x/gpu0",), ("x/gpu1",)}


async def test_weights_are_fetched_before_a_load_takes_a_gpu(there: FakeCluster) -> None:
    there.lacks = {"x": {"org/a"}, "y": {"org/a", "org/b"}}
    async with opened("a", "b", replicas=2) as controller:
        (backend,) = there.backends
        await until(lambda: bool(backend.loads))
        began = now()
        assert backend.loads[0][1][0].startswith("x/")
        assert "weights.fetching" in codes(controller.status().said)
        await until(lambda: len(backend.loads) == 2)
        assert now() - began == pytest.approx(10.0, abs=1.0)
        await asyncio.sleep(30)
        assert not there.lacks["x"] | there.lacks["y"]


async def test_weights_that_cannot_be_fetched_fail_their_engine_alone(there: FakeCluster) -> None:
    there.lacks = {name: {"org/a"} for name in "xy"}
    there.problems = {"org/a": Problem("hub.access", "org/a is gated")}
    async with opened("a", "b") as controller:
        (backend,) = there.backends
        failing = specs_of("a")[0].name
        await until(lambda: bool(controller.status().engines[failing].failure))
        assert code(controller.status().engines[failing].failure) == "weights.missing"
        assert [engine for engine, _ in backend.loads] == [specs_of("b")[0].name]


async def test_a_node_that_comes_gets_the_weights_that_it_lacks(there: FakeCluster) -> None:
    there.gpus, there.may_come = {"x": 1}, True
    async with opened("a"):
        (backend,) = there.backends
        await until(lambda: len(backend.loads) == 1)
        there.lacks["z"] = {"org/a"}
        there.kill("x")
        there.add("z", 1)
        await until(lambda: len(backend.loads) == 2)
        assert backend.loads[1][1] == ("z/gpu0",)
        assert there.lacks["z"] == set()


async def test_downloads_end_with_the_controller(there: FakeCluster) -> None:
    there.lacks = {name: {"org/a"} for name in "xy"}
    async with opened("a") as controller:
        await controller.turn_away()
        await asyncio.sleep(100)
        assert there.lacks == {name: {"org/a"} for name in "xy"}


async def test_all_engines_that_fit_nowhere_are_named_before_any_is_loaded(
    there: FakeCluster,
) -> None:
    there.sizes = {"a": TOO_LARGE_GIB, "b": 1.0, "c": TOO_LARGE_GIB}
    with refused("resources.gpus", kind=RunFailed) as failure:
        async with opened(*"abc"):
            pass
    assert len(failure.value.problems) == 2
    assert there.groups == [] == there.backends


async def test_an_engine_that_fits_nowhere_waits_for_nodes_that_may_come(
    there: FakeCluster,
) -> None:
    with refused("resources.gpus", kind=RunFailed):
        async with opened("a", options={"tensor_parallel_size": 4}):
            pass
    there.may_come = True
    asyncio.get_running_loop().call_later(30.0, there.add, "z", 4)
    async with opened("a", options={"tensor_parallel_size": 4}):
        assert there.kept == [["z/gpu0", "z/gpu1", "z/gpu2", "z/gpu3"]]


@pytest.mark.parametrize("may_come", [False, True])
async def test_stages_of_a_pipeline_are_spread_over_the_nodes_that_are_there(
    there: FakeCluster, *, may_come: bool
) -> None:
    there.may_come = may_come
    options = {"tensor_parallel_size": 2, "pipeline_parallel_size": 2}
    async with opened("a", options=options):
        assert there.kept == [["x/gpu0", "x/gpu1", "y/gpu0", "y/gpu1"]]
        (backend,) = there.backends
        (need,) = backend.hosting.needs.values()
        assert need.nodes == 2


async def test_engines_take_turns_where_ray_has_fewer_gpus_than_they_need(
    there: FakeCluster,
) -> None:
    there.busy = {"x/gpu0", "x/gpu1", "y/gpu0"}
    async with opened("a", "b") as controller:
        assert the("fleet.fewer_gpus", controller.status().said)["count"] == 1
        assert there.kept == [["y/gpu1"]]
        (backend,) = there.backends
        await until(lambda: len(backend.loads) == 1)


async def test_an_engine_that_does_not_fit_on_the_gpus_that_are_free_fails_alone(
    there: FakeCluster,
) -> None:
    there.busy = {"x/gpu0", "y/gpu0", "y/gpu1"}
    specs = [*specs_of("a"), *specs_of("b", tensor_parallel_size=2)]
    controller = ClusterController(specs, FleetConf(start_deadline_s=60.0), gpu=True)
    await controller.open("handle")
    failures = [controller.status().engines[spec.name].failure for spec in specs]
    assert [code(it) if it else "" for it in failures] == ["", "engine.fits_nowhere"]
    await until(lambda: len(there.backends[0].loads) == 1)
    await controller.stop()


@pytest.mark.parametrize("nodes", [{}, {"x": 1}])
async def test_where_no_gpu_is_free_the_run_ends(there: FakeCluster, nodes: dict[str, int]) -> None:
    there.gpus, there.busy = nodes, {"x/gpu0"}
    with refused("resources.gpus", kind=RunFailed):
        async with opened("a"):
            pass
    assert there.groups == [] == there.backends


async def test_clients_wait_until_the_controller_is_open(there: FakeCluster) -> None:
    there.busy = {"x/gpu0", "x/gpu1", "y/gpu0", "y/gpu1"}
    specs = specs_of("a")
    controller = ClusterController(specs, FleetConf(), gpu=True)
    assert controller.status().engines == {}
    opening = asyncio.create_task(controller.open("handle"))
    demand = DemandReport("client", specs[0].name, ready=1, outstanding=0, remaining=0)
    reporting = asyncio.create_task(controller.report([demand]))
    asking = asyncio.create_task(controller.assignments("client", -1))
    await asyncio.sleep(30.0)
    assert controller.status().engines == {}
    assert not (reporting.done() or asking.done())
    there.free("x/gpu0")
    await asyncio.gather(opening, reporting)
    assert isinstance(await asking, Assignments)
    await until(lambda: bool(there.backends[0].loads))
    await controller.stop()


async def test_requests_are_turned_away_and_no_engine_is_loaded_any_more(
    there: FakeCluster,
) -> None:
    async with opened("a", "b") as controller:
        await controller.turn_away()
        assignments = await controller.assignments("client", -1)
        assert assignments.replicas == {}
        assert [code(it) for it in assignments.failures.values()] == ["engine.stopped"] * 2
        (backend,) = there.backends
        assert backend.loads == []
        assert not backend.is_stopped
    assert backend.is_stopped


async def test_a_controller_that_is_stopped_before_it_is_open_loads_nothing(
    there: FakeCluster,
) -> None:
    there.busy = {"x/gpu0", "x/gpu1", "y/gpu0", "y/gpu1"}
    controller = ClusterController(specs_of("a"), FleetConf(), gpu=True)
    opening = asyncio.create_task(controller.open("handle"))
    await asyncio.sleep(10.0)
    await controller.stop()
    there.free("x/gpu0")
    await opening
    assert there.groups == [] == there.backends


async def test_engines_of_a_node_that_dies_are_loaded_on_others(there: FakeCluster) -> None:
    async with opened("a", "b"):
        (backend,) = there.backends
        await until(lambda: len(backend.loads) == 2)
        there.kill("x")
        await until(lambda: len(backend.loads) == 4)
        assert len(backend.unloads) == 2
        assert {devices for _, devices in backend.loads[2:]} == {("y/gpu0",), ("y/gpu1",)}
        assert there.kept == [["y/gpu0"], ["y/gpu1"]]
