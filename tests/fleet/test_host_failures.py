"""What a person is told when hosting fails, by real Ray and vLLM."""

import pytest
import ray
from helpers import NEEDS_MODEL, ON_GPU
from refusals import refused

from raybench.config import FleetConf
from raybench.fleet import open_fleet
from raybench.fleet.cluster import serving
from raybench.types import ModelSpec

pytestmark = [
    pytest.mark.slow,
    pytest.mark.engine,
    pytest.mark.timeout(600),
    NEEDS_MODEL,
]


async def test_where_no_engine_starts_the_run_ends_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RAY_SERVE_MAX_PER_REPLICA_RETRY_COUNT", "1")  # what fails would fail again
    model = ModelSpec("odd", "vllm", "embedded", options={"max_modle_len": 100_000})
    with refused("engine.start"):
        async with open_fleet([model], FleetConf(), lambda text: None):
            raise AssertionError("it must not come up")


async def test_a_ray_that_does_not_come_up_is_started_once_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start = ray.init
    tries: list[object] = []
    said: list[str] = []

    def init(**arguments: object) -> object:
        tries.append(arguments)
        if len(tries) == 1:
            raise Exception("The current node timed out during startup. This could happen …")
        return start(**arguments)

    monkeypatch.setattr(ray, "init", init)
    async with serving(FleetConf(), said.append) as gpu:
        assert gpu == ON_GPU
        assert ray.is_initialized()
    assert tries == tries[:1] * 2
    assert "once more" in said[-1]


async def test_a_cluster_that_is_not_there_is_told() -> None:
    model = ModelSpec(name="odd", engine="vllm", weights="embedded")
    conf = FleetConf(address="127.0.0.1:9")
    with refused("ray.start"):
        async with open_fleet([model], conf, lambda text: None):
            raise AssertionError("there is no cluster")
