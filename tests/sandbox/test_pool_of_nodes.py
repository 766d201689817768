"""Slots on several nodes: as many as these have, and fewer when one of them dies."""

import asyncio
import os
import time
from collections.abc import Iterator
from typing import Any

import pytest
from ray.cluster_utils import Cluster
from ray.exceptions import RayActorError

from raybench.sandbox import SandboxUnavailableError, Settings
from raybench.sandbox.pool import Pool, _Node

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture
def nodes() -> Iterator[Cluster]:
    import ray

    # No node computes but those that are added.
    head = {"num_cpus": 0, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


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
    monkeypatch.setattr("raybench.sandbox.pool._nodes", lambda: next(looks))
    pool: Any = Pool.__new__(Pool)
    pool._turn = asyncio.Condition()
    dead: list[Any] = [Slot("gone", RayActorError()) for _ in range(3)]
    left: Any = Slot("left", "done")
    pool._nodes = [_Node([*dead], [*dead]), _Node([left], [left])]
    assert await pool.call(nap) == "done"
    assert pool.slots == 1


def nap() -> int:
    time.sleep(0.3)
    return os.getpid()


async def test_work_goes_on_where_there_are_nodes_left(nodes: Cluster) -> None:
    nodes.add_node(num_cpus=2)
    three = nodes.add_node(num_cpus=3)
    pool = await asyncio.to_thread(Pool, Settings())
    await pool.ready()
    assert pool.slots == 1 + 2  # a core of each is left to others
    async with asyncio.timeout(60):
        assert len(set(await asyncio.gather(*(pool.call(nap) for _ in range(12))))) == 3
        work = [asyncio.create_task(pool.call(nap)) for _ in range(9)]
        work += [asyncio.create_task(pool.call(nap, alone=True)) for _ in range(2)]
        await asyncio.sleep(0.1)
        await asyncio.to_thread(nodes.remove_node, three, allow_graceful=False)
        assert len(set(await asyncio.gather(*work))) >= 1
        # Those who do nothing when their node dies are found out one after the other.
        assert len(set(await asyncio.gather(*(pool.call(nap) for _ in range(6))))) == 1
        assert pool.slots == 1
        (left,) = (node for node in pool._nodes if node.slots)
        left.slots.clear()
        with pytest.raises(SandboxUnavailableError, match="every node that programs ran on"):
            await pool.call(nap)
