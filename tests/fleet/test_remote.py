"""The openai engine against a real endpoint on this machine, which replies by a script."""

import gzip
import json
import socket
import struct
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from http_endpoint import Handler, HttpEndpoint
from virtual_time import Exchange

from raybench.config import FleetConf
from raybench.fleet import Fleet, open_fleet, remote_replies
from raybench.fleet.chat import messages
from raybench.fleet.remote import RemoteEngine
from raybench.fleet.remote_replies import NO_COMPLETION
from raybench.types import Completion, Message, ModelSpec, Request, Sampling

Play = Callable[[Handler], None]
KEY = "sk-very-secret-0123456789"


class Endpoint(HttpEndpoint):
    """Replies to each prompt with the prompt itself, unless a script says otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts: dict[str, list[Play]] = {}
        """By prompt: what happens to the first request, the second …; the last goes on."""
        self.seen: list[Handler] = []

    def play(self, handler: Handler) -> None:
        prompt = str(handler.body["messages"][-1]["content"])
        with self.lock:
            self.seen.append(handler)
            script = self.scripts.get(prompt, [echo])
            play = script.pop(0) if len(script) > 1 else script[0]
        play(handler)


def reply(text: Any, finish: str = "stop", **message: Any) -> dict[str, Any]:
    return {
        "choices": [{"message": {"content": text, **message}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7},
    }


def echo(handler: Handler | Exchange) -> None:
    handler.send(200, reply(str(handler.body["messages"][-1]["content"])))


def say(status: int, body: Any) -> Play:
    return lambda handler: handler.send(status, body)


def reset(handler: Handler) -> None:
    """Break the connection off without a word."""
    linger = struct.pack("ii", 1, 0)
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    handler.close_connection = True
    handler.connection.close()


def reset_halfway(handler: Handler) -> None:
    """Break the connection off in the middle of a good reply."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    reset(handler)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as server:
        yield server


@pytest.fixture(autouse=True)
def no_key_of_mine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@asynccontextmanager
async def opened(
    endpoint: Endpoint, conf: FleetConf, model: dict[str, Any], **options: Any
) -> AsyncIterator[Fleet]:
    spec = ModelSpec(
        "mine", "openai", "gpt", options={"base_url": endpoint.url, **options}, **model
    )
    async with open_fleet([spec], conf, lambda _: None) as fleet:
        yield fleet


async def ask(
    endpoint: Endpoint,
    *prompts: str,
    conf: FleetConf | None = None,
    model: dict[str, Any] | None = None,
    **options: Any,
) -> list[Completion]:
    """Send the prompts as one batch."""
    requests = [Request((Message("user", prompt),), seed=5) for prompt in prompts]
    async with opened(
        endpoint, conf or FleetConf(endpoint_attempts=2), model or {}, **options
    ) as fleet:
        return await fleet.complete("mine", requests)


async def one_reply(endpoint: Endpoint, play: Play, **kwargs: Any) -> Completion:
    endpoint.scripts["hello"] = [play]
    (completion,) = await ask(endpoint, "hello", **kwargs)
    return completion


# ---------------------------------------------------------------------------------- what is sent


async def send(endpoint: Endpoint, request: Request, **model: Any) -> dict[str, Any]:
    async with opened(endpoint, FleetConf(), model) as fleet:
        await fleet.complete("mine", [request])
    (seen,) = endpoint.seen
    assert seen.path == "/v1/chat/completions"
    body: dict[str, Any] = seen.body
    return body


async def test_a_request_carries_all_that_was_asked(endpoint: Endpoint) -> None:
    body = await send(
        endpoint,
        Request((Message("user", "größer?"),), seed=7, max_tokens=50),
        sampling=Sampling(0.7, 0.9, 100),
        system_prompt="Be brief.",
    )
    assert body == {
        "model": "gpt",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "größer?"},
        ],
        "temperature": 0.7,
        "top_p": 0.9,
        "max_tokens": 50,
        "seed": 7,
    }


async def test_what_nobody_set_is_left_to_the_endpoint(endpoint: Endpoint) -> None:
    body = await send(endpoint, Request((Message("user", "hello"),), seed=0))
    assert "max_tokens" not in body
    assert "response_format" not in body
    assert (body["temperature"], body["seed"]) == (0.0, 0)  # set, and 0


