"""What a Ray of our own leaves: nothing, even where a worker gets stuck on its way out."""

import os
import signal
import time

import psutil
import pytest

from raybench.config import FleetConf
from raybench.fleet import cluster

pytestmark = pytest.mark.slow


def _pid() -> int:
    return os.getpid()


async def test_a_ray_that_asks_for_no_token_does_not_tell_the_next_one_so(
    monkeypatch: pytest.MonkeyPatch, lasting_ray: str
) -> None:
    """In one process: the second had a control store that asked for one, and clients without."""
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    async with cluster.cluster(FleetConf(), lambda text: None):
        pass
    with monkeypatch.context() as patched:
        patched.setenv("RAY_AUTH_MODE", "disabled")
        async with cluster.cluster(FleetConf(address=lasting_ray), lambda text: None):
            pass
    async with cluster.cluster(FleetConf(), lambda text: None):
        import ray

        assert ray.cluster_resources()["CPU"]
    assert "RAY_AUTH_MODE" not in os.environ


async def test_a_worker_that_is_stuck_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_END_S", 2.0)
    async with cluster.cluster(FleetConf(), lambda text: None):
        import ray

        pid: int = ray.get(ray.remote(_pid).remote())
        os.kill(pid, signal.SIGSTOP)  # it hears of nothing any more
    deadline = time.monotonic() + 10
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.1)
