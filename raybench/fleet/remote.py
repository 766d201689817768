"""OpenAI-compatible endpoints, through httpx. Keys come from the environment and stay there."""

import asyncio
import logging
import math
import re
import secrets
import sys
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx

from raybench.config import FleetConf
from raybench.fleet.chat import messages
from raybench.fleet.concessions import Body, Concession, Concessions, mend, wanted
from raybench.fleet.connections import Connections
from raybench.fleet.control_tokens import harmless
from raybench.fleet.patience import Pace, back_off, retry_after
from raybench.fleet.presence import Presence
from raybench.fleet.remote_options import LIMITS, is_secret, key, without
from raybench.fleet.remote_replies import (
    MISSING_KEY,
    RETRIED,
    TOO_MANY,
    Failure,
    declined,
    message,
    read,
    told_by,
)
from raybench.fleet.stopwatch import Stopwatch
from raybench.fleet.streams import Placed, as_finished
from raybench.types import Completion, Message, ModelSpec, Request

NO_REPLY_WITHIN = "no reply within"
"""So begins why a request that took too long has failed."""
_CONNECT_S = 20.0
_MOST_BYTES = 2**24
"""Of a reply: no model's, with all that is said of it, is so long."""
_AS_SENT = ("content-encoding", "content-length", "transfer-encoding")
"""Headers of a reply on its way, which say nothing of it once it is here."""
_LONGEST_REASON, _LONGEST_REMARK = 500, 100
# So a word is turned down by whom it was for, or because there is much to do. Any other refusal may
# as well come from a gateway with nobody behind it.
_AT_WORK = {400, 413, 422, TOO_MANY}
_WORD_TOKENS = 16


def may_pass(reason: str) -> bool:
    """Tell whether what kept a reply away may pass, though somebody is there: too many requests."""
    status = re.match(r"HTTP (\d+)", reason)
    return int(status[1]) in RETRIED if status else reason.startswith(NO_REPLY_WITHIN)


