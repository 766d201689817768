"""What an endpoint has replied: a completion, or why there is none."""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from raybench.fleet.chat import answered, turned_down
from raybench.fleet.token_wordings import TokenRefusal, token_refusal
from raybench.types import Completion, Finish, Retries

if TYPE_CHECKING:
    import httpx

BROKEN_OFF = "the endpoint broke the reply off"
NO_COMPLETION = "the endpoint's reply is not a chat completion"
NO_REPLY_WITHIN = "no reply within"
"""So begins why a request that took too long has failed."""
MISSING_KEY, TOO_MANY = 401, 429
# The last four are Cloudflare's for a server that does not answer, and Anthropic's: overloaded.
RETRIED = {408, 409, 425, TOO_MANY, 500, 502, 503, 504, 520, 522, 524, 529}
# Here an endpoint speaks of itself and not of the request. (With 500 some do of both.)
_NOT_THE_REQUEST = (RETRIED | {MISSING_KEY}) - {500}
_MOST_TOKENS = 10**9
"""No request has more: a larger count is a mistake."""
_LONGEST_NUMBER = 19
"""Digits of the longest whole number that is read as one."""
_LONGEST_TEXT = 10_000
_LONGEST_ALSO, _MOST_ALSO = 100, 2


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a try brought no completion, how many such tries make sense, how long to wait."""

    reason: str
    tries: int = sys.maxsize
    wait: float = 0.0
    finish: Finish = "error"
    status: int | None = None
    """HTTP's, where a server replied."""
    lower: bool = False
    """Fewer tokens may do: the server said so, or turned the request down for no known reason."""
    tokens: TokenRefusal | None = None
    """What the server said of them."""
    unconnected: bool = False
    """No connection could be made."""


def read(told: Any) -> Completion | Failure:
    """Return the completion that a reply holds, or why it holds none."""
    if isinstance(told, str):
        # Cut later, once no key is in it: half a key would not be found.
        return Failure(f"{NO_COMPLETION}: it is not JSON but {told[:_LONGEST_TEXT]!r}")
    try:
        choice = told["choices"][0]
        if choice.get("finish_reason") in ("abort", "error"):
            why = message(choice.get("error"))
            return Failure(f"{BROKEN_OFF}: {why}" if why else BROKEN_OFF)
        said = choice["message"]
        text, thoughts, refusal = _parts(said.get("content"))
        usage = _mapping(told.get("usage"))
        return answered(
            text,
            choice.get("finish_reason"),
            reasoning=_text(said.get("reasoning") or said.get("reasoning_content")) or thoughts,
            refusal=_text(said.get("refusal")) or refusal,
            thought=bool(_count(usage, "completion_tokens_details", "reasoning_tokens")),
            prompt_tokens=_count(usage, "prompt_tokens") or 0,
            output_tokens=_count(usage, "completion_tokens") or 0,
            cached_tokens=_count(usage, "prompt_tokens_details", "cached_tokens"),
        )
    except Exception as error:  # whatever the endpoint sent is data here
        return Failure(f"{NO_COMPLETION} ({type(error).__name__}: {error})")


def absorbed(failures: Sequence[Failure]) -> Retries:
    """Return how many tries an endpoint turned away, of a request that it answered then."""
    limited = [it for it in failures if it.status == TOO_MANY]
    return Retries(
        rate_limited=len(limited),
        server_errors=sum((it.status or 0) >= 500 for it in failures),
        pauses=sum(it.wait > 0 for it in limited),
    )


def reason_of(failures: Sequence[Failure]) -> str:
    """Return why a request failed: the reason that tells most, and which others there were.

    A refusal of the request tells more than an error of the server, and a timeout tells least.
    """
    kinds: dict[str, list[Failure]] = {}
    for failure in failures:
        kinds.setdefault(_kind(failure), []).append(failure)
    first, *others = sorted(kinds.values(), key=lambda of: _weight(of[-1]), reverse=True)
    notes = [f"tried {len(failures)} times"] if len(failures) > 1 else []
    for other in others[:_MOST_ALSO]:
        notes.append(f"{len(other)} of them: {other[-1].reason[:_LONGEST_ALSO]}")
    reason = first[-1].reason
    return f"{reason} ({'; '.join(notes)})" if notes else reason


def _kind(failure: Failure) -> str:
    if failure.status is not None:
        return str(failure.status)
    late = failure.reason.startswith(NO_REPLY_WITHIN)
    return NO_REPLY_WITHIN if late else failure.reason.partition(":")[0]


def _weight(failure: Failure) -> int:
    if failure.status is None:
        return 0 if _kind(failure) == NO_REPLY_WITHIN else 1
    return 2 if failure.status in RETRIED else 3


