"""What servers say when they turn a request down for its tokens, by server.

A request asks for a reply of at most N tokens. It is turned down where the prompt alone does
not fit into the model's context, where prompt and reply together do not, or where replies are not
allowed to be so long. The first cannot be helped; for the others a lower limit may do.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

Kind = Literal["prompt", "sum", "output"]
"""What is too long: the prompt alone, the prompt and the reply together, or the reply alone."""


@dataclass(frozen=True, slots=True)
class Wording:
    """One sentence of a server. Names in braces stand for numbers, `{*}` for other words.

    context: tokens that the model takes. prompt: those of the prompt. least: those that the prompt
    has at least. total: those of prompt and reply. asked: the limit that was asked for. room: what
    the prompt leaves of the context. cap: the highest limit. beyond: the lowest one that is too
    high. Others are not used.
    """

    server: str
    kind: Kind
    text: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return what the sentence looks like."""
        return _compiled(self.text)


@dataclass(frozen=True, slots=True)
class TokenRefusal:
    """What a server said of a request that has too many tokens; None where it did not."""

    kind: Kind
    context: int | None = None
    cap: int | None = None
    numbers: Mapping[str, int] = field(default_factory=dict)

    def room(self, asked: int) -> int | None:
        """Return how many tokens the prompt leaves for a reply, where the server says that.

        It may be none, or less. `asked` is the limit that the request had.
        """
        if (room := self.numbers.get("room")) is not None:
            return room
        prompt = self.numbers.get("prompt")
        if (total := self.numbers.get("total")) is not None:
            prompt = total - self.numbers.get("asked", asked)  # with tools and the like
        return None if prompt is None or self.context is None else self.context - prompt


_CONTEXT = "maximum context length is {context} tokens"

