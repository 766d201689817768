"""OpenAI-compatible endpoints, through httpx. Keys come from the environment and stay there."""

import asyncio
import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx

from raybench.config import FleetConf
from raybench.types import Completion, ModelSpec, Request

DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"
_RETRIED = {408, 409, 425, 429, 500, 502, 503, 504}
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0
_LONGEST_REASON = 500


def problems(where: str, options: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with an endpoint's options."""
    known = {"base_url", "api_key_env", "concurrency", "extra_body"}
    for name in set(options) - known:
        yield f"{where}: unknown option '{name}' of an openai engine; there is {sorted(known)}"
    url = str(options.get("base_url") or "")
    if not _is_address(url):
        yield (
            f"{where}: options.base_url is '{url}': give the endpoint's address, for example "
            "http://127.0.0.1:8000/v1"
        )
    elif httpx.URL(url).path.rstrip("/").endswith("/chat/completions"):
        yield f"{where}: options.base_url is '{url}': leave /chat/completions off, we add it"
    concurrency = options.get("concurrency", 1)
    if not isinstance(concurrency, int) or concurrency < 1:
        yield (
            f"{where}: options.concurrency is {concurrency!r}: it is how many requests the "
            "endpoint gets at once, 1 or more"
        )
    extra = options.get("extra_body")
    if extra is not None and not isinstance(extra, Mapping):
        yield f"{where}: options.extra_body is {extra!r}: give fields to add to every request"
    variable = options.get("api_key_env")
    if variable and not os.environ.get(variable):
        yield f"{where}: the environment has no {variable}, which options.api_key_env names: set it"
    key = _key(options)
    if not (key.isascii() and key.isprintable()):
        yield (
            f"{where}: {variable or DEFAULT_KEY_VARIABLE} in the environment holds characters "
            "that no HTTP header can carry: set it anew"
        )


def _is_address(url: str) -> bool:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        return False
    return parsed.scheme in ("http", "https") and bool(parsed.host) and (parsed.port or 1) < 2**16


def _key(options: Mapping[str, Any]) -> str:
    """Return the endpoint's key, or '' where there is none."""
    # Keys that were read from a file often bring its line end along.
    return os.environ.get(options.get("api_key_env") or DEFAULT_KEY_VARIABLE, "").strip()


class RemoteEngine:
    """One endpoint; serves every model of the roster that names it."""

    def __init__(self, options: Mapping[str, Any], fleet: FleetConf) -> None:
        self._key = _key(options)
        self._extra: Mapping[str, Any] = options.get("extra_body") or {}
        self._fleet = fleet
        self._gate = asyncio.Semaphore(int(options.get("concurrency", 32)))
        self._client = httpx.AsyncClient(
            base_url=str(options["base_url"]).rstrip("/") + "/",
            headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
            timeout=fleet.reply_deadline_s,
            limits=httpx.Limits(max_connections=None),
        )

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        """Send the requests side by side, each with its own retries."""
        return list(await asyncio.gather(*(self._one(model, request) for request in requests)))

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _one(self, model: ModelSpec, request: Request) -> Completion:
        body = _body(model, request) | dict(self._extra)
        begun = time.monotonic()
        reason = "no attempt was made"
        for attempt in range(self._fleet.attempts):
            if attempt:
                await asyncio.sleep(_back_off(attempt))
            try:
                async with self._gate:
                    async with asyncio.timeout(self._fleet.reply_deadline_s):
                        response = await self._client.post("chat/completions", json=body)
            except TimeoutError:
                reason = f"no reply within {self._fleet.reply_deadline_s:g} s"
                continue
            except httpx.HTTPError as error:
                reason = f"{type(error).__name__}: {error}"
                continue
            if response.is_success:
                return _completion(response, time.monotonic() - begun)
            reason = f"HTTP {response.status_code} {response.text}".strip()
            if response.status_code not in _RETRIED:
                break
        if self._key:  # some endpoints repeat it when they refuse it
            reason = reason.replace(self._key, "(key)")
        return Completion.failed(reason[:_LONGEST_REASON], seconds=time.monotonic() - begun)


def _back_off(attempt: int) -> float:
    # Jittered, so that the requests of one batch do not come back in step.
    return min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2.0 ** (attempt - 1)) * random.uniform(0.5, 1.0)


def _body(model: ModelSpec, request: Request) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": model.weights,
        "messages": [
            {"role": message.role, "content": message.content} for message in request.messages
        ],
        "temperature": request.temperature,
        "top_p": request.top_p,
        "max_tokens": request.max_tokens,
        "seed": request.seed,
    }
    if request.json_schema is not None:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": dict(request.json_schema)},
        }
    # A regex has no place in the OpenAI protocol: the reply comes unconstrained and is parsed.
    return {name: value for name, value in body.items() if value is not None}


def _completion(response: httpx.Response, seconds: float) -> Completion:
    try:
        body = response.json()
        choice = body["choices"][0]
        message = choice["message"]
        usage = body.get("usage") or {}
        return Completion(
            text=_text(message.get("content")),
            finish="length" if choice.get("finish_reason") == "length" else "stop",
            reasoning=_text(message.get("reasoning") or message.get("reasoning_content")),
            prompt_tokens=int(usage.get("prompt_tokens") or 0),
            output_tokens=int(usage.get("completion_tokens") or 0),
            seconds=seconds,
        )
    except Exception as error:  # whatever the endpoint sent is data here
        return Completion.failed(
            f"the endpoint's reply is not a chat completion ({type(error).__name__}: {error})",
            seconds=seconds,
        )


def _text(content: Any) -> str:
    """Return what the endpoint calls a text as one that can be written down."""
    if not isinstance(content, str | None):
        raise TypeError("its content is no text")
    # JSON can escape half a character, which no file can hold.
    return (content or "").encode(errors="replace").decode()
