"""What an endpoint has replied: a completion, or why there is none."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from raybench.fleet.chat import answered, turned_down
from raybench.types import Completion, Finish

BROKEN_OFF = "the endpoint broke the reply off"
NO_COMPLETION = "the endpoint's reply is not a chat completion"
MISSING_KEY, TOO_MANY = 401, 429
RETRIED = {408, 409, 425, TOO_MANY, 500, 502, 503, 504}
# Here an endpoint speaks of itself and not of the request. (With 500 some do of both.)
_NOT_THE_REQUEST = (RETRIED | {MISSING_KEY}) - {500}


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a try brought no completion, how many such tries make sense, how long to wait."""

    reason: str
    tries: int = sys.maxsize
    wait: float = 0.0
    finish: Finish = "error"
    status: int | None = None
    """HTTP's, where a server replied."""


def read(response: httpx.Response) -> Completion | Failure:
    """Return the completion that a response holds, or why it holds none."""
    try:
        body = response.json()
        choice = body["choices"][0]
        said = choice["message"]
        usage = body.get("usage") or {}
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
        details = usage.get("completion_tokens_details") or {}
        if choice.get("finish_reason") in ("abort", "error"):
            return Failure(BROKEN_OFF)
        return answered(
            _text(said.get("content")),
            choice.get("finish_reason"),
            reasoning=_text(said.get("reasoning") or said.get("reasoning_content")),
            refusal=_text(said.get("refusal")),
            thought=bool(details.get("reasoning_tokens")),
            prompt_tokens=int(usage.get("prompt_tokens") or 0),
            output_tokens=int(usage.get("completion_tokens") or 0),
            cached_tokens=None if cached is None else int(cached),
        )
    except Exception as error:  # whatever the endpoint sent is data here
        return Failure(f"{NO_COMPLETION} ({type(error).__name__}: {error})")


def declined(response: httpx.Response, body: Mapping[str, Any]) -> Finish | None:
    """Tell why the endpoint cannot or will not answer what it was asked; None for other trouble."""
    if response.status_code in _NOT_THE_REQUEST:
        return None
    told = told_by(response)
    images = any(isinstance(it.get("content"), list) for it in body["messages"])
    return turned_down(message(told), tuple(_codes(told)), images=images)


def told_by(response: httpx.Response) -> Any:
    """Return what a response says, as JSON where it is that."""
    try:
        return response.json()
    except Exception:  # whatever the endpoint sent is data here
        return response.text


def message(told: Any) -> str:
    """Return an error's own words: what surrounds them may repeat the prompt."""
    while isinstance(told, Mapping):
        told = told.get("error") or told.get("message") or told.get("detail")
    return told if isinstance(told, str) else ""


def _codes(told: Any) -> Iterator[str]:
    waiting = [told]
    while waiting:
        if isinstance(part := waiting.pop(), Mapping):
            waiting += part.values()
            yield from (part[name] for name in ("code", "type") if isinstance(part.get(name), str))


def _text(content: Any) -> str:
    """Return what the endpoint calls a text as one that can be written down."""
    if not isinstance(content, str | None):
        raise TypeError("its content is no text")
    # JSON can escape half a character, which no file can hold.
    return (content or "").encode(errors="replace").decode()