async def test_a_json_schema_becomes_a_response_format(endpoint: Endpoint) -> None:
    schema = {"type": "object", "properties": {"score": {"type": "integer"}}}
    body = await send(endpoint, Request((Message("user", "hello"),), seed=0, json_schema=schema))
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["schema"] == schema


async def test_images_go_along(endpoint: Endpoint) -> None:
    image = "data:image/png;base64,iVBORw0KGgo="
    body = await send(endpoint, Request((Message("user", "What is it?", (image,)),), seed=0))
    assert body["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is it?"},
                {"type": "image_url", "image_url": {"url": image}},
            ],
        }
    ]


@pytest.mark.parametrize("schema", [None, {"type": "object"}])
async def test_a_regex_is_not_sent_but_a_schema_beside_it(endpoint: Endpoint, schema: Any) -> None:
    hello = (Message("user", "hello"),)
    body = await send(endpoint, Request(hello, seed=0, regex="[0-9]", json_schema=schema))
    assert "[0-9]" not in json.dumps(body)
    assert ("response_format" in body) == (schema is not None)


async def test_extra_fields_go_along_and_win(endpoint: Endpoint) -> None:
    await ask(endpoint, "hello", extra_body={"top_k": 40, "seed": 99})
    (seen,) = endpoint.seen
    assert (seen.body["top_k"], seen.body["seed"], seen.body["model"]) == (40, 99, "gpt")


async def test_a_field_that_is_null_is_left_out(endpoint: Endpoint) -> None:
    await ask(endpoint, "hello", extra_body={"temperature": None, "top_k": None})
    (seen,) = endpoint.seen
    assert not {"temperature", "top_k"} & seen.body.keys()
    assert seen.body["top_p"] == 1


@pytest.mark.parametrize(
    ("environment", "options", "sent"),
    [
        ({}, {}, None),
        ({"OPENAI_API_KEY": KEY}, {}, None),  # OpenAI's, and nobody else's
        ({"OPENAI_API_KEY": KEY}, {"api_key_env": "OPENAI_API_KEY"}, f"Bearer {KEY}"),
        ({"OPENAI_API_KEY": "other", "MY_KEY": KEY}, {"api_key_env": "MY_KEY"}, f"Bearer {KEY}"),
        ({"OPENAI_API_KEY": "other"}, {"api_key_env": "NOT_THERE"}, None),
        ({"MY_KEY": f"{KEY}\n"}, {"api_key_env": "MY_KEY"}, f"Bearer {KEY}"),
    ],
)
async def test_the_key_comes_from_the_environment(
    endpoint: Endpoint,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    options: dict[str, Any],
    sent: str | None,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    (completion,) = await ask(endpoint, "hello", **options)
    assert completion.text == "hello"
    assert endpoint.seen[0].headers["Authorization"] == sent


@pytest.mark.parametrize(
    ("address", "sent"),
    [
        ("https://api.openai.com/v1", f"Bearer {KEY}"),
        ("https://api.openai.com.elsewhere.example/v1", None),
        ("https://elsewhere.example/api.openai.com", None),
    ],
)
async def test_openais_own_key_goes_to_openai_unasked_and_to_nobody_else(
    monkeypatch: pytest.MonkeyPatch, address: str, sent: str | None
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    engine = RemoteEngine({"base_url": address}, FleetConf(), lambda _: None)
    with engine._connections.lent() as client:
        assert client.headers.get("Authorization") == sent
    await engine.close()


async def test_an_endpoint_that_wants_a_key_is_told_as_such(endpoint: Endpoint) -> None:
    completion = await one_reply(endpoint, say(401, {"error": "who?"}))
    assert "options.api_key_env" in (completion.error or "")
    assert "who?" in (completion.error or "")


# ---------------------------------------------------------------------------- what is understood


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (reply("cut", "length"), Completion("cut", "length")),
        (reply(None, "length", reasoning_content="hm"), Completion("", "thinking", "hm")),
        (reply("<think>2 + 2", "length"), Completion("", "thinking", "2 + 2")),
        (reply("<think>2 + 2</think>4"), Completion("4", "stop", "2 + 2")),
        (reply(None, refusal="I will not."), Completion("", "refusal", error="I will not.")),
        (reply("How to", "content_filter"), Completion("How to", "refusal")),
        (reply("4", reasoning_content="2 + 2"), Completion("4", "stop", "2 + 2")),
        (reply("4", reasoning="2 + 2"), Completion("4", "stop", "2 + 2")),
        (reply("4", reasoning=None, reasoning_content=None), Completion("4", "stop")),
        (reply("", "stop"), Completion("", "empty")),
        (reply(None, "stop", reasoning="hm"), Completion("", "empty", "hm")),
        (reply(None, "length"), Completion("", "length")),
        (reply("half \ud83d a character"), Completion("half ? a character", "stop")),
        (reply("a whole \U0001f600"), Completion("a whole \U0001f600", "stop")),
    ],
)
async def test_what_a_reply_says_is_kept(
    endpoint: Endpoint, body: dict[str, Any], expected: Completion
) -> None:
    completion = await one_reply(endpoint, say(200, body))
    assert (completion.text, completion.finish, completion.reasoning) == (
        expected.text,
        expected.finish,
        expected.reasoning,
    )
    assert expected.error is None or completion.error == expected.error
    assert (completion.error is None) == (completion.finish in ("stop", "length"))
    assert len(endpoint.seen) == 1  # none of this would be another one at another time


