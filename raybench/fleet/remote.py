"""OpenAI-compatible endpoints, through httpx. Keys come from the environment and stay there."""

import asyncio
import json
import logging
import math
import os
import re
import secrets
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

import httpx

from raybench.config import FleetConf
from raybench.fleet.chat import answered, messages, turned_down
from raybench.fleet.concessions import Body, Concession, Concessions, mend, wanted
from raybench.fleet.connections import Connections
from raybench.fleet.control_tokens import harmless
from raybench.fleet.patience import Pace, back_off, retry_after
from raybench.fleet.presence import Presence
from raybench.fleet.stopwatch import Stopwatch
from raybench.fleet.streams import Placed, as_finished
from raybench.types import Completion, Finish, Message, ModelSpec, Request

_OPENAI, _OPENAI_KEY = "api.openai.com", "OPENAI_API_KEY"
_MISSING_KEY, _TOO_MANY = 401, 429
_RETRIED = {408, 409, 425, _TOO_MANY, 500, 502, 503, 504}
# Here an endpoint speaks of itself and not of the request. (With 500 some do of both.)
_NOT_THE_REQUEST = (_RETRIED | {_MISSING_KEY}) - {500}
_CONNECT_S = 20.0
_MOST_BYTES = 2**24
"""Of a reply: no model's, with all that is said of it, is so long."""
_AS_SENT = ("content-encoding", "content-length", "transfer-encoding")
"""Headers of a reply on its way, which say nothing of it once it is here."""
_LONGEST_REASON, _LONGEST_REMARK = 500, 100
# So a word is turned down by whom it was for, or because there is much to do. Any other refusal may
# as well come from a gateway with nobody behind it.
_AT_WORK = {400, 413, 422, _TOO_MANY}
_WORD_TOKENS = 16
_LIMITS = {"max_tokens", "max_completion_tokens"}
_SHORTEST_SECRET = 12  # what is shorter ('EMPTY', 'none') is a filler, and a word that replies use


