"""A Ray of our own begins without the processes that nobody asks anything of."""

from pathlib import Path

import pytest
from own_ray import told
from ray._private.node import Node

from raybench.fleet.bystanders import BYSTANDERS, without_bystanders

PROGRAM = """
import asyncio, json, psutil
from raybench.config import FleetConf
from raybench.fleet import cluster

async def main() -> None:
    async with cluster.cluster(FleetConf(), lambda text: None):
        import ray
        assert ray.get(ray.remote(lambda: 2).remote()) == 2
        ours = psutil.Process().children(recursive=True)
        print(json.dumps([" ".join(it.cmdline()) for it in ours]))

asyncio.run(main())
"""


@pytest.mark.slow
def test_a_ray_of_our_own_has_none_of_them(tmp_path: Path) -> None:
    lines = told(PROGRAM, tmp_path)
    assert any("raylet" in line for line in lines)
    theirs = ("log_monitor.py", "monitor.py", "dashboard.py")
    scripts = [line for line in lines if "/raylet/raylet" not in line]  # it is told of many
    assert not [line for line in scripts if any(f"/{it}" in line for it in theirs)]


def test_ray_starts_them_by_methods_of_that_name_and_does_so_again_afterwards() -> None:
    before = [getattr(Node, name) for name in BYSTANDERS]
    with without_bystanders():
        assert not {*before} & {getattr(Node, name) for name in BYSTANDERS}
    assert [getattr(Node, name) for name in BYSTANDERS] == before
    started = (
        Node.start_head_processes.__code__.co_names + Node.start_ray_processes.__code__.co_names
    )
    assert set(BYSTANDERS) <= {*started}
