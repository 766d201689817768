"""What replies and refusals mean. The servers' words are as they send them."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.fleet.chat import answered, messages, separated, turned_down
from raybench.types import Message, Request

PIXEL = "data:image/png;base64,iVBORw0KGgo="


# ------------------------------------------------------------------------------------- what is sent


def test_a_message_without_images_is_plain_text() -> None:
    request = Request((Message("system", "Be brief."), Message("user", "größer?")), seed=0)
    assert messages(request.messages) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "größer?"},
    ]


def test_images_follow_the_text_in_their_order() -> None:
    request = Request((Message("user", "Compare.", ("https://host/a.png", PIXEL)),), seed=0)
    (message,) = messages(request.messages)
    assert message["content"] == [
        {"type": "text", "text": "Compare."},
        {"type": "image_url", "image_url": {"url": "https://host/a.png"}},
        {"type": "image_url", "image_url": {"url": PIXEL}},
    ]
    assert hash(request) == hash(pickle.loads(pickle.dumps(request)))


def test_an_image_alone_has_no_text() -> None:
    (message,) = messages([Message("user", "", (PIXEL,))])
    assert [part["type"] for part in message["content"]] == ["image_url"]


# -------------------------------------------------------------------------------- how a reply ended


@pytest.mark.parametrize(
    ("text", "reason", "more", "finish"),
    [
        ("Paris.", "stop", {}, "stop"),
        ("Paris.", None, {}, "stop"),
        ("Paris.", "repetition", {}, "stop"),
        ("Par", "length", {}, "length"),
        ("", "length", {}, "length"),  # nothing tells that it was thinking
        ("", "length", {"reasoning": "Let me see"}, "thinking"),
        (" \n", "length", {"reasoning": "Let me see"}, "thinking"),
        ("", "length", {"thought": True}, "thinking"),
        ("Par", "length", {"reasoning": "Let me see", "thought": True}, "length"),
        ("<think>Let me see", "length", {}, "thinking"),
        ("\n<think>", "length", {}, "thinking"),
        ("<think>a</think>\n<think>b", "length", {}, "thinking"),
        ("<think>a</think>Par", "length", {}, "length"),
        ("<think>Let me see</think>Paris.", "stop", {}, "stop"),
        ("", "stop", {}, "empty"),
        (" \n", "stop", {}, "empty"),
        ("", "stop", {"reasoning": "I need say nothing"}, "empty"),
        ("<think>I need say nothing</think>", "stop", {}, "empty"),
        ("<think>I never came to an end", "stop", {}, "empty"),
        ("", "content_filter", {}, "refusal"),
        ("How to bui", "content_filter", {}, "refusal"),
        ("", "stop", {"refusal": "I cannot help with that."}, "refusal"),
    ],
)
def test_every_end_is_told_apart(
    text: str, reason: str | None, more: dict[str, object], finish: str
) -> None:
    completion = answered(text, reason, **more)  # type: ignore[arg-type]
    assert completion.finish == finish
    assert (completion.error is None) == (finish in ("stop", "length"))


def test_a_refusals_own_words_are_kept() -> None:
    said = "I cannot help with that."
    completion = answered("", "stop", refusal=said)
    assert (completion.text, completion.error) == ("", said)


def test_thinking_in_the_text_is_moved_behind_that_beside_it() -> None:
    completion = answered("<think> b </think>Paris.", "stop", reasoning="a")
    assert (completion.text, completion.reasoning) == ("Paris.", "a\nb")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("4", ("4", "")),
        ("<think>2 + 2</think>4", ("4", "2 + 2")),
        ("\n <think>\n2 + 2\n</think>\n\n4", ("\n\n4", "2 + 2")),
        ("<think>2 +\n 2", ("", "2 +\n 2")),
        ("<think></think>4", ("4", "")),
        ("<think>a</think> <think>b</think>c", ("c", "a\nb")),
        ("The tag <think> opens a thought", ("The tag <think> opens a thought", "")),
        ("4</think>", ("4</think>", "")),
    ],
)
def test_thinking_is_what_a_text_begins_with(text: str, parts: tuple[str, str]) -> None:
    assert separated(text) == parts


pieces = st.lists(st.sampled_from(["<think>", "</think>", " ", "\n", "4", "word"])).map("".join)


@given(pieces | st.text())
def test_what_is_left_is_the_texts_end_and_begins_with_no_thought(text: str) -> None:
    answer, thoughts = separated(text)
    assert text.endswith(answer)
    assert not answer.lstrip().startswith("<think>")
    assert separated(answer) == (answer, "")
    if not text.lstrip().startswith("<think>"):
        assert (answer, thoughts) == (text, "")


@given(pieces, st.sampled_from(["stop", "length", "content_filter", None]), pieces, st.booleans())
def test_only_answers_are_without_an_excuse(
    text: str, reason: str | None, reasoning: str, thought: bool
) -> None:
    completion = answered(text, reason, reasoning=reasoning, thought=thought)
    assert (completion.error is None) == (completion.finish in ("stop", "length"))
    if completion.finish == "stop":
        assert completion.text.strip()
    if completion.finish in ("thinking", "empty"):
        assert not completion.text.strip()
    assert (completion.finish in ("length", "thinking")) == (reason == "length")


# ------------------------------------------------------------------------- what a refusal means

OVERFLOWS = {
    "OpenAI": "This model's maximum context length is 8192 tokens. However, your messages resulted "
    "in 8545 tokens. Please reduce the length of the messages.",
    "vLLM": "This model's maximum context length is 4096 tokens. However, you requested 0 output "
    "tokens and your prompt contains at least 4097 input tokens, for a total of at least 4097.",
    "vLLM's engine": "The decoder prompt (length 4096) plus the number of requested output tokens "
    "(at least 1) is longer than the maximum model length of 4096.",
    "vLLM, all for the reply": "max_tokens=9999 cannot be greater than max_model_len="
    "max_total_tokens=4096. Please request fewer output tokens.",
    "SGLang": "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
    "llama.cpp": "request (4390 tokens) exceeds the available context size (4096 tokens), try "
    "increasing it",
    "llama.cpp, older": "the request exceeds the available context size. try increasing the "
    "context size or enable context shift",
    "llama.cpp, while writing": "Context size has been exceeded.",
    "llama-cpp-python": "Requested tokens (2285) exceed context window of 2048",
    "Anthropic": "prompt is too long: 210000 tokens > 200000 maximum",
    "Anthropic, with the reply": "input length and `max_tokens` exceed context limit: 188240 + "
    "21333 > 200000, decrease input length or `max_tokens` and try again",
    "Bedrock": "Input is too long for requested model.",
    "Gemini": "The input token count (1200000) exceeds the maximum number of tokens allowed "
    "(1048576).",
    "TGI": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: "
    "5000 `inputs` tokens and 100 `max_new_tokens`",
    "Ollama": "the input length exceeds the context length",
    "LiteLLM": "litellm.ContextWindowExceededError: litellm.BadRequestError: something of theirs",
}


@pytest.mark.parametrize("said", OVERFLOWS.values(), ids=OVERFLOWS.keys())
@pytest.mark.parametrize("images", [False, True])
def test_a_prompt_that_does_not_fit_is_known_by_the_words(said: str, images: bool) -> None:
    assert turned_down(said, images=images) == "overflow"


@pytest.mark.parametrize(
    ("code", "finish"),
    [
        ("context_length_exceeded", "overflow"),
        ("exceed_context_size_error", "overflow"),
        ("content_filter", "refusal"),
        ("content_policy_violation", "refusal"),
        ("ResponsibleAIPolicyViolation", "refusal"),
        ("invalid_request_error", None),
        ("400", None),
    ],
)
def test_a_code_says_it_before_any_words(code: str, finish: str | None) -> None:
    assert turned_down("in whatever words", ("invalid_request_error", code)) == finish


@pytest.mark.parametrize(
    "said",
    [
        "The response was filtered due to the prompt triggering Azure OpenAI's content management "
        "policy. Please modify your prompt and retry.",
        "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
        "Some provider requires moderation on some/model. Your input was flagged for harassment.",
    ],
)
def test_a_filtered_prompt_is_a_refusal(said: str) -> None:
    assert turned_down(said) == "refusal"


@pytest.mark.parametrize(
    "said",
    [
        "/models/some-text-model is not a multimodal model",
        "At most 0 image(s) may be provided in one prompt.",
        "Invalid content type. image_url is only supported by certain models.",
        "image input is not supported - hint: if this is unexpected, you may need to provide the "
        "mmproj",
        "No endpoints found that support image input",
        "Model does not support images. Please use a model that does.",
        "Failed to load image: cannot identify image file <_io.BytesIO object>",
    ],
)
def test_images_that_a_model_does_not_take_are_unsupported(said: str) -> None:
    assert turned_down(said, images=True) == "unsupported"
    assert turned_down(said, images=False) is None  # there were none: it speaks of something else


@pytest.mark.parametrize(
    "said",
    [
        "",
        "Rate limit reached for gpt-4 on tokens per min (TPM): Limit 10000, Used 9000, Requested "
        "2000. Please try again in 6s.",
        "Request too large for gpt-4 on tokens per min (TPM): Limit 10000, Requested 20000.",
        "You exceeded your current quota, please check your plan and billing details.",
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
        "The model `gpt-9` does not exist or you do not have access to it.",
        "Unsupported value: 'temperature' does not support 0 with this model.",
        "loading the model",
        "The request queue limit has been exceeded.",
        "Failed to fetch the image: connection refused",
    ],
)
@pytest.mark.parametrize("images", [False, True])
def test_other_trouble_is_none_of_these(said: str, images: bool) -> None:
    assert turned_down(said, images=images) is None
