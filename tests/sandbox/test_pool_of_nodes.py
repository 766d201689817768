"""Slots on several nodes: as many as these have, and fewer when one of them dies."""

import asyncio
import os
import time
from collections.abc import Iterator

import pytest
from ray.cluster_utils import Cluster

from raybench.sandbox import SandboxUnavailableError, Settings
from raybench.sandbox.pool import Pool

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
