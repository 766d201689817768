"""What servers say of requests with too many tokens, by the table of their sentences."""

import re

import pytest

from raybench.fleet.chat import turned_down
from raybench.fleet.token_wordings import WORDINGS, Wording, token_refusal

NUMBERS = {
    "context": 8192,
    "prompt": 6000,
    "least": 4097,
    "asked": 4096,
    "total": 10096,
    "room": 2192,
    "cap": 2048,
    "beyond": 2049,
    "any": 17,
}
SERVERS = {
    "vLLM", "OpenAI", "SGLang", "llama.cpp", "TGI", "Cohere", "DeepInfra", "xAI", "LM Studio",
    "Gemini", "Anthropic", "Mistral", "Together",
}  # fmt: skip


def said(wording: Wording) -> str:
    """Return a sentence of a server, with its numbers."""
    text = wording.text.replace("{*}", " and 0 draft tokens ")
    return f"Error: {re.sub(r'[{](.*?)[}]', lambda it: str(NUMBERS[it[1]]), text)} (param=x)"


def named(wording: Wording) -> set[str]:
    return {*re.findall(r"\{(\w+)\}", wording.text)}


def test_the_table_has_every_server_that_is_known() -> None:
    assert {wording.server for wording in WORDINGS} >= SERVERS


@pytest.mark.parametrize("wording", WORDINGS, ids=lambda it: f"{it.server}: {it.text[:40]}")
def test_every_sentence_is_read_with_its_numbers(wording: Wording) -> None:
    names = named(wording)
    refusal = token_refusal(said(wording))
    assert refusal is not None and refusal.kind == wording.kind
    assert refusal.context == (NUMBERS["context"] if "context" in names else None)
    assert refusal.cap == (NUMBERS["cap"] if names & {"cap", "beyond"} else None)
    told = "room" in names or ("context" in names and names & {"prompt", "total"})
    assert refusal.room(NUMBERS["asked"]) == (NUMBERS["room"] if told else None)
    assert turned_down(said(wording)) == (None if wording.kind == "output" else "overflow")
    assert token_refusal(said(wording).upper().replace(" ", "\n")) == refusal


def test_a_prompt_that_is_counted_in_part_is_of_no_known_length() -> None:
    refusal = token_refusal(
        "This model's maximum context length is 4096 tokens. However, you requested 4000 output "
        "tokens and your prompt contains at least 97 input tokens, for a total of at least 4097 "
        "tokens. Please reduce the length of the input prompt or the number of requested output "
        "tokens. (parameter=input_tokens, value=97)"
    )
    assert refusal is not None
    assert (refusal.context, refusal.room(4000)) == (4096, None)


@pytest.mark.parametrize(
    ("words", "room"),
    [
        # As they came, of many servers.
        (
            "max_tokens=4096 cannot be greater than max_model_len=max_total_tokens=2048. Please "
            "request fewer output tokens. (parameter=max_tokens, value=4096)",
            None,
        ),
        (
            "This model's maximum context length is 4097 tokens, however you requested 4226 tokens "
            "(3970 in your prompt; 256 for the completion). Please reduce your prompt; or "
            "completion length.",
            127,
        ),
        (
            "This model's maximum context length is 8192 tokens. However, you requested 8213 "
            "tokens (6683 in the messages, 730 in the functions, and 800 in the completion).",
            779,
        ),
        (
            "This endpoint's maximum context length is 65536 tokens. However, you requested about "
            "65810 tokens (1430 of text input, 380 of tool input, 64000 in the output). Please "
            "reduce the length of either one.",
            63726,
        ),
        (
            "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease "
            "input length or `max_tokens` and try again",
            21041,
        ),
        (
            "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 40960 "
            "maximum context length",
            -24713,
        ),
        ("The context window of 4,096 tokens exceeds the context length of 2,048 tokens.", None),
    ],
)
def test_sentences_of_servers_leave_so_much_room(words: str, room: int | None) -> None:
    refusal = token_refusal(words)
    assert refusal is not None
    assert refusal.kind in ("sum", "prompt") and refusal.room(4096) == room


@pytest.mark.parametrize(
    "words",
    [
        "",
        "Rate limit reached for gpt-4 on tokens per min (TPM): Limit 10000, Used 9000, Requested "
        "2000. Please try again in 6s.",
        "Request too large for gpt-4 on tokens per min (TPM): Limit 10000, Requested 20000.",
        "Too many tokens, please wait before trying again.",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
        "'max_completion_tokens' instead.",
        "max_tokens must be at least 1",
        "The request queue limit has been exceeded.",
        "temperature: 3 > 2, which is the maximum allowed temperature",
    ],
)
def test_other_trouble_says_nothing_of_a_requests_tokens(words: str) -> None:
    assert token_refusal(words) is None