class RemoteEngine:
    """One endpoint; serves every model of the roster that names it."""

    def __init__(
        self,
        options: Mapping[str, Any],
        fleet: FleetConf,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the options of a model that uses the endpoint. The clock returns seconds."""
        self._say = say
        self._clock = clock
        self._host = httpx.URL(str(options["base_url"])).host
        self._key = key(options)
        self._extra: Mapping[str, Any] = options.get("extra_body") or {}
        self._fleet = fleet
        self._concessions = Concessions()
        self._presence = Presence()
        # At DEBUG it writes down what endpoints send in their headers, which may be the key.
        logging.getLogger("httpcore").setLevel(logging.INFO)
        self._gate = asyncio.Semaphore(int(options.get("concurrency", 32)))
        self._pace = Pace(options.get("requests_per_minute"), fleet.endpoint_deadline_s, clock)
        self._connections = Connections(
            str(options["base_url"]).rstrip("/") + "/",
            {"Authorization": f"Bearer {self._key}"} if self._key else {},
            httpx.Timeout(fleet.reply_deadline_s, connect=_CONNECT_S),
            clock,
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

    async def _doubted(self, model: ModelSpec, late: Completion) -> Completion | Failure:
        """Return what a request has come to that was ended in time: late, where the model answers.

        Else the endpoint hangs, which is no model's time: the try has failed.
        """
        reason = await self._presence.absent(model.weights, lambda: self._silence(model))
        if reason is None:
            return late
        return Failure(f"{NO_REPLY_WITHIN} {late.seconds:.3g} s, and none to a word: {reason}")

    async def _silence(self, model: ModelSpec) -> str | None:
        """Ask for a word, once; return why none came. A model that turns it down is there.

        It is waited for as long as any reply: who has a long queue, or goes on writing what nobody
        waits for any more, is busy and not gone. So a server that hangs holds up who has a deadline
        for hardly longer than who has none.
        """
        await self._pace.turn()
        body = self._body(model, _word())
        # The options may ask for more: for thoughts that take longer than anybody would wait here.
        body |= dict.fromkeys(body.keys() & LIMITS, _WORD_TOKENS)
        give_up = self._clock() + self._fleet.endpoint_deadline_s
        asked = self._concessions.put(model, body)
        outcome = await self._try(model, asked, give_up, Stopwatch(clock=self._clock))
        if not isinstance(outcome, Failure) or outcome.status in _AT_WORK:
            return None
        return outcome.reason if outcome.finish == "error" else None

    async def _patiently(
        self, model: ModelSpec, body: Body, deadline_s: float | None = None
    ) -> Completion | Concession:
        begun = self._clock()
        give_up, wait, attempt = math.inf, 0.0, 0
        while True:
            await asyncio.sleep(wait)
            async with self._gate:
                await self._pace.turn()
                # From here on, not from the arrival: waiting for a place is no fault of anybody.
                give_up = min(give_up, self._clock() + self._fleet.endpoint_deadline_s)
                if self._clock() >= give_up:
                    break  # its place came too late: the reason of the last try stands
                attempt += 1
                watch = Stopwatch(deadline_s, self._clock)
                outcome = await self._try(model, body, give_up, watch)
                if isinstance(outcome, Completion) and outcome.finish == "late":
                    outcome = await self._doubted(model, outcome)  # in the place of its request
            if isinstance(outcome, Concession):
                return outcome
            if isinstance(outcome, Completion):
                return self._safe(self._timed(outcome, begun, watch.seconds))
            failure = outcome
            wait = max(back_off(attempt), failure.wait)
            reason = without(self._key, failure.reason)[:_LONGEST_REASON]
            tries = min(failure.tries, self._fleet.endpoint_attempts)
            if attempt >= tries or self._clock() + wait > give_up:
                break
            self._say(f"{self._host}: {reason[:_LONGEST_REMARK]}; trying again in {wait:.0f} s")
        told = f"{reason} (tried {attempt} times)" if attempt > 1 else reason
        return self._timed(Completion.failed(told, finish=failure.finish), begun, watch.seconds)

    def _timed(self, completion: Completion, begun: float, own: float) -> Completion:
        """Return a completion with the time that has passed, of which its last try took `own`."""
        seconds = self._clock() - begun
        return replace(completion, seconds=seconds, waited=seconds - own)

    def _safe(self, completion: Completion) -> Completion:
        """Return what the model said without the key, should a proxy have slipped it in."""
        if not is_secret(self._key):
            return completion
        text, reasoning, error = (
            without(self._key, said or "")
            for said in (completion.text, completion.reasoning, completion.error)
        )
        return replace(completion, text=text, reasoning=reasoning, error=error or None)

    async def _try(
        self, model: ModelSpec, body: Body, give_up: float, watch: Stopwatch
    ) -> Completion | Concession | Failure:
        """Send a request once."""
        deadline = min(self._fleet.reply_deadline_s, give_up - self._clock())
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
            return Failure(f"{NO_REPLY_WITHIN} {deadline:.3g} s")
        except httpx.HTTPError as error:
            return Failure(f"{type(error).__name__}: {error}")
        if response is None:
            return Failure(f"its reply is larger than {_MOST_BYTES >> 20} MiB", tries=1)
        if response.is_success:
            return read(response)
        told = message(told_by(response))
        # The mend comes first: what is long is cut.
        reason = f"HTTP {response.status_code}{mend(body, told)} {response.text}".strip()
        if response.status_code == MISSING_KEY and not self._key:
            reason = f"no key was sent, name its variable with options.api_key_env: {reason}"
        status = response.status_code
        if finish := declined(response, body):
            return Failure(reason, tries=1, finish=finish, status=status)
        if concession := wanted(model, body, told):
            return concession
        wait = retry_after(response.headers, time.time())
        if status == TOO_MANY:
            self._pace.pause(wait)
        return Failure(reason, sys.maxsize if status in RETRIED else 1, wait, status=status)


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