async def test_thoughts_that_an_endpoint_keeps_to_itself_are_thoughts(endpoint: Endpoint) -> None:
    usage = {"completion_tokens": 7, "completion_tokens_details": {"reasoning_tokens": 7}}
    completion = await one_reply(endpoint, say(200, reply("", "length") | {"usage": usage}))
    assert (completion.finish, completion.reasoning) == ("thinking", "")


async def test_a_reply_without_usage_counts_no_tokens(endpoint: Endpoint) -> None:
    completion = await one_reply(endpoint, say(200, reply("hi") | {"usage": None}))
    assert (completion.text, completion.prompt_tokens, completion.output_tokens) == ("hi", 0, 0)


@pytest.mark.parametrize(
    ("details", "cached"),
    [({"cached_tokens": 8}, 8), ({"cached_tokens": 0}, 0), ({}, None), (None, None)],
)
async def test_cached_tokens_are_told_where_the_endpoint_tells_them(
    endpoint: Endpoint, details: dict[str, int] | None, cached: int | None
) -> None:
    body = reply("hi")
    body["usage"]["prompt_tokens_details"] = details
    completion = await one_reply(endpoint, say(200, body))
    assert (completion.prompt_tokens, completion.cached_tokens) == (11, cached)


@pytest.mark.parametrize(
    ("given", "count"),
    [
        (7, 7),
        (7.0, 7),
        ("7", 7),  # as protocol buffers write 64-bit numbers
        (0, 0),
        *((it, None) for it in (-1, 10**10, 10**400, float("inf"), float("nan"), "many", "", True)),
        *((it, None) for it in (None, [1], {"tokens": 1})),
    ],
    ids=lambda it: repr(it)[:12],
)
async def test_an_unusable_count_is_no_count_and_the_reply_stays(
    endpoint: Endpoint, given: Any, count: int | None
) -> None:
    usage = {
        "prompt_tokens": given,
        "completion_tokens": given,
        "prompt_tokens_details": {"cached_tokens": given},
        "completion_tokens_details": {"reasoning_tokens": given},
    }
    completion = await one_reply(endpoint, say(200, reply("hi") | {"usage": usage}))
    assert (completion.text, completion.finish) == ("hi", "stop")
    assert (completion.prompt_tokens, completion.output_tokens) == (count or 0, count or 0)
    assert completion.cached_tokens == count


@pytest.mark.parametrize(
    "usage",
    [[1], "many", 5, {"prompt_tokens_details": [1], "completion_tokens_details": "some"}],
    ids=repr,
)
async def test_an_unusable_usage_is_none_and_the_reply_stays(
    endpoint: Endpoint, usage: Any
) -> None:
    completion = await one_reply(endpoint, say(200, reply("hi") | {"usage": usage}))
    assert (completion.text, completion.prompt_tokens, completion.output_tokens) == ("hi", 0, 0)
    assert completion.cached_tokens is None


