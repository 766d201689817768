"""Limits that are lowered to what a simulated server with a small context or output cap allows."""

from collections.abc import Callable
from typing import Any

import pytest
from fleet.test_remote import error
from virtual_time import Exchange, VirtualEndpoint, now

from raybench.config import FleetConf
from raybench.fleet import Fleet, group_engines
from raybench.fleet.remote import RemoteEngine
from raybench.fleet.token_limits import Offer, limit_of, lowered, offered
from raybench.types import Completion, Message, ModelSpec, Request

CONTEXT, CAP, ASKED = 4096, 1000, 4096
Refuse = Callable[[int, int], tuple[int, Any] | None]
"""Returns status and body with which a server turns a prompt and a limit down, by their tokens."""


def vllm(prompt: int, asked: int) -> tuple[int, Any] | None:
    """Refuse as 0.29 does, which tokenizes no more of a prompt than may be."""
    most = CONTEXT - asked
    if most < 0:
        words = (
            f"max_tokens={asked} cannot be greater than max_model_len=max_total_tokens={CONTEXT}"
        )
        return 400, error(f"{words}. Please request fewer output tokens.", code=400)
    if prompt > most:
        total = f"at least {most + 1} input tokens, for a total of at least {CONTEXT + 1} tokens"
        words = f"This model's maximum context length is {CONTEXT} tokens. However, you requested "
        return 400, error(f"{words}{asked} output tokens and your prompt contains {total}. Please")
    return None


def vllm_before(prompt: int, asked: int) -> tuple[int, Any] | None:
    if prompt + asked > CONTEXT:
        if prompt > CONTEXT:
            tail = f"However, your request has {prompt} input tokens. Please reduce the length"
            return 400, error(f"This model's maximum context length is {CONTEXT} tokens. {tail}")
        tail = (
            f"tokens and your request has {prompt} input tokens ({asked} > {CONTEXT} - {prompt})."
        )
        words = f"'max_tokens' or 'max_completion_tokens' is too large: {asked}. This model's "
        return 400, error(f"{words}maximum context length is {CONTEXT} {tail} None")
    return None


def openai(prompt: int, asked: int) -> tuple[int, Any] | None:
    if prompt + asked > CONTEXT:
        parts = f"({prompt} in the messages, {asked} in the completion)"
        words = f"This model's maximum context length is {CONTEXT} tokens. However, you requested "
        return 400, error(
            f"{words}{prompt + asked} tokens {parts}. Please reduce the length of the messages or "
            "completion.",
            type="invalid_request_error",
            code="context_length_exceeded",
        )
    return None


def sglang(prompt: int, asked: int) -> tuple[int, Any] | None:
    if prompt >= CONTEXT:
        words = f"The input ({prompt} tokens) is longer than the model's context length ({CONTEXT} "
        return 400, {"object": "error", "message": f"{words}tokens).", "code": 400}
    if prompt + asked > CONTEXT:
        words = (
            f"Requested token count exceeds the model's maximum context length of {CONTEXT} tokens."
            f" You requested a total of {prompt + asked} tokens: {prompt} tokens from the input "
            f"messages and {asked} tokens for the completion. Please reduce the number of tokens"
        )
        return 400, {"object": "error", "message": words, "code": 400}
    return None


def tgi(prompt: int, asked: int) -> tuple[int, Any] | None:
    if prompt + asked > CONTEXT:
        given = f"Given: {prompt} `inputs` tokens and {asked} `max_new_tokens`"
        words = f"Input validation error: `inputs` tokens + `max_new_tokens` must be <= {CONTEXT}. "
        return 422, {"error": words + given, "error_type": "validation"}
    return None


def llama_cpp(prompt: int, asked: int) -> tuple[int, Any] | None:
    """Refuse prompts alone: a reply ends where the context does."""
    if prompt >= CONTEXT:
        words = f"request ({prompt} tokens) exceeds the available context size ({CONTEXT} tokens)"
        more = {"n_prompt_tokens": prompt, "n_ctx": CONTEXT}
        return 400, error(f"{words}, try increasing it", type="exceed_context_size_error", **more)
    return None


