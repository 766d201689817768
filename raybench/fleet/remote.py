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
_LONGEST_WAIT_S = 30.0


def problems(where: str, options: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with an endpoint's options."""
    known = {"base_url", "api_key_env", "concurrency", "extra_body"}
    for name in set(options) - known:
        yield f"{where}: unknown option '{name}' of an openai engine; there is {sorted(known)}"
    url = str(options.get("base_url", ""))
    if not url.startswith(("http://", "https://")):
        yield (
            f"{where}: options.base_url is '{url}': give the endpoint's address, for example "
            "http://127.0.0.1:8000/v1"
        )
    variable = options.get("api_key_env")
    if variable and variable not in os.environ:
        yield f"{where}: the environment has no {variable}, which options.api_key_env names: set it"


class RemoteEngine:
    """One endpoint; serves every model of the roster that names it."""

    def __init__(self, options: Mapping[str, Any], fleet: FleetConf) -> None:
        key = os.environ.get(options.get("api_key_env") or DEFAULT_KEY_VARIABLE)
        self._extra: Mapping[str, Any] = options.get("extra_body") or {}
        self._fleet = fleet
        self._gate = asyncio.Semaphore(int(options.get("concurrency", 32)))
        self._client = httpx.AsyncClient(
            base_url=str(options["base_url"]).rstrip("/") + "/",
            headers={"Authorization": f"Bearer {key}"} if key else {},
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
            if response.status_code in _RETRIED:
                reason = f"HTTP {response.status_code}"
                continue
            return _completion(response, time.monotonic() - begun)
        return Completion.failed(reason, seconds=time.monotonic() - begun)


def _back_off(attempt: int) -> float:
    # Jittered, so that the requests of one batch do not come back in step.
    return min(_LONGEST_WAIT_S, 2.0 ** (attempt - 1)) * random.uniform(0.5, 1.0)


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
    if response.is_error:
        return Completion.failed(
            f"HTTP {response.status_code}: {response.text[:500]}", seconds=seconds
        )
    try:
        body = response.json()
        choice = body["choices"][0]
        message = choice["message"]
        usage = body.get("usage") or {}
        return Completion(
            text=message.get("content") or "",
            finish="length" if choice.get("finish_reason") == "length" else "stop",
            reasoning=message.get("reasoning") or message.get("reasoning_content") or "",
            prompt_tokens=int(usage.get("prompt_tokens") or 0),
            output_tokens=int(usage.get("completion_tokens") or 0),
            seconds=seconds,
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        return Completion.failed(
            f"the endpoint's reply is not a chat completion ({type(error).__name__}: {error})",
            seconds=seconds,
        )
