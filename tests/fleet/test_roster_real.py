"""A roster of which one model can be loaded, by real Ray and vLLM: each failure has its reason."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from helpers import NEEDS_MODEL, wait_for_silence
from hubs import Hub
from vision import seeing

from raybench.config import FleetConf
from raybench.fleet import Fleet, embedded, open_fleet
from raybench.fleet.reasons import _MENDS
from raybench.types import Message, ModelSpec, Request

pytestmark = [
    pytest.mark.engine,
    pytest.mark.long(
        short="tests/fleet/test_host_real.py"
        "::test_a_model_that_cannot_be_loaded_fails_alone_with_its_reason"
    ),
    pytest.mark.timeout(600),
    pytest.mark.asyncio(loop_scope="module"),
    NEEDS_MODEL,
]


def roster(folder: Path) -> list[ModelSpec]:
    empty, strange = folder / "empty", folder / "strange"
    for checkpoint in (empty, strange):
        shutil.copytree(
            embedded.prepare(), checkpoint, ignore=shutil.ignore_patterns("*.safetensors")
        )
    config = json.loads((strange / "config.json").read_text())
    (strange / "config.json").write_text(json.dumps(config | {"architectures": ["FooForCausalLM"]}))
    return [
        ModelSpec("empty", "vllm", str(empty)),
        ModelSpec("strange", "vllm", str(strange)),
        ModelSpec("vast", "vllm", "embedded", options={"kv_cache_memory_bytes": 2**50}),
        ModelSpec("gated", "vllm", "org/gated"),
        ModelSpec("gone", "vllm", "org/gone"),
        ModelSpec("eye", "vllm", seeing(folder / "seeing")),
    ]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Fleet]:
    models = roster(tmp_path_factory.mktemp("weights"))
    with pytest.MonkeyPatch.context() as patch, Hub() as hub:
        patch.setenv("HF_ENDPOINT", hub.url.removesuffix("/v1"))
        patch.setenv("RAY_SERVE_MAX_PER_REPLICA_RETRY_COUNT", "1")  # they would fail again
        async with open_fleet(models, FleetConf(kv_cache_gib=0.25), lambda text: None) as fleet:
            yield fleet
    assert not wait_for_silence()


def ask() -> Request:
    return Request((Message("user", "What is it?"),), seed=1, max_tokens=12)


async def test_models_that_cannot_load_fail_alone_with_their_reason_and_the_mend(
    fleet: Fleet,
) -> None:
    names = ("empty", "strange", "vast", "gated", "gone")
    *refused, served = await asyncio.gather(
        *(fleet.complete(name, [ask(), ask()]) for name in (*names, "eye"))
    )
    assert {reply.finish for reply in served} <= {"stop", "length"}
    reasons = {}
    for name, replies in zip(names, refused, strict=True):
        assert {reply.finish for reply in replies} == {"error"}
        (reason,) = {reply.error for reply in replies}
        reasons[name] = str(reason)
    for name, sign in {
        "empty": "Cannot find any model weights",
        "strange": "are not supported for now",
    }.items():
        assert sign in reasons[name] and reasons[name].endswith(_MENDS[sign])
    assert "['FooForCausalLM']" in reasons["strange"]
    assert "memory" in reasons["vast"]
    assert reasons["vast"].endswith("quantised model")
    for name in ("gated", "gone"):
        assert f"org/{name}" in reasons[name] and "HF_TOKEN" in reasons[name]
    async with asyncio.timeout(60):  # the account is brought up to date every few seconds
        while fleet.account.failed != reasons:
            await asyncio.sleep(0.1)
