"""What a person is told when Ray or the controller does not come up. No Ray is started.

Engines that do not come up: test_engines_that_fail.py, test_host_real.py.
"""

import asyncio
from typing import Any

import pytest
import ray
from fleet.fake_deployment import Remote
from ray.exceptions import ActorDiedError, RayTaskError
from refusals import refused

from raybench.config import FleetConf
from raybench.engines.controller import Status
from raybench.engines.scheduler.messages import Device, EngineNeed, MemoryBudget, Node
from raybench.engines.scheduler.move_costs import Swaps
from raybench.errors import Problem, RunFailed
from raybench.fleet import cluster_controller, group_engines, host, open_fleet, quiet
from raybench.fleet.cluster import cluster
from raybench.types import ModelSpec


@pytest.mark.parametrize("failures", [1, 3])
async def test_a_ray_that_does_not_come_up_in_time_is_started_again(
    monkeypatch: pytest.MonkeyPatch, failures: int
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    tries: list[object] = []
    ends: list[object] = []
    said: list[str] = []

    def init(**arguments: object) -> None:
        tries.append(arguments)
        if len(tries) <= failures:
            raise Exception("The current node timed out during startup. This could happen …")

    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(ray, "shutdown", lambda: ends.append(None))
    async with cluster(FleetConf(), said.append):
        assert not ends
    assert tries == tries[:1] * (failures + 1)
    assert len(said) == failures + 1 and len(ends) == 1


async def test_a_cluster_that_is_not_there_is_named_with_its_setting() -> None:
    model = ModelSpec(name="odd", engine="vllm", weights="org/name")
    conf = FleetConf(address="127.0.0.1:9")
    with refused("ray.start"):
        async with open_fleet([model], conf, lambda text: None):
            raise AssertionError("there is no cluster")


# ---------------------------------------------------------------------------------- the controller


SPECS = group_engines([ModelSpec("m", "vllm", "org/m")])


class Controller:
    """A controller whose opening takes a while."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.opens_in_s = 2.0
        self.is_open = False
        self.open, self.status, self.stop = map(Remote, (self._open, self._status, self._stop))
        self.stops = 0

    async def _open(self) -> None:
        await asyncio.sleep(self.opens_in_s)
        if self.error is not None:
            raise self.error
        self.is_open = True

    async def _status(self) -> Status:
        return Status({}, Swaps(), ("it opens", *["it is open"] * self.is_open))

    async def _stop(self) -> None:
        self.stops += 1
        if self.error is not None:
            raise self.error


@pytest.mark.virtual_time
async def test_what_a_controller_says_while_it_opens_is_told() -> None:
    told: list[Status] = []
    await host.opened(Controller(), told.append)
    assert len(told) > 2
    assert len(told[0].said) == 1
    assert len(told[-1].said) == 2


@pytest.mark.virtual_time
async def test_what_keeps_engines_from_being_hosted_here_is_passed_on() -> None:
    problems = [Problem("resources.memory", "too large", "fleet.max_model_len", 7)]
    error = RayTaskError("open", "Traceback", RunFailed(problems)).as_instanceof_cause()
    with refused("resources.memory", "fleet.max_model_len", given=7, kind=RunFailed) as raised:
        await host.opened(Controller(error), lambda _: None)
    assert type(raised.value) is RunFailed


@pytest.mark.virtual_time
@pytest.mark.parametrize("error", [ActorDiedError(), RuntimeError()])
async def test_a_controller_that_dies_while_it_opens_is_lost(error: Exception) -> None:
    with refused("engine.lost", kind=RunFailed):
        await host.opened(Controller(error), lambda _: None)


@pytest.mark.virtual_time
async def test_a_wait_for_the_controller_that_is_cancelled_leaves_no_task() -> None:
    controller = Controller()
    controller.opens_in_s = 1000
    opening = asyncio.create_task(host.opened(controller, lambda _: None))
    await asyncio.sleep(5)
    opening.cancel()
    await asyncio.gather(opening, return_exceptions=True)
    await asyncio.sleep(0)
    assert opening.cancelled()
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.virtual_time
async def test_a_controller_that_is_stopped_while_it_opens_loads_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looking, here = asyncio.Event(), Node("a", (Device("a/cpu", 80.0, exclusive_moves=False),))

    async def sizes(specs: object) -> dict[str, float]:
        await looking.wait()
        return {}

    async def nothing_missing(*_: object) -> frozenset[str]:
        return frozenset()

    def fail(*_: object) -> None:
        raise AssertionError("it is stopped")

    monkeypatch.setattr(quiet, "quieten", lambda: None)
    monkeypatch.setattr(cluster_controller, "sizes", sizes)
    monkeypatch.setattr(cluster_controller, "missing_on", nothing_missing)
    monkeypatch.setattr(cluster_controller, "nodes", lambda *_, **__: [])
    monkeypatch.setattr(cluster_controller, "nodes_of", lambda *_, **__: (here,))
    monkeypatch.setattr(cluster_controller, "may_come", lambda: False)
    monkeypatch.setattr(
        cluster_controller,
        "needs_of",
        lambda spec, *_, **__: EngineNeed(spec.name, MemoryBudget(1.0)),
    )
    monkeypatch.setattr(cluster_controller, "ServeBackend", fail)
    controller = cluster_controller.ClusterController(SPECS, FleetConf(), gpu=False)
    opening = asyncio.create_task(controller.open("its handle"))
    await asyncio.sleep(1)
    await controller.stop()
    looking.set()
    await opening
    assert controller.status().engines == {}


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The replicas that a process ends itself."""
    names: list[str] = []
    there = [f"{SPECS[0].name}-r{number}" for number in range(2)]
    applications: dict[str, Any] = dict.fromkeys([*there, "another-run-r0", "endpoint"])
    monkeypatch.setattr(host, "applications", lambda: applications)
    monkeypatch.setattr(host, "stop", names.extend)
    return names


@pytest.mark.virtual_time
async def test_a_controller_ends_its_replicas_itself(ended: list[str]) -> None:
    controller = Controller()
    await host.take_down(controller, SPECS, lambda _: None)
    assert (controller.stops, ended) == (1, [])


@pytest.mark.virtual_time
async def test_the_replicas_of_a_controller_that_died_are_ended(ended: list[str]) -> None:
    await host.take_down(Controller(ActorDiedError()), SPECS, lambda _: None)
    assert ended == [f"{SPECS[0].name}-r0", f"{SPECS[0].name}-r1"]


@pytest.mark.virtual_time
async def test_replicas_that_cannot_be_ended_are_told(
    ended: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(names: list[str]) -> None:
        raise ConnectionError("Serve is gone")

    monkeypatch.setattr(host, "stop", fail)
    said: list[str] = []
    await host.take_down(Controller(ActorDiedError()), SPECS, said.append)
    assert len(said) == 1
