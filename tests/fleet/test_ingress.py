"""The endpoint's front: which replica a request goes to, and when a client is refused."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import pytest
from engines.fake_controller import FakeController
from fleet.fake_deployment import Remote

from raybench.config import FleetConf
from raybench.engines.base import ReplicaClosed
from raybench.fleet.endpoint import engines
from raybench.types import ModelSpec

pytestmark = [
    pytest.mark.slow,  # the import of vLLM
    pytest.mark.skipif(find_spec("vllm") is None, reason="vLLM is not installed"),
    pytest.mark.virtual_time,
]
PLAIN = ModelSpec("plain", "vllm", "embedded")
(SPEC,) = engines([PLAIN], FleetConf(), "app")
FIRST, SECOND = f"{SPEC.name}-r0", f"{SPEC.name}-r1"


class Front:
    """An ingress with one model, its controller, and replicas that a test decides for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from ray import serve

        from raybench import ray_patches
        from raybench.fleet import ingress

        self.asked: list[str] = []
        """The replica of each request."""
        self.errors: dict[str, Exception] = {}
        """What a request meets at a replica, before its first reply."""
        self.later_errors: dict[str, Exception] = {}
        """What it meets after its first reply."""
        self.answering = asyncio.Event()
        self.answering.set()
        self.controller = FakeController(SPEC.name)
        remote = SimpleNamespace(
            report=Remote(self.controller.report), assignments=Remote(self.controller.assignments)
        )
        context = SimpleNamespace(app_name="app")
        monkeypatch.setattr(serve, "get_replica_context", lambda: context)
        monkeypatch.setattr(ray_patches, "listen_on_loopback", lambda: None)
        monkeypatch.setattr(ingress, "quieten", lambda: None)
        monkeypatch.setattr(ingress, "handle", self._handle)
        self.ingress = ingress.Ingress([PLAIN], FleetConf(), remote, None)

    def _handle(self, replica: str) -> Any:
        async def chat(body: Any, _: Any) -> AsyncGenerator[str]:
            assert body.model == replica
            self.asked.append(replica)
            await self.answering.wait()
            if error := self.errors.get(replica):
                raise error
            yield f'{{"model":"{replica}"}}'
            if error := self.later_errors.get(replica):
                raise error

        found = SimpleNamespace(chat=SimpleNamespace(remote=chat))
        found.options = lambda **_: found
        return found

    async def assign(self, *replicas: str, failure: str = "") -> None:
        self.controller.assign(*replicas, failure=failure)
        await asyncio.sleep(1)

    async def replies(self, model: str = "plain") -> list[Any]:
        from ray.serve.llm.openai_api_models import ChatCompletionRequest

        body = ChatCompletionRequest(model=model, messages=[{"role": "user", "content": "Hello"}])
        return [it async for it in self.ingress.reply(body, "chat")]

    async def refusal(self, model: str = "plain") -> tuple[int, str, str]:
        """Return status, type and message of what a client is told instead of a reply."""
        from raybench.vllm_patches import openai_error

        kind: Any = type(openai_error(500, "", ""))
        with pytest.raises(kind) as raised:
            await self.replies(model)
        return raised.value.status_code, raised.value.type, raised.value.message

    def is_idle(self) -> bool:
        report = self.ingress._pickers[SPEC.name].report()
        return report.ready == report.outstanding == 0


@pytest.fixture
async def front(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Front]:
    front = Front(monkeypatch)
    yield front
    front.ingress._assignments.cancel()
    await asyncio.gather(front.ingress._assignments, return_exceptions=True)
    assert front.is_idle()


ANSWER = ['{"model":"plain"}']


async def test_a_request_waits_until_its_engine_has_a_replica(front: Front) -> None:
    waiting = asyncio.create_task(front.replies())
    await asyncio.sleep(1)
    assert front.controller.wanted == {SPEC.name: 1}
    assert front.asked == []
    await front.assign(FIRST)
    assert await waiting == ANSWER


async def test_a_model_that_is_not_there_is_unknown(front: Front) -> None:
    status, kind, _ = await front.refusal("plane")
    assert (status, kind) == (404, "model_not_found")


async def test_a_model_that_cannot_be_loaded_is_unavailable_for_the_reason(front: Front) -> None:
    await front.assign(failure="no weights")
    assert await front.refusal() == (503, "model_unavailable", "no weights")
    assert front.asked == []


async def test_a_request_that_waits_is_refused_when_the_engines_are_stopped(front: Front) -> None:
    waiting = asyncio.create_task(front.refusal())
    await asyncio.sleep(1)
    assert not waiting.done()
    await front.assign(failure="it stops")
    assert await waiting == (503, "model_unavailable", "it stops")


async def test_a_replica_that_dies_under_a_reply_is_unavailable(front: Front) -> None:
    from ray.exceptions import RayActorError

    front.errors[FIRST] = RayActorError(error_msg="the replica died")
    await front.assign(FIRST)
    status, kind, message = await front.refusal()
    assert (status, kind) == (503, "model_unavailable")
    assert message.startswith(f"engine {SPEC.name}: ")


async def test_requests_go_to_the_replica_with_the_fewest(front: Front) -> None:
    front.answering.clear()
    await front.assign(FIRST, SECOND)
    waiting = [asyncio.create_task(front.replies()) for _ in range(4)]
    await asyncio.sleep(1)
    assert sorted(front.asked) == [FIRST, FIRST, SECOND, SECOND]
    front.answering.set()
    assert await asyncio.gather(*waiting) == [ANSWER] * 4


def closed() -> Exception:
    """Return what Ray raises where a replica is closed."""
    from ray.exceptions import RayTaskError

    error: Exception = RayTaskError("chat", "Traceback", ReplicaClosed()).as_instanceof_cause()
    return error


async def test_another_replica_answers_where_one_has_closed(front: Front) -> None:
    front.errors[FIRST] = closed()
    await front.assign(FIRST, SECOND)
    assert await front.replies() == ANSWER
    assert await front.replies() == ANSWER
    assert front.asked == [FIRST, SECOND, SECOND]


async def test_a_replica_that_has_closed_answers_once_it_is_open_again(front: Front) -> None:
    front.errors[FIRST] = closed()
    await front.assign(FIRST)
    waiting = asyncio.create_task(front.replies())
    await asyncio.sleep(100)
    assert front.asked == [FIRST]
    assert front.controller.wanted == {SPEC.name: 1}
    front.errors.clear()
    await front.assign(FIRST)
    assert await waiting == ANSWER
    assert front.asked == [FIRST, FIRST]


async def test_a_reply_that_has_begun_is_not_begun_again(front: Front) -> None:
    front.later_errors[FIRST] = closed()
    await front.assign(FIRST, SECOND)
    with pytest.raises(ReplicaClosed):
        await front.replies()
    assert front.asked == [FIRST]