WORDINGS = (
    # vLLM 0.29, vllm/renderers/params.py and vllm/v1/engine/input_processor.py. The prompt is
    # tokenized only as far as it may go: "at least" is one more than that.
    Wording(
        "vLLM",
        "sum",
        f"{_CONTEXT}. However, you requested {{asked}} output tokens and your prompt contains at "
        "least {least} input tokens, for a total of at least {any} tokens.",
    ),
    Wording(
        "vLLM",
        "sum",
        f"{_CONTEXT}. However, you requested {{asked}} output tokens and your prompt contains "
        "{prompt} input tokens, for a total of {total} tokens.",
    ),
    Wording(
        "vLLM",
        "sum",
        f"{_CONTEXT}. However, you requested {{asked}} output tokens and your prompt contains "
        "{any} characters (more than {any} characters",
    ),
    Wording(
        "vLLM",
        "sum",
        "tokens={asked} cannot be greater than max_model_len=max_total_tokens={context}.",
    ),
    Wording(
        "vLLM",
        "prompt",
        "Input length ({prompt}) exceeds model's maximum context length ({context}).",
    ),
    Wording(
        "vLLM",
        "prompt",
        "prompt (length {prompt}) is longer than the maximum model length of {context}.",
    ),
    Wording(
        "vLLM",
        "prompt",
        "prompt (length {prompt}) plus the number of requested output tokens (at least 1) is "
        "longer than the maximum model length of {context}.",
    ),
    Wording(
        "vLLM",
        "prompt",
        "The engine prompt length {prompt} exceeds the max_model_len {context}.",
    ),
    # vLLM 0.8 to 0.12.
    Wording(
        "vLLM",
        "sum",
        "'max_tokens' or 'max_completion_tokens' is too large: {asked}. This model's "
        f"{_CONTEXT} and your request has {{prompt}} input tokens",
    ),
    Wording("vLLM", "prompt", f"{_CONTEXT}. However, your request has {{prompt}} input tokens."),
    # OpenAI; so do vLLM before 0.8, DeepSeek, DeepInfra and others.
    Wording(
        "OpenAI",
        "sum",
        f"{_CONTEXT}. However, you requested {{total}} tokens ({{prompt}} in the messages, "
        "{asked} in the completion).",
    ),
    Wording(
        "OpenAI",
        "sum",
        f"{_CONTEXT}. However, you requested {{total}} tokens ({{any}} in the messages, {{any}} in "
        "the functions, and {asked} in the completion).",
    ),
    Wording(
        "OpenAI",  # and llama-cpp-python
        "sum",
        f"{_CONTEXT}, however you requested {{total}} tokens ({{prompt}} in your prompt; {{asked}} "
        "for the completion).",
    ),
    Wording(
        "OpenAI", "prompt", f"{_CONTEXT}. However, your messages resulted in {{prompt}} tokens."
    ),
    Wording("OpenAI", "prompt", "input exceeds the context window of this model."),
    Wording(
        "OpenAI",
        "output",
        "is too large: {asked}. This model supports at most {cap} completion tokens",
    ),
    # SGLang, python/sglang/srt/managers/tokenizer_manager.py; Together has the second.
    Wording(
        "SGLang",
        "sum",
        "Requested token count exceeds the model's maximum context length of {context} tokens. You "
        "requested a total of {total} tokens: {prompt} tokens from the input messages and {asked} "
        "tokens for the completion.",
    ),
    Wording(
        "SGLang",
        "prompt",
        "The input ({prompt} tokens) is longer than the model's context length ({context} tokens).",
    ),
    # llama.cpp, tools/server. It cuts a reply at the context's end; the last one is said where
    # several requests share one context.
    Wording(
        "llama.cpp",
        "prompt",
        "request ({prompt} tokens) exceeds the available context size ({context} tokens)",
    ),
    Wording("llama.cpp", "prompt", "the request exceeds the available context size"),
    Wording("llama.cpp", "sum", "Context size has been exceeded"),
    Wording(
        "llama-cpp-python",
        "prompt",
        "Requested tokens ({prompt}) exceed context window of {context}",
    ),
    # TGI, router/src/validation.rs; Together as well.
    Wording(
        "TGI",
        "sum",
        "`inputs` tokens + `max_new_tokens` must be <= {context}. Given: {prompt} `inputs` tokens "
        "and {asked} `max_new_tokens`",
    ),
    Wording("TGI", "sum", "`max_new_tokens` must be <= {room}. Given: {asked}"),
    Wording("TGI", "prompt", "`inputs` must have less than {context} tokens. Given: {prompt}"),
    # docs.cohere.com/reference/errors
    Wording(
        "Cohere",
        "output",
        "too many tokens: max tokens must be less than or equal to {cap}, the maximum output for "
        "this model - received {asked}.",
    ),
    Wording(
        "Cohere",
        "sum",
        "too many tokens: total number of tokens (prompt and prediction) cannot exceed {context} - "
        "received {total}.",
    ),
    Wording(
        "Cohere",
        "prompt",
        "too many tokens: total number of tokens in the prompt cannot exceed {context} - received "
        "{prompt}.",
    ),
    Wording("Cohere", "prompt", "too many tokens: size limit exceeded by {any} tokens."),
    Wording(
        "DeepInfra",
        "prompt",
        "Requested input length {prompt} exceeds maximum input length {context}",
    ),
    Wording(
        "xAI",
        "prompt",
        "This model's maximum prompt length is {context} but the request contains {prompt} tokens.",
    ),
    Wording(
        "LM Studio",
        "prompt",
        "Trying to keep the first {prompt} tokens when context the overflows. However, the model "
        "is loaded with context length of only {context} tokens",
    ),
    Wording(
        "LM Studio",
        "prompt",
        "tokens to keep from the initial prompt is greater than the context length",
    ),
    Wording(
        "Gemini",
        "prompt",
        "input token count ({prompt}) exceeds the maximum number of tokens allowed ({context}).",
    ),
    Wording("Gemini", "prompt", "input token count exceeds the maximum number of tokens allowed"),
    Wording(
        "Gemini",
        "output",
        "maxOutputTokens value of {asked} but the supported range is from 1 (inclusive) to "
        "{beyond} (exclusive).",
    ),
    # Anthropic-compatible; Bedrock has the third.
    Wording("Anthropic", "prompt", "prompt is too long: {prompt} tokens > {context} maximum"),
    Wording(
        "Anthropic",
        "sum",
        "input length and `max_tokens` exceed context limit: {prompt} + {asked} > {context}",
    ),
    Wording("Anthropic", "prompt", "Input is too long for requested model"),
    Wording(
        "Anthropic",
        "output",
        "max_tokens: {asked} > {cap}, which is the maximum allowed number of output tokens",
    ),
    Wording(
        "Mistral",
        "prompt",
        "Prompt contains {prompt} tokens{*}, too large for model with {context} maximum context "
        "length",
    ),
    Wording(
        "Together",
        "sum",
        "The input token count ({prompt}) plus the requested output count ({asked}) exceeds the "
        "model's maximum context length ({context})",
    ),
    Wording(
        "Fireworks",
        "prompt",
        "The prompt is too long: {prompt}, model maximum context length: {context}",
    ),
    Wording(
        "OpenRouter",
        "sum",
        "endpoint's maximum context length is {context} tokens. However, you requested about "
        "{total} tokens ({*}{asked} in the output).",
    ),
    Wording(
        "Groq",
        "output",
        "tokens` must be less than or equal to `{cap}`, the maximum value for",
    ),
    Wording("Groq", "sum", "Please reduce the length of the messages or completion."),
    Wording("DeepSeek", "output", "the valid range of max_tokens is [1, {cap}]"),
    Wording("DashScope", "output", "Range of max_tokens should be [1, {cap}]"),
    Wording("DashScope", "prompt", "Range of input length should be [1, {context}]"),
    Wording(
        "Volcengine",
        "output",
        "tokens`{*}integer above maximum value, expected a value <= {cap}, but got {asked}",
    ),
    Wording("Kimi", "sum", "exceeded model token limit: {context} (requested: {total})"),
    Wording("MiniMax", "sum", "context window exceeds limit"),
    Wording("Ollama", "prompt", "prompt too long; exceeded max context length by {any} tokens"),
    Wording("Ollama", "prompt", "the input length exceeds the context length"),
    Wording("LiteLLM", "sum", "ContextWindowExceededError"),
)
"""The first that fits counts: what says more stands before what says less."""