async def test_a_count_of_thousands_of_digits_is_no_count(endpoint: Endpoint) -> None:
    body = json.dumps(reply("hi")).replace("11", "9" * 5000).encode()
    completion = await one_reply(endpoint, say(200, body))
    assert (completion.text, completion.prompt_tokens, completion.output_tokens) == ("hi", 0, 7)


TEXT = {"type": "text", "text": "Par"}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([TEXT, {"type": "text", "text": "is"}], Completion("Paris", "stop")),
        ([{"type": "output_text", "text": "Paris"}], Completion("Paris", "stop")),
        (
            [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, TEXT],  # Mistral
            Completion("Par", "stop", "hm"),
        ),
        ([{"type": "thinking", "thinking": "hm"}, TEXT], Completion("Par", "stop", "hm")),
        ([{"type": "reasoning", "text": "hm"}, TEXT], Completion("Par", "stop", "hm")),
        ([{"type": "refusal", "refusal": "No."}], Completion("", "refusal", error="No.")),
        ([], Completion("", "empty")),
    ],
)
async def test_content_in_parts_is_read(
    endpoint: Endpoint, content: list[dict[str, Any]], expected: Completion
) -> None:
    completion = await one_reply(endpoint, say(200, reply(content)))
    assert (completion.text, completion.finish, completion.reasoning) == (
        expected.text,
        expected.finish,
        expected.reasoning,
    )
    assert expected.error is None or completion.error == expected.error


NONSENSE: dict[str, Any] = {
    "no JSON": b"<html>Welcome</html>",
    "half a JSON": b'{"choices": [{"mess',
    "nothing": b"",
    "no UTF-8": b'"\xff\xfe"',
    "nested without end": b"[" * 100_000,
    "a number": 5,
    "a list": [],
    "no choices": {"id": "1"},
    "empty choices": {"choices": []},
    "null choices": {"choices": None},
    "no message": {"choices": [{}]},
    "null message": {"choices": [{"message": None}]},
    "a picture for a text": reply([{"type": "image_url", "image_url": {"url": "data:,"}}]),
    "a word for a part": reply(["hi"]),
    "a number for a part's text": reply([{"type": "text", "text": 5}]),
    "a number for a text": reply(5),
    "a number for the reasoning": reply("hi", reasoning=5),
    "a number for the refusal": reply(None, refusal=5),
}


@pytest.mark.parametrize("body", NONSENSE.values(), ids=NONSENSE.keys())
async def test_a_reply_that_is_none_is_an_error_in_words(endpoint: Endpoint, body: Any) -> None:
    completion = await one_reply(endpoint, say(200, body), conf=FleetConf(endpoint_attempts=1))
    assert (completion.finish, completion.text) == ("error", "")
    assert NO_COMPLETION in (completion.error or "")


@pytest.mark.parametrize("status", [301, 400, 401, 404, 422])
async def test_a_refusal_is_final_and_told(endpoint: Endpoint, status: int) -> None:
    why = "max_tokens is too large"
    body = {"error": {"message": why}}
    completion = await one_reply(endpoint, say(status, body))
    assert completion.finish == "error"
    assert str(status) in (completion.error or "")
    assert why in (completion.error or "")
    assert len(endpoint.seen) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(endpoint: Endpoint, status: int) -> None:
    """Nobody has said that prompts and keys may go where it leads."""
    with Endpoint() as elsewhere:
        there = f"{elsewhere.url}/chat/completions"
        completion = await one_reply(endpoint, lambda it: it.send(status, b"", Location=there))
        assert elsewhere.seen == []
    assert completion.finish == "error"
    assert str(status) in (completion.error or "")
    assert len(endpoint.seen) == 1


OVERFLOW = "This model's maximum context length is 4096 tokens. However, your prompt has 9000."


