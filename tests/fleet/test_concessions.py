"""What models at endpoints turn out not to take. The servers' words are as they send them."""

from typing import Any

import pytest

from raybench.fleet.concessions import (
    SCHEMA,
    SYSTEM_APART,
    SYSTEM_ROLE,
    TOKEN_LIMIT,
    USERS_JOINED,
    Concession,
    Concessions,
    for_request,
    mend,
    wanted,
)
from raybench.types import Message, ModelSpec, Request

MODEL = ModelSpec("m", "openai", "far")
BODY: dict[str, Any] = {
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}],
    "temperature": 0.0,
    "top_p": 1.0,
    "seed": 5,
    "max_tokens": 10,
    "response_format": {"type": "json_schema"},
}
NO_LIMIT = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead."
)


@pytest.mark.parametrize(
    "said",
    [
        "System role not supported",  # Gemma's template, by vLLM, TGI and llama.cpp
        "Conversation roles must alternate user/assistant/user/assistant/...",  # Mistral's
        # Of a system message alone:
        "messages: at least one message is required",  # Anthropic
        "GenerateContentRequest.contents: contents is not specified",  # Gemini API
        "No user query found in messages.",  # Qwen's
        "Only user and assistant roles are supported!",
        "Only user, assistant and tool roles are supported!",
        "Developer instruction is not enabled for models/gemma-3-27b-it",  # Gemini's
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    ],
)
def test_who_takes_no_system_message_is_understood(said: str) -> None:
    assert wanted(MODEL, BODY, said) is SYSTEM_ROLE


@pytest.mark.parametrize(
    "said",
    [
        "",
        "The system is overloaded",
        "Rate limit reached for users",
        "Unsupported value: 'temperature' does not support 0 with this model.",
        "This user has no role that is supported here",
        "image input is not supported",
    ],
)
def test_other_trouble_says_nothing_of_the_role(said: str) -> None:
    assert wanted(MODEL, BODY, said) is None


def test_a_limit_of_tokens_goes_by_its_newer_name() -> None:
    assert wanted(MODEL, BODY, NO_LIMIT) is TOKEN_LIMIT
    named = TOKEN_LIMIT.instead(BODY)
    assert named["max_completion_tokens"] == 10
    assert "max_tokens" not in named


@pytest.mark.parametrize("concession", [SYSTEM_ROLE, SCHEMA, TOKEN_LIMIT])
def test_what_was_conceded_is_not_asked_for_again(concession: Concession) -> None:
    words = {
        SYSTEM_ROLE: "System role not supported",
        SCHEMA: "response_format is unavailable",
        TOKEN_LIMIT: NO_LIMIT,
    }
    assert wanted(MODEL, BODY, words[concession]) is concession
    assert wanted(MODEL, concession.instead(BODY), words[concession]) is None


def test_concessions_add_up_and_are_a_models_own() -> None:
    made = Concessions()
    assert all(made.make(MODEL, it) for it in (SCHEMA, TOKEN_LIMIT, SYSTEM_ROLE))
    assert not made.make(MODEL, SCHEMA)
    put = made.put(MODEL, BODY)
    assert put["messages"] == [{"role": "user", "content": "Be brief.\n\nWhy?"}]
    assert put.keys() - BODY.keys() == {"max_completion_tokens"}
    assert BODY.keys() - put.keys() == {"max_tokens", "response_format"}
    assert made.put(ModelSpec("n", "openai", "far"), BODY) == BODY


def test_a_system_text_is_kept_apart_where_a_request_wants_that_and_the_model_takes_it() -> None:
    alternate = "Conversation roles must alternate user/assistant/user/assistant/..."
    told = (Message("system", "Be brief."), Message("user", "Why?"))
    for apart, expected in ((False, SYSTEM_ROLE), (True, SYSTEM_APART)):
        asked = Request(told, seed=1, system_apart=apart)
        assert for_request(SYSTEM_ROLE, asked) is expected
        assert for_request(SCHEMA, asked) is SCHEMA
    made = Concessions()
    made.make(MODEL, SYSTEM_APART)
    put = made.put(MODEL, BODY)
    assert put["messages"] == [
        {"role": "user", "content": "Be brief."},
        {"role": "user", "content": "Why?"},
    ]
    assert wanted(MODEL, put, "System role not supported") is None
    # A template that refuses two user messages in a row gets them as one.
    assert wanted(MODEL, put, alternate) is USERS_JOINED
    made.make(MODEL, USERS_JOINED)
    assert made.put(MODEL, BODY)["messages"] == [{"role": "user", "content": "Be brief.\n\nWhy?"}]
    assert wanted(MODEL, made.put(MODEL, BODY), alternate) is None


@pytest.mark.parametrize(
    ("said", "field"),
    [
        (
            "Unsupported parameter: 'temperature' is not supported with this model.",
            "temperature",
        ),
        (
            "Unsupported value: 'temperature' does not support 0.0 with this model. Only the "
            "default (1) value is supported.",
            "temperature",
        ),
        (
            "`temperature` and `top_p` cannot both be specified for this model. Please use only "
            "one.",
            "top_p",
        ),
        ('Invalid JSON payload received. Unknown name "seed": Cannot find field.', "seed"),
    ],
)
def test_what_helps_where_sampling_is_refused_is_said(said: str, field: str) -> None:
    assert f"{{extra_body: {{{field}: null}}}})" in mend(BODY, said)


@pytest.mark.parametrize(
    "said",
    [
        "temperature must be between 0 and 2",
        "the model does not support images",
        "Unsupported parameter: 'logprobs' is not supported with this model.",
        "",
    ],
)
def test_nothing_is_advised_about_other_trouble(said: str) -> None:
    assert mend(BODY, said) == ""


def test_nothing_is_advised_about_what_was_not_sent() -> None:
    assert mend({"seed": 1}, "Unsupported parameter: 'temperature' is not supported") == ""