def problems(where: str, options: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with an endpoint's options."""
    known = {"base_url", "api_key_env", "concurrency", "requests_per_minute", "extra_body"}
    for name in set(options) - known:
        yield f"{where}: unknown option '{name}' of an openai engine; there is {sorted(known)}"
    url = str(options.get("base_url") or "")
    key = _key(options)
    if _is_secret(key) and key in json.dumps(options, default=str, ensure_ascii=False):
        yield (
            f"{where}: its options hold the key itself, which would be copied into config.yaml: "
            f"take it out, {options.get('api_key_env') or _OPENAI_KEY} in the environment is enough"
        )
    elif re.search("[@?#]", url):
        yield (
            f"{where}: options.base_url holds more than an address (it is not repeated here: that "
            "may be secret). Leave out the login before '@' and what follows '?' or '#'; a key "
            "stays in the environment, under the name that options.api_key_env gives"
        )
    elif not _is_address(url):
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
    rate = options.get("requests_per_minute")
    if rate is not None and not (isinstance(rate, int | float) and rate > 0):
        yield (
            f"{where}: options.requests_per_minute is {rate!r}: it is more than 0, or left out "
            "where the endpoint has no limit"
        )
    extra = options.get("extra_body")
    if extra is not None and not isinstance(extra, Mapping):
        yield f"{where}: options.extra_body is {extra!r}: give fields to add to every request"
    elif extra:
        for name in ("temperature", "top_p", *sorted(_LIMITS)):
            if not isinstance(extra.get(name), int | float | None):
                yield (
                    f"{where}: options.extra_body.{name} is {extra[name]!r}: it is a number, or "
                    "null to leave it out"
                )
    variable = options.get("api_key_env")
    if variable and not re.fullmatch("[A-Z_][A-Z0-9_]*", str(variable)):
        yield (
            f"{where}: options.api_key_env is not the name of a variable (it is not repeated here: "
            "it may be the key). Put the key into the environment, as in MY_KEY=…, and write "
            "api_key_env: MY_KEY"
        )
        return
    if variable and not os.environ.get(variable):
        yield f"{where}: the environment has no {variable}, which options.api_key_env names: set it"
    if not (key.isascii() and key.isprintable()):
        yield (
            f"{where}: {variable or _OPENAI_KEY} in the environment holds characters "
            "that no HTTP header can carry: set it anew"
        )


def may_pass(reason: str) -> bool:
    """Tell whether what kept a reply away may pass, though somebody is there: too many requests."""
    status = re.match(r"HTTP (\d+)", reason)
    return int(status[1]) in _RETRIED if status else reason.startswith("no reply within")


def _is_address(url: str) -> bool:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        return False
    return parsed.scheme in ("http", "https") and bool(parsed.host) and (parsed.port or 1) < 2**16


def key_variable(options: Mapping[str, Any]) -> str | None:
    """Return the variable that holds the endpoint's key; None where it takes none.

    OpenAI's own goes to OpenAI unasked; nobody else gets a key that was not named for them.
    """
    variable = options.get("api_key_env")
    address = str(options.get("base_url") or "")
    if not variable and _is_address(address) and httpx.URL(address).host == _OPENAI:
        variable = _OPENAI_KEY
    return str(variable) if variable else None


def _key(options: Mapping[str, Any]) -> str:
    """Return the endpoint's key, or '' where there is none."""
    variable = key_variable(options)
    # Keys that were read from a file often bring its line end along.
    return os.environ.get(variable, "").strip() if variable else ""


def _is_secret(key: str) -> bool:
    return len(key) >= _SHORTEST_SECRET


def _without(key: str, text: str) -> str:
    """Return a text without the key, also as JSON or a URL may have written it."""
    for form in (key, key.replace("/", "\\/"), quote(key, safe="")):
        text = text.replace(form, "(key)") if form else text
    return text


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why a try brought no completion, how many such tries make sense, how long to wait."""

    reason: str
    tries: int = sys.maxsize
    wait: float = 0.0
    finish: Finish = "error"
    status: int | None = None
    """HTTP's, where a server replied."""


class RemoteEngine:
    """One endpoint; serves every model of the roster that names it."""

    def __init__(
        self, options: Mapping[str, Any], fleet: FleetConf, say: Callable[[str], None]
    ) -> None:
        self._say = say
        self._host = httpx.URL(str(options["base_url"])).host
        self._key = _key(options)
        self._extra: Mapping[str, Any] = options.get("extra_body") or {}
        self._fleet = fleet
        self._concessions = Concessions()
        self._presence = Presence()
        # At DEBUG it writes down what endpoints send in their headers, which may be the key.
        logging.getLogger("httpcore").setLevel(logging.INFO)
        self._gate = asyncio.Semaphore(int(options.get("concurrency", 32)))
        self._pace = Pace(options.get("requests_per_minute"), fleet.endpoint_deadline_s)
        self._connections = Connections(
            str(options["base_url"]).rstrip("/") + "/",
            {"Authorization": f"Bearer {self._key}"} if self._key else {},
            httpx.Timeout(fleet.reply_deadline_s, connect=_CONNECT_S),
        )

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        """Send the requests side by side, each with its own retries."""
        return list(await asyncio.gather(*(self._one(model, request) for request in requests)))

    def stream(self, model: ModelSpec, requests: Sequence[Request]) -> AsyncGenerator[Placed]:
        """Send the requests like `complete`; yield each reply with its place when it comes."""
        return as_finished(self._one(model, request) for request in requests)

    async def close(self) -> None:
        """Close the connections."""
        await self._presence.close()
        await self._connections.close()

    async def _one(self, model: ModelSpec, request: Request) -> Completion:
        """Ask, and once more in another way where the model turns out not to take this one."""
        body = self._body(model, request)
        while True:
            asked = self._concessions.put(model, body)
            reply = await self._patiently(model, asked, request.deadline_s)
            if isinstance(reply, Completion):
                return reply
            if self._concessions.make(model, reply) and reply.remark:
                self._say(f"{self._host}: {model.name} {reply.remark}")

    def _body(self, model: ModelSpec, request: Request) -> dict[str, Any]:
        """Return what is sent: fields that are null in the options are left out."""
        body = _body(model, request) | dict(self._extra)
        return {name: value for name, value in body.items() if value is not None}

    async def _doubted(self, model: ModelSpec, late: Completion) -> Completion | _Failure:
        """Return what a request has come to that was ended in time: late, where the model answers.

        Else the endpoint hangs, which is no model's time: the try has failed.
        """
        reason = await self._presence.absent(model.weights, lambda: self._silence(model))
        if reason is None:
            return late
        return _Failure(f"no reply within {late.seconds:.3g} s, and none to a word: {reason}")

    async def _silence(self, model: ModelSpec) -> str | None:
        """Ask for a word, once; return why none came. A model that turns it down is there.

        It is waited for as long as any reply: who has a long queue, or goes on writing what nobody
        waits for any more, is busy and not gone. So a server that hangs holds up who has a deadline
        for hardly longer than who has none.
        """
        await self._pace.turn()
        body = self._body(model, _word())
        # The options may ask for more: for thoughts that take longer than anybody would wait here.
        body |= dict.fromkeys(body.keys() & _LIMITS, _WORD_TOKENS)
        give_up = time.monotonic() + self._fleet.endpoint_deadline_s
        asked = self._concessions.put(model, body)
        outcome = await self._try(model, asked, give_up, Stopwatch())
        if not isinstance(outcome, _Failure) or outcome.status in _AT_WORK:
            return None
        return outcome.reason if outcome.finish == "error" else None

    async def _patiently(
        self, model: ModelSpec, body: Body, deadline_s: float | None = None
    ) -> Completion | Concession:
        begun = time.monotonic()
        give_up, wait, attempt = math.inf, 0.0, 0
        while True:
            await asyncio.sleep(wait)
            async with self._gate:
                await self._pace.turn()
                # From here on, not from the arrival: waiting for a place is no fault of anybody.
                give_up = min(give_up, time.monotonic() + self._fleet.endpoint_deadline_s)
                if time.monotonic() > give_up:
                    break  # its place came too late: the reason of the last try stands
                attempt += 1
                watch = Stopwatch(deadline_s)
                outcome = await self._try(model, body, give_up, watch)
                if isinstance(outcome, Completion) and outcome.finish == "late":
                    outcome = await self._doubted(model, outcome)  # in the place of its request
            if isinstance(outcome, Concession):
                return outcome
            if isinstance(outcome, Completion):
                return self._safe(_timed(outcome, begun, watch.seconds))
            failure = outcome
            wait = max(back_off(attempt), failure.wait)
            reason = _without(self._key, failure.reason)[:_LONGEST_REASON]
            tries = min(failure.tries, self._fleet.endpoint_attempts)
            if attempt >= tries or time.monotonic() + wait > give_up:
                break
            self._say(f"{self._host}: {reason[:_LONGEST_REMARK]}; trying again in {wait:.0f} s")
        told = f"{reason} (tried {attempt} times)" if attempt > 1 else reason
        return _timed(Completion.failed(told, finish=failure.finish), begun, watch.seconds)

    def _safe(self, completion: Completion) -> Completion:
        """Return what the model said without the key, should a proxy have slipped it in."""
        if not _is_secret(self._key):
            return completion
        text, reasoning, error = (
            _without(self._key, said or "")
            for said in (completion.text, completion.reasoning, completion.error)
        )
        return replace(completion, text=text, reasoning=reasoning, error=error or None)

    async def _try(
        self, model: ModelSpec, body: Body, give_up: float, watch: Stopwatch
    ) -> Completion | Concession | _Failure:
        """Send a request once."""
        deadline = min(self._fleet.reply_deadline_s, give_up - time.monotonic())
        try:
            # httpx bounds the wait for every piece of a reply; this bounds the whole of it.
            async with asyncio.timeout(deadline):
                with self._connections.lent() as client:
                    async with (
                        watch,
                        client.stream(
                            "POST",
                            "chat/completions",
                            json=body,
                            extensions={"trace": watch.traced},
                        ) as coming,
                    ):
                        response = await _whole(coming)
        except TimeoutError:
            if watch.up and watch.most_s is not None:
                return Completion.late(seconds=watch.most_s)
            return _Failure(f"no reply within {deadline:.3g} s")
        except httpx.HTTPError as error:
            return _Failure(f"{type(error).__name__}: {error}")
        if response is None:
            return _Failure(f"its reply is larger than {_MOST_BYTES >> 20} MiB", tries=1)
        if response.is_success:
            return _read(response)
        told = _message(_told(response))
        # The mend comes first: what is long is cut.
        reason = f"HTTP {response.status_code}{mend(body, told)} {response.text}".strip()
        if response.status_code == _MISSING_KEY and not self._key:
            reason = f"no key was sent, name its variable with options.api_key_env: {reason}"
        status = response.status_code
        if finish := _declined(response, body):
            return _Failure(reason, tries=1, finish=finish, status=status)
        if concession := wanted(model, body, told):
            return concession
        wait = retry_after(response.headers, time.time())
        if status == _TOO_MANY:
            self._pace.pause(wait)
        return _Failure(reason, sys.maxsize if status in _RETRIED else 1, wait, status=status)


async def _whole(coming: httpx.Response) -> httpx.Response | None:
    """Return a response that was read to its end; None where that would fill the memory.

    What counts is what comes out of it: a few kilobytes may unpack to gigabytes.
    """
    pieces, size = [], 0
    async for piece in coming.aiter_bytes():
        pieces.append(piece)
        size += len(piece)
        if size > _MOST_BYTES:
            return None
    headers = [it for it in coming.headers.items() if it[0] not in _AS_SENT]
    return httpx.Response(coming.status_code, headers=headers, content=b"".join(pieces))


def _word() -> Request:
    """Return what an endpoint is asked to see whether it answers anybody.

    It is another each time: what a gateway remembers tells nothing of the model behind it.
    """
    number = secrets.randbelow(2**31)
    told = Message("user", f"Say a word. ({number})")
    return Request((told,), seed=number, max_tokens=_WORD_TOKENS)


def _timed(completion: Completion, begun: float, own: float) -> Completion:
    """Return it with the time that has passed, of which its last try took `own`."""
    seconds = time.monotonic() - begun
    return replace(completion, seconds=seconds, waited=seconds - own)


def _body(model: ModelSpec, request: Request) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": model.weights,
        "messages": messages(harmless(request.messages)),
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
    # A regex has no place in the OpenAI protocol: without a schema the reply comes unconstrained.
    return body


def _read(response: httpx.Response) -> Completion | _Failure:
    try:
        body = response.json()
        choice = body["choices"][0]
        message = choice["message"]
        usage = body.get("usage") or {}
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
        details = usage.get("completion_tokens_details") or {}
        if choice.get("finish_reason") in ("abort", "error"):
            return _Failure("the endpoint broke the reply off")
        return answered(
            _text(message.get("content")),
            choice.get("finish_reason"),
            reasoning=_text(message.get("reasoning") or message.get("reasoning_content")),
            refusal=_text(message.get("refusal")),
            thought=bool(details.get("reasoning_tokens")),
            prompt_tokens=int(usage.get("prompt_tokens") or 0),
            output_tokens=int(usage.get("completion_tokens") or 0),
            cached_tokens=None if cached is None else int(cached),
        )
    except Exception as error:  # whatever the endpoint sent is data here
        return _Failure(
            f"the endpoint's reply is not a chat completion ({type(error).__name__}: {error})"
        )


def _declined(response: httpx.Response, body: Mapping[str, Any]) -> Finish | None:
    """Tell why the endpoint cannot or will not answer what it was asked; None for other trouble."""
    if response.status_code in _NOT_THE_REQUEST:
        return None
    told = _told(response)
    images = any(isinstance(message.get("content"), list) for message in body["messages"])
    return turned_down(_message(told), tuple(_codes(told)), images=images)


def _told(response: httpx.Response) -> Any:
    try:
        return response.json()
    except Exception:  # whatever the endpoint sent is data here
        return response.text


def _message(told: Any) -> str:
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