def shared_cache(prompt: int, asked: int) -> tuple[int, Any] | None:
    """Refuse as llama.cpp does while it writes, where requests share one context."""
    if prompt + asked > CONTEXT:
        return 500, error("Context size has been exceeded.", code=500, type="server_error")
    return None


def wordless(prompt: int, asked: int) -> tuple[int, Any] | None:
    return (400, b"Bad Request") if prompt + asked > CONTEXT else None


REFUSALS: list[Refuse] = [vllm, vllm_before, openai, sglang, tgi]
CAPS = {
    "OpenAI": f"max_tokens is too large: 4096. This model supports at most {CAP} completion "
    "tokens, whereas you provided 4096.",
    "SGLang": f"max_completion_tokens is too large: 4096.This model supports at most {CAP} "
    "completion tokens.",
    "Anthropic": f"max_tokens: 4096 > {CAP}, which is the maximum allowed number of output tokens "
    "for claude-3-haiku-20240307",
    "Groq": f"`max_tokens` must be less than or equal to `{CAP}`, the maximum value for "
    "`max_tokens` is less than the `context_window` for this model",
    "DeepSeek": f"Invalid max_tokens value, the valid range of max_tokens is [1, {CAP}]",
    "Cohere": f"too many tokens: max tokens must be less than or equal to {CAP}, the maximum "
    "output for this model - received 4096.",
    "Gemini": "Unable to submit request because it has a maxOutputTokens value of 4096 but the "
    f"supported range is from 1 (inclusive) to {CAP + 1} (exclusive). Update the value",
}


def capped(words: str) -> Refuse:
    """Refuse every limit above the cap, in these words."""
    return lambda prompt, asked: (400, error(words)) if asked > CAP else None


class Server(VirtualEndpoint):
    """Counts a word as a token, and turns down what does not fit."""

    def __init__(self, refuse: Refuse, *, counts: bool = True) -> None:
        super().__init__()
        self._refuse, self._counts = refuse, counts
        self.said: list[str] = []
        self.refused = 0
        self.limits: list[int | None] = []
        """Those that were accepted."""

    def play(self, exchange: Exchange) -> None:
        asked = exchange.body.get("max_tokens", exchange.body.get("max_completion_tokens"))
        prompt = sum(len(it["content"].split()) for it in exchange.body["messages"])
        if asked is not None and (refusal := self._refuse(prompt, asked)):
            self.refused += 1
            return exchange.send(*refusal)
        self.limits.append(asked)
        choice = {"message": {"content": "four"}, "finish_reason": "stop"}
        usage = {"prompt_tokens": prompt, "completion_tokens": 1} if self._counts else None
        return exchange.send(200, {"choices": [choice], "usage": usage})


async def ask(
    server: Server,
    *prompts: int,
    side_by_side: bool = False,
    max_tokens: int | None = ASKED,
    **options: Any,
) -> list[Completion]:
    """Ask about prompts of so many tokens, for replies of at most so many."""
    spec = ModelSpec("mine", "openai", "far", options={"base_url": server.url, **options})
    engine = RemoteEngine(spec.options, FleetConf(endpoint_attempts=2), server.said.append, now)
    (grouped,) = group_engines([spec])
    fleet = Fleet([grouped], {grouped.name: engine})
    requests = [
        Request((Message("user", "word " * prompt),), seed=5, max_tokens=max_tokens)
        for prompt in prompts
    ]
    async with server:
        if side_by_side:
            found = await fleet.complete("mine", requests)
        else:
            found = [(await fleet.complete("mine", [request]))[0] for request in requests]
        await engine.close()
    return found


