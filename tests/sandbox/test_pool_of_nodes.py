"""Slots on several nodes: as many as these have, and fewer when one of them dies.

Processes of Ray import this module for the functions that slots run. They do not see tests/, so
helpers are imported where they are used.
"""

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import psutil
import pytest
from ray.cluster_utils import Cluster
from ray.exceptions import RayActorError

from raybench.sandbox import SandboxUnavailableError, Settings, slots
from raybench.sandbox.pool import Pool

pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]


SEES_DEATHS_SOON = {
    # A node that is dead refuses at once; one that is busy has half a minute.
    "health_check_initial_delay_ms": 500,
    "health_check_period_ms": 200,
    "health_check_timeout_ms": 10_000,
    "health_check_failure_threshold": 3,
}
QUIET = {"include_log_monitor": False}
"""Nobody reads what a log monitor passes on."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Yield a cluster in which no node computes but those that are added."""
    import ray

    head = {"num_cpus": 0, "include_dashboard": False, "_system_config": SEES_DEATHS_SOON, **QUIET}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


@pytest.fixture
def nodes(cluster: Cluster) -> Cluster:
    """Return the cluster with no node that computes."""
    for node in [*cluster.list_all_nodes()]:
        if node is not cluster.head_node:
            cluster.remove_node(node)
    deadline = time.monotonic() + 120
    while len(slots.alive()) > 1:
        assert time.monotonic() < deadline, "nodes that were killed pass for alive"
        time.sleep(0.1)
    return cluster


class Slot:
    """One whose work comes to this; it is begun anew as dead as it was."""

    def __init__(self, node: str, answer: str | Exception) -> None:
        self.node, self._answer = node, answer
        self.actor = self.call = self

    def remote(self, function: object, arguments: object) -> "asyncio.Future[str]":
        future = asyncio.get_running_loop().create_future()
        if isinstance(self._answer, Exception):
            future.set_exception(self._answer)
        else:
            future.set_result(self._answer)
        return future

    def begin(self) -> None:
        pass

    def end(self) -> None:
        pass


async def test_a_node_that_dies_costs_no_more_tries_than_it_takes_to_see_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At first it passes for one that is there, and then each of its slots is found out."""
    looks = iter([{"gone": 4, "left": 1}] + [{"left": 1}] * 3)
    monkeypatch.setattr(slots, "alive", lambda: next(looks))
    pool = Pool(Settings())
    pool._looked = time.monotonic()
    answers: dict[str, Any] = {"gone": RayActorError(), "left": "done"}
    for name, count in (("gone", 3), ("left", 1)):
        told = [Slot(name, answers[name]) for _ in range(count)]
        places: list[Any] = [*told]
        pool._nodes.append(slots.Node(name, name, places, [*places]))
    assert str(await pool.call(nap)) == "done"
    assert pool.slots == 1


def nap() -> int:
    time.sleep(0.1)
    return os.getpid()


def running(pids: set[int]) -> int:
    """Return how many of these processes have not ended."""
    count = 0
    for pid in pids:
        with suppress(psutil.NoSuchProcess):
            count += psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return count


def where() -> str:
    import ray

    time.sleep(0.1)
    return str(ray.get_runtime_context().get_node_id())


async def test_work_goes_on_where_there_are_nodes_left(
    nodes: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes.add_node(num_cpus=2, **QUIET)
    three = nodes.add_node(num_cpus=3, **QUIET)
    said: list[str] = []
    pool = Pool(Settings(), say=said.append)
    await pool.ready()
    assert pool.slots == 1 + 2  # a core of each is left to others
    async with asyncio.timeout(500):
        pids = {*await asyncio.gather(*(pool.call(nap) for _ in range(12)))}
        assert len(pids) == 3
        work = [asyncio.create_task(pool.call(nap)) for _ in range(9)]
        work += [asyncio.create_task(pool.call(nap, alone=True)) for _ in range(2)]
        await asyncio.sleep(0.1)
        await asyncio.to_thread(nodes.remove_node, three, allow_graceful=False)
        assert {*await asyncio.gather(*work)}
        while running(pids) > 1 or len(await asyncio.to_thread(slots.alive)) > 2:
            await asyncio.sleep(0.05)  # slots outlive their node by a moment
        # Those who do nothing when their node dies are found out one after the other.
        assert len(set(await asyncio.gather(*(pool.call(nap) for _ in range(6))))) == 1
        assert pool.slots == 1

        # One that comes is looked for beside the work, and has its share of it.
        monkeypatch.setattr("raybench.sandbox.pool._LOOK_S", 0.5)
        came = nodes.add_node(num_cpus=4, **QUIET)
        while pool.slots == 1:
            await pool.call(nap)
        assert pool.slots == 1 + 3
        ran = await asyncio.gather(*(pool.call(where) for _ in range(12)))
        assert came.node_id in ran and len(set(ran)) == 2

        # Where all go, others are waited for.
        monkeypatch.setattr("raybench.sandbox.pool._LOOK_S", 1000)
        for node in [*nodes.list_all_nodes()]:
            if node is not nodes.head_node:
                await asyncio.to_thread(nodes.remove_node, node, allow_graceful=False)
        waiting = asyncio.create_task(pool.call(where))
        while not said:  # processes of a node may outlive it by a moment
            if waiting.done():
                waiting = asyncio.create_task(pool.call(where))
            await asyncio.sleep(0.1)
        last = nodes.add_node(num_cpus=1, **QUIET)
        assert await waiting == last.node_id
    from statements import codes

    assert codes(said) == ["sandbox.no_nodes"]
    pool.close()


async def test_programs_run_on_the_nodes_that_are_meant_and_can_confine_them(
    nodes: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = [{"sandbox": "yes"}, {"sandbox": "yes"}, {"sandbox": "no"}]
    one, other, third = [nodes.add_node(num_cpus=2, labels=it, **QUIET) for it in labels]
    said: list[str] = []
    pool = Pool(Settings(), on={"sandbox": "!no"}, say=said.append)
    bare = {other.node_id}
    begin = slots.Place.begin

    def begun(place: slots.Place) -> None:
        """Begin it; on that node without a wall that there is."""
        if place.node in bare:
            place.settings = Settings(backend="moat")
        begin(place)

    monkeypatch.setattr(slots.Place, "begin", begun)
    await pool.ready()
    assert set(await asyncio.gather(*(pool.call(where) for _ in range(4)))) == {one.node_id}
    (told,) = said
    from statements import code, values

    assert code(told) == "sandbox.no_programs_on" and "moat" in str(values(told)["why"])
    pool.close()

    bare |= {one.node_id, third.node_id}
    with pytest.raises(SandboxUnavailableError) as caught:
        await Pool(Settings(), on={"sandbox": "in(yes, no)"}).ready()
    assert "moat" in str(caught.value)
    with pytest.raises(SandboxUnavailableError) as caught:
        await Pool(Settings(), on={"sandbox": "perhaps"}).ready()
    assert "sandbox=perhaps (sandbox.nodes)" in str(caught.value)


async def test_where_no_node_comes_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raybench.sandbox.pool._AWAITED_S", 0.0)
    monkeypatch.setattr(slots, "alive", lambda on=None: {})
    pool = Pool(Settings())
    pool._looked = time.monotonic()
    with pytest.raises(SandboxUnavailableError) as caught:
        await asyncio.wait_for(pool.call(nap), 60)
    assert " 0 s" in str(caught.value)