# The same in the words of servers that are not listed. None may also fit a rate limit, which
# speaks of tokens too.
_OTHERS = re.compile(
    r"maximum context length"
    r"|(?:longer than|exceed(?:s|ed)?) the (?:model['’]?s |this |maximum |available |model )*"
    r"(?:context|model) (?:length|size|window|limit)"
    r"|context (?:size|length|window|limit) has been exceeded"
    r"|exceeds? (?:the |this model's )?context (?:length|size|window|limit)"
    r"|(?:prompt|input) is too long"
    r"|`inputs` tokens \+ `max_new_tokens` must be"
    r"|cannot be greater than max_model_len",
    re.IGNORECASE,
)
_OTHER_CONTEXT = re.compile(
    r"context (?:length|size|window|limit)\D{0,20}?(\d[\d,]*)(?= tokens|\)|\.|,|$)", re.IGNORECASE
)
_PLACE = re.compile(r"\{(\w+|\*)\}")


def token_refusal(words: str) -> TokenRefusal | None:
    """Return what a server's words say of a request's tokens; None where they say nothing."""
    for wording in WORDINGS:
        if match := wording.pattern.search(words):
            numbers = dict(_numbers(match))
            cap = numbers.get("cap")
            if cap is None and "beyond" in numbers:
                cap = numbers["beyond"] - 1
            return TokenRefusal(wording.kind, numbers.get("context"), cap, numbers)
    if _OTHERS.search(words):
        found = _OTHER_CONTEXT.search(words)
        return TokenRefusal("sum", _number(found[1]) if found else None)
    return None


def _numbers(match: re.Match[str]) -> Iterator[tuple[str, int]]:
    for name, text in match.groupdict().items():
        yield name, _number(text)


def _number(text: str) -> int:
    # Nobody's context has more digits, and Python reads no number of thousands.
    return int(text.replace(",", "")[:15])


@cache
def _compiled(text: str) -> re.Pattern[str]:
    text = text.rstrip(".")
    pieces: list[str] = []
    end, seen = 0, set[str]()
    for place in _PLACE.finditer(text):
        pieces.append(_literal(text[end : place.start()]))
        end, name = place.end(), place[1]
        if name == "*":
            pieces.append(".{0,200}?")
        elif name == "any" or name in seen:
            pieces.append(r"\d[\d,]*")
        else:
            seen.add(name)
            pieces.append(rf"(?P<{name}>\d[\d,]*)")
    pieces.append(_literal(text[end:]))
    return re.compile("".join(pieces), re.IGNORECASE | re.DOTALL)


def _literal(text: str) -> str:
    """Return the pattern of a text, in which spaces may be lines' ends or missing."""
    return r"\s*".join(re.escape(word) for word in re.split(r"\s+", text))