@pytest.mark.virtual_time
@pytest.mark.parametrize("side_by_side", [False, True], ids=["one by one", "side by side"])
@pytest.mark.parametrize("refuse", REFUSALS)
async def test_a_reply_may_be_as_long_as_the_prompt_leaves_room(
    refuse: Refuse, side_by_side: bool
) -> None:
    prompts = [10, 2000, 4095]
    server = Server(refuse)
    found = await ask(server, *prompts, side_by_side=side_by_side)
    assert [it.finish for it in found] == ["stop"] * 3
    assert [it.token_limit for it in found] == [CONTEXT - prompt for prompt in prompts]
    assert {CONTEXT - prompt for prompt in prompts} <= {*server.limits}
    assert len(server.said) == 1, "once per model"


@pytest.mark.virtual_time
@pytest.mark.parametrize("refuse", [*REFUSALS, llama_cpp, shared_cache])
async def test_a_prompt_that_cannot_fit_stays_an_overflow(refuse: Refuse) -> None:
    server = Server(refuse)
    for prompt in (5000, 5001):
        (found,) = await ask(server, prompt)
        assert (found.finish, found.token_limit) == ("overflow", None)
        assert "HTTP" in (found.error or "")
    assert server.limits == []


@pytest.mark.virtual_time
@pytest.mark.parametrize("refuse", [*REFUSALS, llama_cpp, shared_cache, wordless])
async def test_a_limit_that_fits_is_left_alone(refuse: Refuse) -> None:
    server = Server(refuse)
    (found,) = await ask(server, 3000, max_tokens=1000)
    assert (found.finish, found.token_limit, server.limits) == ("stop", None, [1000])
    assert (server.refused, server.listed, server.said) == (0, 0, [])


@pytest.mark.virtual_time
async def test_a_server_that_ends_replies_with_its_context_needs_no_lower_limit() -> None:
    server = Server(llama_cpp)
    (found,) = await ask(server, 4000)
    assert (found.finish, found.token_limit, server.limits) == ("stop", None, [ASKED])


@pytest.mark.virtual_time
@pytest.mark.parametrize("words", CAPS.values(), ids=CAPS.keys())
async def test_an_output_cap_is_learned_once_for_all_requests(words: str) -> None:
    server = Server(capped(words))
    found = await ask(server, 10, 20, 30)
    assert [it.token_limit for it in found] == [CAP] * 3
    assert (server.limits, server.refused) == ([CAP] * 3, 1)


@pytest.mark.virtual_time
@pytest.mark.parametrize("field", ["max_tokens", "max_completion_tokens"])
async def test_a_limit_of_the_models_own_options_is_lowered_too(field: str) -> None:
    server = Server(capped(CAPS["OpenAI"]))
    extra = {"max_tokens": None, field: 8192}
    (found,) = await ask(server, 10, extra_body=extra)
    assert (found.token_limit, server.limits) == (CAP, [CAP])


@pytest.mark.virtual_time
async def test_a_cap_and_a_context_may_both_be_small() -> None:
    cap = capped(CAPS["OpenAI"])
    server = Server(lambda prompt, asked: cap(prompt, asked) or openai(prompt, asked))
    found = await ask(server, 10, 4000)
    assert [it.token_limit for it in found] == [CAP, 96]


@pytest.mark.virtual_time
@pytest.mark.parametrize("asked", [1, 7])
async def test_a_request_without_a_limit_is_sent_without_one(asked: int) -> None:
    server = Server(openai)
    (found,) = await ask(server, asked, max_tokens=None)
    assert (found.token_limit, server.limits) == (None, [None])


# -------------------------------------------------------------------------------- what words lack


@pytest.mark.virtual_time
@pytest.mark.parametrize("refuse", [shared_cache, wordless])
async def test_what_the_words_lack_is_read_from_the_list_of_models(refuse: Refuse) -> None:
    server = Server(refuse)
    server.models = {"data": [{"id": "far", "max_model_len": CONTEXT}, {"id": "n", "n_ctx": 5}]}
    found = await ask(server, 10, 2000)
    assert [it.token_limit for it in found] == [CONTEXT - 10, CONTEXT - 2000]
    assert server.listed == 1


