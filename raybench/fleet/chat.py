"""What a chat request holds and what its reply means, whatever engine speaks."""

import re
from collections.abc import Collection, Iterable
from typing import Any

from raybench.fleet.token_wordings import token_refusal
from raybench.types import Completion, Finish, Message, Request

_THOUGHT = re.compile(r"\s*<think>(.*?)(?:</think>|\Z)", re.DOTALL)

# What servers call it, by code or by type: OpenAI, llama.cpp, Azure.
_CODES: dict[str, Finish] = {
    "context_length_exceeded": "overflow",
    "exceed_context_size_error": "overflow",
    "content_filter": "refusal",
    "content_policy_violation": "refusal",
    "responsibleaipolicyviolation": "refusal",
}
# And in words, where they have no code for it. Each is the saying of a server named beside it.
_REFUSAL = re.compile(
    r"flagged as potentially violating|content management policy"  # OpenAI, Azure
    r"|input was flagged|ContentPolicyViolationError",  # OpenRouter, LiteLLM
    re.IGNORECASE,
)
_UNSUPPORTED = re.compile(
    r"is not a multimodal model"  # vLLM
    r"|at most \d+ image|failed to load image"  # vLLM
    r"|\b(?:image|image_url|images|vision|multimodal)\b[^.]{0,40}"
    r"(?:not supported|unsupported|only supported)"  # OpenAI, llama.cpp
    r"|(?:not|n't|none|no endpoints found that) supports?\b[^.]{0,40}"
    r"\b(?:image|images|vision|multimodal)\b",  # OpenRouter, LM Studio
    re.IGNORECASE,
)

NO_IMAGES = "this model takes no images"


def shows(request: Request) -> bool:
    """Tell whether a request comes with images."""
    return any(message.images for message in request.messages)


def messages(conversation: Iterable[Message]) -> list[dict[str, Any]]:
    """Return the messages as the OpenAI protocol has them."""
    return [{"role": message.role, "content": _content(message)} for message in conversation]


def _content(message: Message) -> str | list[dict[str, Any]]:
    if not message.images:
        return message.content
    text = [{"type": "text", "text": message.content}] if message.content else []
    return [*text, *({"type": "image_url", "image_url": {"url": url}} for url in message.images)]


def answered(
    text: str,
    reason: str | None,
    *,
    reasoning: str = "",
    refusal: str = "",
    thought: bool = False,
    prompt_tokens: int = 0,
    output_tokens: int = 0,
    cached_tokens: int | None = None,
    seconds: float = 0.0,
    waited: float = 0.0,
) -> Completion:
    """Return the completion that a model's reply amounts to.

    reason is why the reply ended, in OpenAI's words; refusal what the model said instead of an
    answer; thought tells that it was thinking, for endpoints that keep the thoughts to themselves.
    """
    thought |= bool(text.strip() or reasoning.strip())
    text, more = separated(text)
    reasoning = "\n".join(part for part in (reasoning, more) if part)
    cut, blank = reason == "length", not text.strip()
    finish: Finish = "length" if cut else "stop"
    error = None
    if refusal or reason == "content_filter":
        finish, error = "refusal", refusal or "a content filter stopped the reply"
    elif cut and blank and thought:
        finish, error = "thinking", "the token limit came before the answer began"
    elif blank and not cut:
        finish, error = "empty", "it stopped without a word"
    return Completion(
        text=text,
        finish=finish,
        reasoning=reasoning,
        prompt_tokens=prompt_tokens,
        output_tokens=output_tokens,
        cached_tokens=cached_tokens,
        seconds=seconds,
        waited=waited,
        error=error,
    )


def separated(text: str) -> tuple[str, str]:
    """Return the answer and the thinking that it begins with, closed or not, where it does."""
    thoughts = []
    while match := _THOUGHT.match(text):
        thoughts.append(match[1].strip())
        text = text[match.end() :]
    return text, "\n".join(thoughts)


def turned_down(reason: str, codes: Collection[str] = (), *, images: bool = False) -> Finish | None:
    """Tell what kind of refusal a server's words are; None where they may mean anything."""
    for code in codes:
        if finish := _CODES.get(code.lower()):
            return finish
    if (refusal := token_refusal(reason)) and refusal.kind != "output":
        return "overflow"
    if _REFUSAL.search(reason):
        return "refusal"
    return "unsupported" if images and _UNSUPPORTED.search(reason) else None