def error(message: Any, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


@pytest.mark.parametrize(
    ("status", "body", "finish"),
    [
        (400, error("Too long.", code="context_length_exceeded"), "overflow"),
        (400, error(OVERFLOW, type="BadRequestError", code=400), "overflow"),
        (400, error("try increasing it", type="exceed_context_size_error", code=400), "overflow"),
        (413, error("Prompt is too long"), "overflow"),
        (422, {"error": "`inputs` tokens + `max_new_tokens` must be <= 4096"}, "overflow"),
        (400, {"object": "error", "message": OVERFLOW, "code": 400}, "overflow"),
        (400, {"detail": OVERFLOW}, "overflow"),
        (400, OVERFLOW.encode(), "overflow"),
        (400, [error(OVERFLOW, code=400, status="INVALID_ARGUMENT")], "overflow"),  # Gemini
        (400, [error("Too long.", code="context_length_exceeded")], "overflow"),
        (
            400,
            error("Provider returned error", metadata={"raw": json.dumps(error(OVERFLOW))}),
            "overflow",
        ),  # OpenRouter
        (400, error("Provider returned error", metadata={"raw": OVERFLOW}), "overflow"),
        (200, error(OVERFLOW), "overflow"),
        (200, [error(OVERFLOW)], "overflow"),
        # Some servers call it an error of their own: it would be one thirty times.
        (500, error("Context size has been exceeded.", type="server_error"), "overflow"),
        (400, error("The response was filtered", code="content_filter"), "refusal"),
        (400, error("No.", innererror={"code": "ResponsibleAIPolicyViolation"}), "refusal"),
        (403, error("requires moderation. Your input was flagged.", code=403), "refusal"),
    ],
)
async def test_what_the_model_cannot_take_is_no_infrastructure_error(
    endpoint: Endpoint, status: int, body: Any, finish: str
) -> None:
    completion = await one_reply(endpoint, say(status, body), conf=FleetConf())
    assert (completion.finish, completion.text) == (finish, "")
    assert f"HTTP {status}" in (completion.error or "")
    assert len(endpoint.seen) == 1


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (401, error(OVERFLOW)),  # whatever it says: it wants a key
        (429, error("Rate limit", code="context_length_exceeded")),
        (503, error(OVERFLOW)),
        (400, error([OVERFLOW])),
        # The prompt, repeated: it speaks of a context, the error does not.
        (422, {"detail": [{"msg": "Field required", "input": {"content": OVERFLOW}}]}),
        (400, error("Unknown field", prompt=OVERFLOW)),
        (400, b"[" * 100_000),
        (400, {"error": {"code": None, "type": ["content_filter"]}}),
    ],
)
async def test_other_trouble_stays_an_error(endpoint: Endpoint, status: int, body: Any) -> None:
    completion = await one_reply(endpoint, say(status, body), conf=FleetConf(endpoint_attempts=1))
    assert completion.finish == "error"


@pytest.mark.parametrize("wrap", [lambda it: it, lambda it: [it]], ids=["plain", "in a list"])
@pytest.mark.parametrize(("code", "tries"), [(400, 1), (402, 1), (429, 2), (502, 2), (None, 2)])
async def test_an_error_that_is_sent_as_a_success_is_told_in_its_own_words(
    endpoint: Endpoint, wrap: Callable[[Any], Any], code: int | None, tries: int
) -> None:
    words = "Insufficient credits"
    body = error(words, code=code) | {"id": "1"}
    completion = await one_reply(endpoint, say(200, wrap(body)))
    assert (completion.finish, completion.text) == ("error", "")
    assert (completion.error or "").startswith(f"HTTP {code or 200} {words}")
    assert len(endpoint.seen) == tries


async def test_an_error_beside_a_reply_is_no_reason_to_lose_it(endpoint: Endpoint) -> None:
    completion = await one_reply(endpoint, say(200, reply("hi") | {"error": None}))
    assert completion.text == "hi"


