"""Endpoints that refuse a model for good: found out before a run, or in the middle of it."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from fleet.test_remote import error
from fleet.test_remote_time import WORD, Endpoint, Play, echo, hang_up, prompt_of, request, say
from virtual_time import Exchange, VirtualEndpoint, now

from raybench.config import FleetConf
from raybench.errors import Problem
from raybench.fleet import Account, Fleet, group_engines, open_fleet
from raybench.fleet.link import Link
from raybench.fleet.preflight import Preflight
from raybench.fleet.refusals import IN_A_ROW, Refusals, kind_of
from raybench.fleet.remote import RemoteEngine
from raybench.fleet.remote_replies import Failure
from raybench.types import Completion, ModelSpec

pytestmark = pytest.mark.virtual_time

OPENAI_KEY = error("Incorrect API key provided: sk-x.", code="invalid_api_key")
OPENAI_MODEL = error("The model `gpt` does not exist or you …", code="model_not_found")
VLLM_MODEL = {
    "object": "error",
    "message": "The model `qwen2.5` does not exist.",
    "type": "NotFoundError",
    "code": 404,
}
OLLAMA_MODEL = error('model "qwen2.5:7b" not found, try pulling it first', type="api_error")
REASON = "unknown"
ANTHROPIC_MODEL = {
    "type": "error",
    "error": {"type": "not_found_error", "message": "model: claude"},
}


@pytest.fixture(autouse=True)
def no_key_of_mine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def endpoint() -> Endpoint:
    return Endpoint()


def spec(endpoint: VirtualEndpoint, name: str = "mine", **options: Any) -> ModelSpec:
    return ModelSpec(name, "openai", "gpt", options={"base_url": endpoint.url, **options})


async def checked(*models: ModelSpec) -> dict[str, Problem]:
    return await Preflight(FleetConf(), clock=now).check(models, lambda _: None)


def by_code(found: Mapping[str, Problem]) -> dict[str, str]:
    return {name: problem.code for name, problem in found.items()}


# ------------------------------------------------------------------------------ before everything


@pytest.mark.parametrize(
    ("status", "body", "code", "setting"),
    [
        (401, OPENAI_KEY, "endpoint.key", "options.api_key_env"),
        (401, b"", "endpoint.key", "options.api_key_env"),
        (400, error("API key not valid. Please pass a valid API key."), "endpoint.key", ""),
        (403, error("Project has no access"), "endpoint.access", "options.api_key_env"),
        (402, error("Insufficient Balance"), "endpoint.access", "options.api_key_env"),
        (404, OPENAI_MODEL, "endpoint.model", "weights"),
        (404, VLLM_MODEL, "endpoint.model", "weights"),
        (404, OLLAMA_MODEL, "endpoint.model", "weights"),
        (404, ANTHROPIC_MODEL, "endpoint.model", "weights"),
        (400, error("Model Not Exist"), "endpoint.model", "weights"),  # DeepSeek
        (400, error("gpt is not a valid model ID"), "endpoint.model", "weights"),  # OpenRouter
        (200, error("gpt is not a valid model ID", code=400), "endpoint.model", "weights"),
        (404, {"detail": "Not Found"}, "endpoint.path", "options.base_url"),  # vLLM
        (404, b"404 page not found", "endpoint.path", "options.base_url"),  # Ollama
        (405, b"", "endpoint.path", "options.base_url"),
        (308, b"", "endpoint.path", "options.base_url"),
    ],
)
async def test_a_definite_refusal_is_found_with_one_request(
    endpoint: Endpoint, status: int, body: Any, code: str, setting: str
) -> None:
    endpoint.scripts[WORD] = [say(status, body)]
    async with endpoint:
        found = await checked(spec(endpoint))
    assert by_code(found) == {"mine": code}
    assert str(found["mine"].setting).endswith(setting) and found["mine"].fix
    assert "HTTP 4" in found["mine"].message or status == 308
    assert endpoint.url in found["mine"].message
    assert len(endpoint.seen) == 1


@pytest.mark.parametrize(
    "play",
    [
        echo,
        say(200, {}),
        say(429, error("slow down"), **{"Retry-After": "7"}),
        say(500, b""),
        say(503, error("Loading model")),
        say(400, error("max_tokens is too small")),
        say(400, error("temperature is not supported for this model")),
        hang_up,
        lambda exchange: asyncio.sleep(1e9),
    ],
)
async def test_whatever_may_pass_is_no_refusal(endpoint: Endpoint, play: Play) -> None:
    endpoint.scripts[WORD] = [play]
    begun = now()
    async with endpoint:
        assert await checked(spec(endpoint)) == {}
    assert now() - begun <= 30.0
    assert len(endpoint.seen) == 1


class Restarting(Endpoint):
    """Is listened to from the third try to connect on."""

    def __init__(self, refuses: float) -> None:
        super().__init__()
        self.refused, self._refuses = 0, refuses

    async def _accept(self, theirs: Any) -> None:
        if self.refused < self._refuses:
            self.refused += 1
            theirs.close()
            raise ConnectionRefusedError(111, "Connection refused")
        await super()._accept(theirs)


@pytest.mark.parametrize(("refuses", "code"), [(2, None), (float("inf"), "endpoint.connection")])
async def test_a_refused_connection_is_tried_again_for_some_seconds(
    refuses: float, code: str | None
) -> None:
    endpoint, begun = Restarting(refuses), now()
    async with endpoint:
        found = await checked(spec(endpoint))
    assert by_code(found).get("mine") == code
    assert endpoint.refused == (5 if code else 2)
    assert 0.0 < now() - begun < 60.0, "between tries it waits, and not for the run's half hour"


async def test_each_model_of_an_endpoint_is_asked_once_and_side_by_side(
    endpoint: Endpoint,
) -> None:
    async def play(exchange: Exchange) -> None:
        await asyncio.sleep(10.0)
        exchange.send(*((200, {}) if exchange.body["model"] == "gpt" else (404, VLLM_MODEL)))

    endpoint.scripts[WORD] = [play]
    one, twin = spec(endpoint), spec(endpoint, "twin")
    other = ModelSpec("other", "openai", "none", options=one.options)
    simulated = ModelSpec("simulated", "simulated", "", options={"ability": 0.5})
    preflight, begun = Preflight(FleetConf(), whole=[other], clock=now), now()
    async with endpoint:
        assert await preflight.check([simulated], lambda _: None) == {}
        assert endpoint.seen == []
        assert await preflight.check([one, twin], lambda _: None) == {}
        assert now() - begun == pytest.approx(10.0)
        assert by_code(await preflight.check([one, other], lambda _: None)) == {
            "other": "endpoint.model"
        }
    assert sorted(it.body["model"] for it in endpoint.seen) == ["gpt", "none"]


async def test_the_fix_names_what_the_endpoint_has(endpoint: Endpoint) -> None:
    endpoint.scripts[WORD] = [say(404, VLLM_MODEL)]
    endpoint.models = {"data": [{"id": "gpt-4o"}, {"id": "llama"}]}
    async with endpoint:
        found = await checked(spec(endpoint))
    assert "gpt-4o" in str(found["mine"].fix) and found["mine"].given == "gpt"


async def test_a_list_of_models_that_does_not_come_hides_no_refusal(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "_list", lambda exchange: None)
    endpoint.scripts[WORD] = [say(404, VLLM_MODEL)]
    async with endpoint:
        assert by_code(await checked(spec(endpoint))) == {"mine": "endpoint.model"}


async def test_the_key_is_not_repeated(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very-secret-0123456789")
    endpoint.scripts[WORD] = [say(401, error("wrong key: sk-very-secret-0123456789"))]
    async with endpoint:
        found = await checked(spec(endpoint, api_key_env="MY_KEY"))
    assert "0123456789" not in found["mine"].text
    assert found["mine"].given == "MY_KEY" and "MY_KEY" in str(found["mine"].fix)


# ------------------------------------------------------------------------------- in the middle


class Run:
    """A model at an endpoint that is asked one request after the other."""

    def __init__(self, endpoint: Endpoint, **options: Any) -> None:
        model = spec(endpoint, **options)
        (grouped,) = group_engines([model])
        self.account = Account(["mine"])
        refusals = Refusals([model], {}, self.account.stop)
        self.engine = RemoteEngine(
            model.options, FleetConf(), endpoint.said.append, now, refusals=refusals
        )
        self.fleet = Fleet([grouped], {grouped.name: self.engine}, self.account)

    async def ask(self, count: int, prompt: str = "hello") -> list[Completion]:
        found = []
        for _ in range(count):
            found += await self.fleet.complete("mine", [request(prompt)])
        return found


def asked(endpoint: Endpoint, prompt: str) -> int:
    return sum(prompt_of(exchange) == prompt for exchange in endpoint.seen)


@pytest.mark.parametrize(
    ("status", "body"),
    [(401, OPENAI_KEY), (403, error("no")), (404, OLLAMA_MODEL), (404, b""), (400, OPENAI_MODEL)],
)
async def test_a_model_that_is_refused_again_and_again_is_not_asked_any_more(
    endpoint: Endpoint, status: int, body: Any
) -> None:
    endpoint.scripts = {"hello": [echo, say(status, body)], WORD: [say(status, body)]}
    run = Run(endpoint)
    async with endpoint:
        first, *replies = await run.ask(100)
        await run.engine.close()
    assert first.finish == "stop"
    assert {it.finish for it in replies} == {"error"}
    assert asked(endpoint, "hello") == 1 + IN_A_ROW and asked(endpoint, WORD) == 1
    assert [*run.account.failed] == ["mine"]
    assert replies[-1].error == run.account.failed["mine"]


async def test_requests_that_wait_are_not_sent_while_a_word_settles_it(
    endpoint: Endpoint,
) -> None:
    endpoint.scripts = {"hello": [say(401, b"")], WORD: [say(401, b"")]}
    run = Run(endpoint, concurrency=4)
    async with endpoint:
        replies = await run.fleet.complete("mine", [request("hello")] * 200)
        await run.engine.close()
    assert {it.finish for it in replies} == {"error"}
    assert asked(endpoint, "hello") < IN_A_ROW + 4 and asked(endpoint, WORD) == 1


async def test_a_success_in_between_begins_the_count_again(endpoint: Endpoint) -> None:
    refusals = [say(403, b"")] * (IN_A_ROW - 1)
    endpoint.scripts["hello"] = [*refusals, echo, *refusals, echo]
    run = Run(endpoint)
    async with endpoint:
        replies = await run.ask(2 * IN_A_ROW)
        await run.engine.close()
    assert asked(endpoint, WORD) == 0 and run.account.failed == {}
    assert [it.finish for it in replies].count("stop") == 2


@pytest.mark.parametrize("word", [echo, say(503, b""), hang_up])
async def test_a_model_that_gives_a_word_is_asked_on(endpoint: Endpoint, word: Play) -> None:
    # A gateway may refuse what it finds in some prompts with the status of a wrong key.
    endpoint.scripts = {"hello": [say(403, b"")] * (2 * IN_A_ROW) + [echo], WORD: [word]}
    run = Run(endpoint)
    async with endpoint:
        replies = await run.ask(2 * IN_A_ROW + 1)
        await run.engine.close()
    assert replies[-1].finish == "stop" and run.account.failed == {}
    assert asked(endpoint, WORD) == 2


async def test_failures_of_several_kinds_are_not_in_a_row(endpoint: Endpoint) -> None:
    endpoint.scripts["hello"] = [say(401, b""), say(403, b"")] * IN_A_ROW + [echo]
    run = Run(endpoint)
    async with endpoint:
        await run.ask(2 * IN_A_ROW + 1)
        await run.engine.close()
    assert asked(endpoint, WORD) == 0


def test_a_connection_that_is_refused_in_the_middle_may_pass() -> None:
    refusals, failure = Refusals(), Failure("ConnectError", unconnected=True)
    for _ in range(2 * IN_A_ROW):
        refusals.count("gpt", failure)
    assert kind_of(failure) == "connection" and not refusals.is_doubtful("gpt")
    assert kind_of(Failure("ReadError")) is None


# ------------------------------------------------------------------------ the fleet and its links


async def test_a_refused_model_fails_at_once_and_the_others_are_asked(
    endpoint: Endpoint,
) -> None:
    bad = ModelSpec("bad", "openai", "none", options={"base_url": endpoint.url})
    models = [bad, spec(endpoint)]
    async with (
        endpoint,
        open_fleet(models, FleetConf(), lambda _: None, refused={"bad": REASON}) as fleet,
    ):
        link = Link.to(fleet, models, FleetConf())
        async with link.open() as there:
            for some in (fleet, there):
                ((lost,), (reply,)) = [
                    await some.complete(name, [request("hello")]) for name in ("bad", "mine")
                ]
                assert (lost.finish, lost.error) == ("error", REASON)
                assert reply.finish == "stop"
        assert fleet.account.failed == {"bad": REASON}
    assert {it.body["model"] for it in endpoint.seen} == {"gpt"}


def test_accounts_keep_who_is_refused_when_engines_are_noted() -> None:
    account = Account(["a", "b"])
    with account.lent(["a"]) as earlier:
        account.stop("a", "wrong key")
        with account.lent(["a"]) as later:
            account.note(account.swaps, [], {"b": "broke"})
            assert account.failed == {"a": "wrong key", "b": "broke"}
            assert earlier.failed == later.failed == {"a": "wrong key"}
