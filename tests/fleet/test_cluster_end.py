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


def works() -> bool:
    """Tell whether actors come up."""
    import ray

    class Actor:
        def answers(self) -> bool:
            return True

    actor = ray.remote(Actor).options(num_cpus=0).remote()
    return bool(ray.get(actor.answers.remote(), timeout=100))


async def test_rays_that_ask_for_a_token_and_that_do_not_follow_one_another(
    monkeypatch: pytest.MonkeyPatch, lasting_ray: str
) -> None:
    """In one process, to which Ray would have the first one's ways cling.

    The second one took its driver, who turned it away, for dead; the third had a control store that
    asked for a token, and clients without.
    """
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    async with cluster.cluster(FleetConf(), lambda text: None):
        assert works()
    with monkeypatch.context() as patched:
        patched.setenv("RAY_AUTH_MODE", "disabled")
        async with cluster.cluster(FleetConf(address=lasting_ray), lambda text: None):
            assert works()
    async with cluster.cluster(FleetConf(), lambda text: None):
        assert works()
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
