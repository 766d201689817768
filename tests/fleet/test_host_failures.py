"""What a person is told when Ray does not come up. No Ray is started.

Engines that do not come up: test_engines_that_fail.py, test_host_real.py.
"""

import pytest
import ray
from refusals import refused

from raybench.config import FleetConf
from raybench.fleet import open_fleet
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