async def test_why_a_reply_broke_off_is_told(endpoint: Endpoint) -> None:
    body = reply("Par", "error")
    body["choices"][0]["error"] = {"message": "Upstream overloaded", "code": 502}
    completion = await one_reply(endpoint, say(200, body), conf=FleetConf(endpoint_attempts=1))
    assert (completion.error or "").endswith(": Upstream overloaded")


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "m is not a multimodal model"),
        (404, "No endpoints found that support image input"),
        (500, "image input is not supported - hint: you may need to provide the mmproj"),
    ],
)
async def test_a_model_that_takes_no_images_says_so(
    endpoint: Endpoint, status: int, said: str
) -> None:
    message = Message("user", "What is it?", ("https://host/a.png",))
    request = Request((message,), seed=5)
    (sent,) = messages(request.messages)
    endpoint.scripts[str(sent["content"])] = [say(status, error(said))]
    async with opened(endpoint, FleetConf(), {}) as fleet:
        (completion,) = await fleet.complete("mine", [request])
    assert completion.finish == "unsupported"
    assert said in (completion.error or "")


async def test_a_long_refusal_is_cut(endpoint: Endpoint) -> None:
    completion = await one_reply(endpoint, say(400, b"x" * 10_000))
    assert 100 < len(completion.error or "") < 1000


@pytest.mark.parametrize("padding", [0, *range(440, 500, 7)])
async def test_a_key_that_an_endpoint_repeats_is_not_passed_on(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, padding: int
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)

    def repeat(handler: Handler) -> None:
        handler.send(401, ("x" * padding + f" bad {handler.headers['Authorization']}").encode())

    completion = await one_reply(endpoint, repeat, api_key_env="MY_KEY")
    assert "401" in (completion.error or "")
    assert "xx" in repr(completion) or "bad Bearer" in repr(completion)
    assert KEY[:8] not in repr(completion)  # nor the half of it, where the reason was cut


@pytest.mark.parametrize(
    ("key", "written"),
    [
        (KEY, KEY),
        ("sk/very/secret+key==", "sk\\/very\\/secret+key=="),  # as PHP writes JSON
        ("sk/very/secret+key==", "sk%2Fvery%2Fsecret%2Bkey%3D%3D"),
    ],
)
async def test_a_key_in_a_reply_is_not_passed_on_however_it_is_written(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, key: str, written: str
) -> None:
    monkeypatch.setenv("MY_KEY", key)
    endpoint.scripts = {
        "refused": [say(400, f'{{"error": "{written}"}}'.encode())],
        "told": [say(200, reply(f"Is {written}.", reasoning=f"Hm, {written}"))],
    }
    refused, told = await ask(endpoint, "refused", "told", api_key_env="MY_KEY")
    assert refused.error == 'HTTP 400 {"error": "(key)"}'
    assert (told.text, told.reasoning) == ("Is (key).", "Hm, (key)")


async def test_a_filler_for_a_key_is_a_word_like_any_other(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "EMPTY")
    completion = await one_reply(endpoint, say(200, reply("EMPTY set")), api_key_env="MY_KEY")
    assert completion.text == "EMPTY set"


# ------------------------------------------------------------------------------- what breaks


@pytest.mark.parametrize("status", [200, 500])
async def test_a_reply_that_would_fill_the_memory_is_not_read_to_its_end(
    endpoint: Endpoint, status: int
) -> None:
    packed = gzip.compress(b" " * (1 << 28))  # 256 MiB in 260 kB
    bomb = lambda handler: handler.send(status, packed, **{"Content-Encoding": "gzip"})  # noqa: E731
    completion = await one_reply(endpoint, bomb)
    assert (completion.error or "").endswith(" 16 MiB")
    assert len(endpoint.seen) == 1


async def test_a_connection_that_is_reset_is_made_again(endpoint: Endpoint) -> None:
    """Retries and deadlines are the subject of test_remote_time.py; a reset needs real TCP."""
    endpoint.scripts = {"at once": [reset, echo], "halfway": [reset_halfway, echo]}
    completions = await ask(endpoint, *endpoint.scripts)
    assert [completion.text for completion in completions] == ["at once", "halfway"]
    assert len(endpoint.seen) == 4


async def test_a_header_of_any_bytes_costs_nobody_a_reply(endpoint: Endpoint) -> None:
    endpoint.scripts["hello"] = [
        lambda handler: handler.send(200, reply("Grüezi"), **{"X-Served-By": "Zürich"})
    ]
    completions = await ask(endpoint, "hello", "other")
    assert [completion.text for completion in completions] == ["Grüezi", "other"]


