"""The endpoint's front: what a client is told while its model cannot be had."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from importlib.util import find_spec
from typing import Any

import pytest
from fleet.fake_keeper import FakeKeeper

from raybench.fleet.leases import Leases
from raybench.types import ModelSpec

pytestmark = [
    pytest.mark.slow,  # the import of vLLM
    pytest.mark.skipif(find_spec("vllm") is None, reason="vLLM is not installed"),
]


@pytest.fixture(autouse=True)
def without_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    from raybench.fleet import ingress

    monkeypatch.setattr(ingress, "handle", lambda name: f"the handle of {name}")


def ingress_of(keeper: FakeKeeper) -> Any:
    """An ingress with this keeper, whose only model is 'plain' of the engine 'e'."""
    from raybench.fleet.ingress import Ingress

    ingress = object.__new__(Ingress)  # its own start wants the context of a replica
    ingress._doors = {"plain": (ModelSpec("plain", "vllm", "embedded"), "e")}
    ingress._leases = Leases(keeper)
    ingress._keeper = keeper
    ingress._replicas, ingress._outstanding = {}, Counter()
    ingress._default_serve_handles = {}
    return ingress


def replies(ingress: Any) -> AsyncIterator[Any]:
    from ray.llm._internal.serve.core.configs.openai_api_models import ChatCompletionRequest

    body = ChatCompletionRequest(model="plain", messages=[{"role": "user", "content": "Hello"}])
    answer: AsyncIterator[Any] = ingress._get_response(body=body, call_method="chat")
    return answer


async def refusal(keeper: FakeKeeper) -> tuple[int, str, str]:
    """Return status, type and message of what a client is told instead of a reply."""
    from ray.llm._internal.serve.core.configs.openai_api_models import OpenAIHTTPException

    with pytest.raises(OpenAIHTTPException) as raised:
        await anext(replies(ingress_of(keeper)))
    await asyncio.sleep(0)  # in which the lease is given back
    assert keeper.held == {}
    return raised.value.status_code, raised.value.type, raised.value.message


async def test_a_model_that_cannot_be_loaded_is_unavailable_for_the_reason() -> None:
    told = await refusal(FakeKeeper(reason="no weights"))
    assert told == (503, "model_unavailable", "no weights")


async def test_who_waits_for_a_turn_is_told_when_the_keeper_stops() -> None:
    keeper = FakeKeeper()
    keeper.granting.clear()
    waiting = asyncio.create_task(refusal(keeper))
    while not keeper.held:
        await asyncio.sleep(0)
    keeper.reason = "it stops"
    keeper.granting.set()
    assert await waiting == (503, "model_unavailable", "it stops")


async def test_a_replica_that_dies_under_a_reply_is_unavailable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from ray.exceptions import RayActorError
    from ray.serve.llm.ingress import OpenAiIngress

    async def dying(*_: Any, **__: Any) -> AsyncIterator[Any]:
        for reply in list[str]():
            yield reply
        raise RayActorError(error_msg="the replica died")

    monkeypatch.setattr(OpenAiIngress, "_get_response", dying)
    status, kind, message = await refusal(FakeKeeper())
    assert (status, kind) == (503, "model_unavailable")
    assert message.startswith("engine e: ")


async def test_requests_go_to_the_replica_that_has_the_fewest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from ray.serve.llm.ingress import OpenAiIngress

    asked: list[str] = []
    answering = asyncio.Event()

    async def answered(self: Any, *, body: Any, **_: Any) -> AsyncIterator[Any]:
        asked.append(body.model)
        await answering.wait()
        yield f'{{"model":"{body.model}"}}'

    monkeypatch.setattr(OpenAiIngress, "_get_response", answered)
    keeper = FakeKeeper()
    keeper.names = {"e": ["e", "e-r1"]}
    ingress = ingress_of(keeper)

    async def answer() -> Any:
        return [reply async for reply in replies(ingress)]

    waiting = [asyncio.create_task(answer()) for _ in range(4)]
    while len(asked) < 4:
        await asyncio.sleep(0)
    assert sorted(asked) == ["e", "e", "e-r1", "e-r1"]
    assert {*ingress._default_serve_handles} == {"e", "e-r1"}
    answering.set()
    assert await asyncio.gather(*waiting) == [['{"model":"plain"}']] * 4
    assert sum(ingress._outstanding.values()) == 0