@pytest.mark.virtual_time
async def test_a_cap_is_read_from_the_list_where_the_words_say_nothing() -> None:
    server = Server(lambda prompt, asked: (422, b"Unprocessable") if asked > CAP else None)
    server.models = {"data": [{"id": "far", "max_completion_tokens": CAP}]}
    found = await ask(server, 10, 20)
    assert [it.token_limit for it in found] == [CAP, CAP]
    assert (server.refused, server.listed) == (1, 1)


@pytest.mark.virtual_time
@pytest.mark.parametrize("counts", [True, False])
async def test_where_nobody_says_how_long_a_context_is_the_limit_is_halved(counts: bool) -> None:
    server = Server(shared_cache, counts=counts)
    (found,) = await ask(server, 3000)
    assert (found.finish, found.token_limit) == ("stop", 1024)


@pytest.mark.virtual_time
async def test_other_refusals_stay_what_they_are() -> None:
    words = "no such model"
    server = Server(lambda prompt, asked: (400, error(words)))
    server.models = {"data": [{"id": "far", "max_model_len": 100_000}]}
    found = await ask(server, 10, 20)
    assert [it.finish for it in found] == ["error", "error"]
    assert words in (found[0].error or "")
    assert (server.refused, server.listed) == (2, 1)


@pytest.mark.virtual_time
async def test_a_server_that_contradicts_itself_ends_as_an_overflow() -> None:
    words = "This model's maximum context length is 4096 tokens. However, you requested 50 tokens "
    server = Server(lambda *_: (400, error(f"{words}(10 in the messages, 40 in the completion).")))
    (found,) = await ask(server, 10)
    assert found.finish == "overflow"
    assert server.refused <= 14


@pytest.mark.parametrize(
    ("entry", "offer"),
    [
        ({"max_model_len": 4096}, Offer(4096)),  # vLLM, SGLang
        ({"context_window": 8192, "max_completion_tokens": 2048}, Offer(8192, 2048)),  # Groq
        (
            {
                "context_length": 9000,
                "top_provider": {"context_length": 8000, "max_completion_tokens": 700},
            },
            Offer(8000, 700),
        ),  # OpenRouter
        ({"max_context_length": 9000, "loaded_context_length": 4096}, Offer(4096)),  # LM Studio
        ({"meta": {"n_ctx": 4096, "n_ctx_train": 131072}}, Offer(4096)),  # llama.cpp
        ({"metadata": {"context_length": 4096}}, Offer(4096)),  # DeepInfra
        ({"max_context_length": 32768}, Offer(32768)),  # Mistral
        ({"max_model_len": None, "max_completion_tokens": "many"}, Offer()),
        ({"max_model_len": True, "context_length": 0, "top_provider": None}, Offer()),
        ({}, Offer()),
    ],
)
def test_lists_of_models_are_read_in_each_servers_words(
    entry: dict[str, Any], offer: Offer
) -> None:
    other = {"id": "other", "max_model_len": 1, "max_completion_tokens": 1}
    assert offered({"data": [other, {"id": "far", **entry}]}, "far") == offer
    assert offered([other, {"id": "far", **entry}], "far") == offer
    assert offered({"models": [{"name": "far", **entry}]}, "far") == offer


@pytest.mark.parametrize("told", [None, "", 5, [], {}, {"data": None}, {"data": [None, 5]}, [[]]])
def test_a_list_that_is_none_offers_nothing(told: Any) -> None:
    assert offered(told, "far") == Offer()


def test_only_limits_that_are_there_are_lowered() -> None:
    assert lowered({"max_tokens": 10, "n": 1}, 5) == {"max_tokens": 5, "n": 1}
    assert lowered({"max_completion_tokens": 3}, 5) == {"max_completion_tokens": 3}
    assert lowered({"max_tokens": -1}, 5) == {"max_tokens": -1}
    assert lowered({}, 5) == {}
    assert limit_of({"max_tokens": 10, "max_completion_tokens": 7}) == 7
    assert limit_of({"max_tokens": -1}) is None and limit_of({}) is None