async def test_whatever_a_client_raises_is_the_error_of_its_request(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(told: Any) -> Any:
        if "bad" in str(told):
            raise LookupError("unknown encoding: of its own")
        return remote_replies.read(told)

    monkeypatch.setattr("raybench.fleet.remote.read", broken)
    bad, good = await ask(endpoint, "bad", "good")
    assert (bad.finish, good.text) == ("error", "good")
    assert (bad.error or "").startswith("LookupError: ")
    conf = FleetConf(endpoint_attempts=30)
    endpoint.seen.clear()
    await ask(endpoint, "bad", conf=conf)
    assert 1 < len(endpoint.seen) < 5, "no network fails so, and nobody mends it meanwhile"


async def test_one_failure_leaves_the_rest_of_the_batch_alone(endpoint: Endpoint) -> None:
    endpoint.scripts["bad"] = [say(400, b"no")]
    completions = await ask(endpoint, "a", "bad", "b")
    assert [completion.text for completion in completions] == ["a", "", "b"]


async def test_nobody_there_is_an_error_in_words(endpoint: Endpoint) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        (completion,) = await ask(
            endpoint, "hello", conf=FleetConf(endpoint_attempts=1), base_url=address
        )
    assert completion.finish == "error"
    assert "ConnectError" in (completion.error or "")


# ------------------------------------------------------------------------ what is put another way

TOLD = (Message("system", "Be brief."), Message("user", "Why?"))
NO_ROLE = error("System role not supported")


@pytest.mark.parametrize("status", [400, 500])
async def test_an_endpoint_without_the_system_role_is_asked_once_more(
    endpoint: Endpoint, status: int
) -> None:
    asked: list[list[str]] = []

    def gemma(handler: Handler) -> None:
        asked.append([turn["role"] for turn in handler.body["messages"]])
        echo(handler) if asked[-1] == ["user"] else handler.send(status, NO_ROLE)

    endpoint.scripts = {"Why?": [gemma], "Be brief.\n\nWhy?": [gemma]}
    async with opened(endpoint, FleetConf(), {}) as fleet:
        replies = [(await fleet.complete("mine", [Request(TOLD, seed=5)]))[0] for _ in range(2)]
    assert [reply.text for reply in replies] == ["\n\n".join(it.content for it in TOLD)] * 2
    # It is known from then on.
    assert asked == [["system", "user"], ["user"], ["user"]]


@pytest.mark.parametrize("in_a_row", [True, False])
async def test_a_request_may_keep_its_system_text_apart_where_the_model_takes_that(
    endpoint: Endpoint, in_a_row: bool
) -> None:
    asked: list[list[str]] = []
    takes = ["user", "user"] if in_a_row else ["user"]
    alternate = error("Conversation roles must alternate user/assistant/user/assistant/...")

    def template(handler: Handler) -> None:
        asked.append([turn["role"] for turn in handler.body["messages"]])
        if asked[-1] == takes:
            echo(handler)
        else:
            handler.send(400, NO_ROLE if "system" in asked[-1] else alternate)

    endpoint.scripts = {"Why?": [template], "Be brief.\n\nWhy?": [template]}
    async with opened(endpoint, FleetConf(), {}) as fleet:
        request = Request(TOLD, seed=5, system_apart=True)
        replies = [(await fleet.complete("mine", [request]))[0] for _ in range(2)]
    assert {reply.finish for reply in replies} == {"stop"}
    tried = [["system", "user"], ["user", "user"], ["user"]]
    assert asked == [*tried[: 2 if in_a_row else 3], takes]


async def test_who_says_that_it_has_the_role_is_not_asked_another_way(endpoint: Endpoint) -> None:
    endpoint.scripts["Why?"] = [say(400, NO_ROLE)]
    async with opened(endpoint, FleetConf(), {"system_role": True}) as fleet:
        (reply,) = await fleet.complete("mine", [Request(TOLD, seed=5)])
    assert (reply.finish, len(endpoint.seen)) == ("error", 1)


async def test_without_a_system_message_there_is_nothing_to_put_another_way(
    endpoint: Endpoint,
) -> None:
    endpoint.scripts["Why?"] = [say(400, NO_ROLE)]
    async with opened(endpoint, FleetConf(), {}) as fleet:
        (reply,) = await fleet.complete("mine", [Request(TOLD[1:], seed=5)])
    assert (reply.finish, len(endpoint.seen)) == ("error", 1)


SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
NO_SCHEMA = [
    "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
    "Invalid schema for response_format 'reply': In context=('properties', 'confidence'), "
    "'minimum' is not permitted.",
    "This response_format type is unavailable now",
    "This model does not support response format `json_schema`.",
]


@pytest.mark.parametrize("status", [400, 500])
@pytest.mark.parametrize("words", NO_SCHEMA)
async def test_an_endpoint_that_refuses_schemas_is_asked_once_more_without(
    endpoint: Endpoint, status: int, words: str
) -> None:
    asked: list[bool] = []

    def unable(handler: Handler) -> None:
        asked.append("response_format" in handler.body)
        handler.send(status, error(words)) if asked[-1] else echo(handler)

    endpoint.scripts["Why?"] = [unable]
    request = Request(TOLD[1:], seed=5, json_schema=SCHEMA)
    async with opened(endpoint, FleetConf(), {}) as fleet:
        replies = [(await fleet.complete("mine", [request]))[0] for _ in range(2)]
    assert [reply.text for reply in replies] == ["Why?"] * 2
    # It is known from then on.
    assert asked == [True, False, False]


def o_series(handler: Handler | Exchange) -> None:
    """Refuse what OpenAI's models that reason refuse, one thing at a time as they do."""
    body = handler.body
    for field, more in (("max_tokens", " Use 'max_completion_tokens' instead."),
                        ("temperature", ""), ("top_p", "")):  # fmt: skip
        if field in body:
            words = f"Unsupported parameter: '{field}' is not supported with this model.{more}"
            return handler.send(400, error(words))
    return echo(handler)


async def test_the_limit_goes_by_the_name_that_the_endpoint_wants(endpoint: Endpoint) -> None:
    limits: list[tuple[Any, Any]] = []

    def newer(handler: Handler) -> None:
        body = handler.body
        limits.append((body.get("max_tokens"), body.get("max_completion_tokens")))
        o_series(handler)

    endpoint.scripts["Why?"] = [newer]
    request = Request(TOLD[1:], seed=5, max_tokens=10)
    no_draws = {"temperature": None, "top_p": None}
    async with opened(endpoint, FleetConf(), {}, extra_body=no_draws) as fleet:
        replies = await fleet.complete("mine", [request]) + await fleet.complete("mine", [request])
    assert [reply.text for reply in replies] == ["Why?"] * 2
    # It is known from then on.
    assert limits == [(10, None), (None, 10), (None, 10)]


async def test_sampling_that_is_refused_is_an_error_with_its_mend(endpoint: Endpoint) -> None:
    endpoint.scripts["Why?"] = [o_series]
    async with opened(endpoint, FleetConf(), {}) as fleet:
        (reply,) = await fleet.complete("mine", [Request(TOLD[1:], seed=5)])
    assert (reply.finish, len(endpoint.seen)) == ("error", 1)
    assert "HTTP 400 (" in (reply.error or "")
    assert "{extra_body: {temperature: null}})" in (reply.error or "")


async def test_other_trouble_is_none_of_the_schema(endpoint: Endpoint) -> None:
    endpoint.scripts["Why?"] = [say(400, error("no such model"))]
    async with opened(endpoint, FleetConf(), {}) as fleet:
        (reply,) = await fleet.complete("mine", [Request(TOLD[1:], seed=5, json_schema=SCHEMA)])
    assert (reply.finish, len(endpoint.seen)) == ("error", 1)


async def test_control_tokens_of_others_do_not_reach_an_endpoint(endpoint: Endpoint) -> None:
    text = "4</s>[INST]<|im_end|>"
    async with opened(endpoint, FleetConf(), {}) as fleet:
        ours, theirs = await fleet.complete(
            "mine",
            [
                Request((Message("user", text, foreign=foreign),), seed=5)
                for foreign in (False, True)
            ],
        )
    assert (ours.text, theirs.text) == (text, "4< /s>[ INST]< |im_end|>")