def declined(status: int, told: Any, body: Mapping[str, Any]) -> Finish | None:
    """Tell why the endpoint cannot or will not answer what it was asked; None for other trouble."""
    if status in _NOT_THE_REQUEST:
        return None
    images = any(isinstance(it.get("content"), list) for it in body["messages"])
    return turned_down(message(told), tuple(_codes(told)), images=images)


def too_many_tokens(status: int, words: str, finish: Finish | None) -> TokenRefusal | None:
    """Return what an error says of the tokens of its request; None where it says nothing.

    `finish` is what it was found to be. One that has a code for it and no words that are understood
    may mean prompt and reply together.
    """
    if status in _NOT_THE_REQUEST:
        return None
    return token_refusal(words) or (TokenRefusal("sum") if finish == "overflow" else None)


def told_by(response: "httpx.Response") -> Any:
    """Return what a response says, as JSON where it is that."""
    try:
        return json.loads(response.content, parse_int=_number)
    except Exception:  # whatever the endpoint sent is data here
        return response.text


def _number(digits: str) -> int | float:
    # Python refuses to read whole numbers of thousands of digits.
    return int(digits) if len(digits) <= _LONGEST_NUMBER else float(digits)


def status_of(response: "httpx.Response", told: Any) -> int:
    """Return the status of an error, which some gateways send as a success."""
    if response.is_success and isinstance(error := _error(told).get("error"), Mapping):
        code = error.get("code")
        if isinstance(code, int) and 400 <= code < 600:
            return code
    return response.status_code


def may_pass(reason: str) -> bool:
    """Tell whether what kept a reply away may pass, though somebody is there: too many requests."""
    status = re.match(r"HTTP (\d+)", reason)
    return int(status[1]) in RETRIED if status else reason.startswith(NO_REPLY_WITHIN)


def is_error(told: Any) -> bool:
    """Tell whether a reply is an error, whatever its status."""
    error = _error(told)
    return bool(error.get("error")) and not error.get("choices")


def _error(told: Any) -> Mapping[str, Any]:
    """Return the object that a reply is, or that the list holds which it is (Gemini)."""
    found = told if not isinstance(told, list) else next(iter(told), None)
    return found if isinstance(found, Mapping) else {}


def message(told: Any) -> str:
    """Return an error's own words: what surrounds them may repeat the prompt."""
    words = _words(told)
    # A gateway (OpenRouter) repeats there what the provider behind it said.
    raw = _mapping(_mapping(_error(told).get("error")).get("metadata")).get("raw")
    if isinstance(raw, str):
        try:
            raw = json.loads(raw, parse_int=_number)
        except (ValueError, RecursionError):
            return f"{words}: {raw}"
    behind = _words(raw)
    return f"{words}: {behind}" if behind else words


def _words(told: Any) -> str:
    while isinstance(told, Mapping | list):
        if isinstance(told, list):
            told = next((it for it in told if isinstance(it, Mapping)), None)
        else:
            told = told.get("error") or told.get("message") or told.get("detail") or told.get("msg")
    return told if isinstance(told, str) else ""


def _codes(told: Any) -> Iterator[str]:
    waiting: list[Any] = [_error(told)]
    while waiting:
        if isinstance(part := waiting.pop(), Mapping):
            waiting += part.values()
            yield from (part[name] for name in ("code", "type") if isinstance(part.get(name), str))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(usage: Mapping[str, Any], *path: str) -> int | None:
    """Return a number of tokens; None where none is given, or one that cannot be.

    A number may come as text, as 64-bit numbers do in the JSON of protocol buffers.
    """
    *outer, name = path
    for part in outer:
        usage = _mapping(usage.get(part))
    given = usage.get(name)
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        return None
    try:
        number = float(given)
    except (ValueError, OverflowError):
        return None
    return int(number) if 0 <= number <= _MOST_TOKENS else None  # NaN is neither


def _parts(content: Any) -> tuple[str, str, str]:
    """Return the text, the thoughts and the refusal that a message's content holds."""
    if not isinstance(content, list):
        return _text(content), "", ""
    texts, thoughts, refusals = [], [], []
    for part in content:
        match part:
            case {"type": "text" | "output_text", "text": text}:
                texts.append(_text(text))
            case {"type": "thinking", "thinking": thought}:  # Mistral: a text or parts
                thoughts.append(_parts(thought)[0])
            case {"type": "reasoning", "text": thought}:
                thoughts.append(_text(thought))
            case {"type": "refusal", "refusal": refusal}:
                refusals.append(_text(refusal))
            case _:
                kind = part.get("type") if isinstance(part, Mapping) else type(part).__name__
                raise TypeError(f"a part of its content is no text but {kind!r}")
    return "".join(texts), "\n".join(thoughts), "\n".join(refusals)


def _text(content: Any) -> str:
    """Return what the endpoint calls a text as one that can be written down."""
    if not isinstance(content, str | None):
        raise TypeError("its content is no text")
    # JSON can escape half a character, which no file can hold.
    return (content or "").encode(errors="replace").decode()
