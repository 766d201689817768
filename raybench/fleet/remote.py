"""OpenAI-compatible endpoints, through httpx. Keys come from the environment and stay there."""

import asyncio
import logging
import math
import secrets
import sys
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import httpx

from raybench.config import FleetConf
from raybench.engines.base import Placed
from raybench.errors import Problem
from raybench.fleet.chat import messages
from raybench.fleet.concessions import (
    Body,
    Concession,
    Concessions,
    for_request,
    mend,
    wanted,
)
from raybench.fleet.connections import Connections
from raybench.fleet.control_tokens import harmless
from raybench.fleet.patience import Pace, back_off, retry_after
from raybench.fleet.presence import Presence
from raybench.fleet.refusals import Refusals, kind_of, problem_of
from raybench.fleet.remote_options import LIMITS, is_secret, key, without
from raybench.fleet.remote_replies import (
    MISSING_KEY,
    NO_REPLY_WITHIN,
    RETRIED,
    TOO_MANY,
    Failure,
    absorbed,
    declined,
    is_error,
    message,
    read,
    reason_of,
    status_of,
    told_by,
    too_many_tokens,
)
from raybench.fleet.stopwatch import Stopwatch
from raybench.fleet.streams import Room, as_finished
from raybench.fleet.token_limits import Fit, TokenLimits, TooLong, limit_of, names_of
from raybench.statements import Statement
from raybench.types import Completion, Message, ModelSpec, Request

_CONNECT_S = 20.0
_LIST_S = 60.0
"""So long is the list of an endpoint's models waited for, which not every endpoint has."""
_NAMES_S = 5.0
"""And so long where it would only help to correct a name."""
_MOST_BYTES = 2**24
"""Of a reply: no model's, with all that is said of it, is so long."""
_AS_SENT = (b"content-encoding", b"content-length", b"transfer-encoding")
"""Headers of a reply on its way, which say nothing of it once it is here."""
_CONNECT_TRIES = 5
"""Tries, over some seconds, to connect to a server that may be restarting."""
_UNKNOWN_TRIES = 3
"""Tries of a request whose client fails in a way that no network does."""
_LONGEST_REASON, _LONGEST_REMARK = 500, 100
# So a word is turned down by whom it was for, or because there is much to do. Any other refusal may
# as well come from a gateway with nobody behind it.
_AT_WORK = {400, 413, 422, TOO_MANY}
_WORD_TOKENS = 16


class RemoteEngine:
    """One endpoint; serves every model of the roster that names it."""

    def __init__(
        self,
        options: Mapping[str, Any],
        fleet: FleetConf,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        refusals: Refusals | None = None,
    ) -> None:
        """Take the options of a model that uses the endpoint. The clock returns seconds."""
        self._options = options
        self._refusals = refusals or Refusals()
        self._say = say
        self._clock = clock
        self._host = httpx.URL(str(options["base_url"])).host
        self._key = key(options)
        self._extra: Mapping[str, Any] = options.get("extra_body") or {}
        self._fleet = fleet
        self._concessions = Concessions()
        self._limits = TokenLimits(self._list)
        self._presence, self._words = Presence(), Presence()
        # At DEBUG it writes down what endpoints send in their headers, which may be the key.
        logging.getLogger("httpcore").setLevel(logging.INFO)
        side_by_side = int(options.get("concurrency", 32))
        self._gate = asyncio.Semaphore(side_by_side)
        self._room = Room(2 * side_by_side)
        longest = min(fleet.endpoint_pause_s, fleet.endpoint_deadline_s)
        self._pace = Pace(options.get("requests_per_minute"), longest, clock)
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

    def expect(self, model: ModelSpec, requests: int) -> None:
        """Do nothing: nobody plans for what will come."""

    async def wait_for_room(self) -> None:
        """Wait until fewer than twice as many requests are under way as are sent side by side."""
        await self._room.wait()

    async def close(self) -> None:
        """Close the connections."""
        await self._presence.close()
        await self._words.close()
        await self._limits.close()
        await self._connections.close()

    async def _one(self, model: ModelSpec, request: Request) -> Completion:
        with self._room.taken():
            return await self._ask(model, request)

    async def _ask(self, model: ModelSpec, request: Request) -> Completion:
        """Ask, and again in another way where the model turns out not to take this one."""
        body, fit = self._body(model, request), Fit()
        before: list[Failure] = []

        async def measure(asked: Body) -> Completion | TooLong:
            while True:
                found = await self._patiently(model, self._concessions.put(model, asked), before)
                if not isinstance(found, Concession):
                    return found
                self._concessions.make(model, for_request(found, request))

        failed = await self._limits.prepare(model, body, fit, measure)
        while failed is None:
            asked = self._limits.put(model, self._concessions.put(model, body), fit)
            reply = await self._patiently(model, asked, before, request.deadline_s)
            if isinstance(reply, Completion):
                return replace(
                    reply,
                    token_limit=None if (limit := limit_of(asked)) == limit_of(body) else limit,
                    retries=absorbed(before) if reply.finish != "error" else reply.retries,
                )
            if isinstance(reply, TooLong):
                failed = await self._limits.lower(model, asked, reply, fit, measure)
                if failed is None and self._limits.note(model):
                    self._say(_lowered(self._host, model, limit_of(body) or 0))
            elif self._concessions.make(model, for_request(reply, request)) and reply.remark:
                self._say(f"{self._host}: {model.name} {reply.remark}")
        return failed

    def _body(self, model: ModelSpec, request: Request) -> dict[str, Any]:
        """Return what is sent: fields that are null in the options are left out."""
        body = _body(model, request) | dict(self._extra)
        return {name: value for name, value in body.items() if value is not None}

    async def _list(self) -> Any:
        """Return what the endpoint says when it is asked for its models; None where nothing."""
        try:
            async with asyncio.timeout(_LIST_S):
                with self._connections.lent() as client:
                    async with client.stream("GET", "models") as coming:
                        response = await _whole(coming)
            return told_by(response) if response is not None else None
        except Exception:  # it is not obliged to have one
            return None

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
        outcome = await self._ask_for_word(model)
        if not isinstance(outcome, Failure) or outcome.status in _AT_WORK:
            return None
        return outcome.reason if outcome.finish == "error" else None

    async def _ask_for_word(self, model: ModelSpec) -> Completion | Concession | Failure:
        """Ask for a word, once; return what that comes to."""
        await self._pace.turn()
        body = self._body(model, _word())
        # The options may ask for more: for thoughts that take longer than anybody would wait here.
        body |= dict.fromkeys(body.keys() & LIMITS, _WORD_TOKENS)
        give_up = self._clock() + self._fleet.endpoint_deadline_s
        asked = self._concessions.put(model, body)
        return await self._try(model, asked, give_up, Stopwatch(clock=self._clock))

    async def refusal(self, model: ModelSpec) -> Problem | None:
        """Ask for a word; return why the endpoint refuses this model for good, None if it may not.

        Where no connection can be made, some more are tried in the next seconds.
        """
        for attempt in range(1, _CONNECT_TRIES + 1):
            outcome = await self._ask_for_word(model)
            if kind_of(outcome) != "connection" or attempt == _CONNECT_TRIES:
                break
            await asyncio.sleep(back_off(attempt))
        kind = kind_of(outcome)
        if kind is None or not isinstance(outcome, Failure):
            return None
        names: list[str] = []
        if kind == "model":
            with suppress(TimeoutError):
                async with asyncio.timeout(_NAMES_S):
                    names = names_of(await self._list())
        reason = without(self._key, outcome.reason)
        return problem_of(kind, model.weights, self._options, reason, names)

    async def _refused(self, model: ModelSpec) -> str | None:
        """Return why a model is not asked any more, which a word has to settle in doubt."""
        if self._refusals.is_doubtful(model.weights):
            await self._words.absent(model.weights, lambda: self._settle(model))
        return self._refusals.reason(model.weights)

    async def _settle(self, model: ModelSpec) -> str | None:
        problem = await self.refusal(model)
        if problem is not None and problem.code == "endpoint.connection":
            problem = None  # in the middle of a run, that may pass
        self._refusals.settle(model.weights, problem)
        return self._refusals.reason(model.weights)

    async def _patiently(
        self,
        model: ModelSpec,
        body: Body,
        before: list[Failure],
        deadline_s: float | None = None,
    ) -> Completion | Concession | TooLong:
        """Send a body until it is answered, in this way or that.

        Tries that were turned away are added to those before, unless nothing comes of them.
        """
        begun = self._clock()
        give_up, wait = math.inf, 0.0
        failures: list[Failure] = []
        while True:
            await asyncio.sleep(wait)
            async with self._gate:
                if (refused := await self._refused(model)) is not None:
                    return self._timed(Completion.failed(refused), begun, 0.0)
                await self._pace.turn()
                # From here on, not from the arrival: waiting for a place is no fault of anybody.
                give_up = min(give_up, self._clock() + self._fleet.endpoint_deadline_s)
                if self._clock() >= give_up:
                    break  # its place came too late: the reasons of the tries stand
                watch = Stopwatch(deadline_s, self._clock)
                outcome = await self._try(model, body, give_up, watch)
                if isinstance(outcome, Completion) and outcome.finish == "late":
                    outcome = await self._doubted(model, outcome)  # in the place of its request
            self._refusals.count(model.weights, outcome)
            if not isinstance(outcome, Failure):
                before += failures
            if isinstance(outcome, Concession):
                return outcome
            if isinstance(outcome, Completion):
                return self._safe(self._timed(outcome, begun, watch.seconds))
            reason = without(self._key, outcome.reason)[:_LONGEST_REASON]
            failures.append(replace(outcome, reason=reason))
            wait = max(back_off(len(failures)), outcome.wait)
            tries = min(outcome.tries, self._fleet.endpoint_attempts)
            if len(failures) >= tries or self._clock() + wait > give_up:
                break
            self._say(f"{self._host}: {reason[:_LONGEST_REMARK]}; trying again in {wait:.0f} s")
        last = failures[-1]
        failed = Completion.failed(reason_of(failures), finish=last.finish)
        failed = self._timed(failed, begun, watch.seconds)
        if not last.lower:
            return failed
        before += failures[:-1]
        return TooLong(last.tokens, failed)

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
        """Send a request once. Whatever the client raises is the error of this request."""
        deadline = min(self._fleet.reply_deadline_s, give_up - self._clock())
        try:
            # httpx bounds the wait for every piece of a reply; this bounds the whole of it.
            async with asyncio.timeout(deadline):
                response = await self._response(body, watch)
            return self._understood(model, body, response)
        except TimeoutError:
            if watch.up and watch.most_s is not None:
                return Completion.late(seconds=watch.most_s)
            return Failure(f"{NO_REPLY_WITHIN} {deadline:.3g} s")
        except Exception as error:
            passing = isinstance(error, httpx.HTTPError | OSError)
            tries = sys.maxsize if passing else _UNKNOWN_TRIES
            unconnected = isinstance(error, httpx.ConnectError)
            return Failure(f"{type(error).__name__}: {error}", tries, unconnected=unconnected)

    async def _response(self, body: Body, watch: Stopwatch) -> httpx.Response | None:
        """Send a body; return the whole response, or None where it is too large."""
        with self._connections.lent() as client:
            sent = client.stream(
                "POST", "chat/completions", json=body, extensions={"trace": watch.traced}
            )
            async with watch, sent as coming:
                return await _whole(coming)

    def _understood(
        self, model: ModelSpec, body: Body, response: httpx.Response | None
    ) -> Completion | Concession | Failure:
        """Return what a response means."""
        if response is None:
            return Failure(f"its reply is larger than {_MOST_BYTES >> 20} MiB", tries=1)
        told = told_by(response)
        if response.is_success and not is_error(told):
            return read(told)
        status, words = status_of(response, told), message(told)
        # The mend comes first: what is long is cut.
        reason = f"HTTP {status}{mend(body, words)} {response.text}".strip()
        if response.is_success:  # some gateways send errors so
            reason = f"HTTP {status}{mend(body, words)} {words or response.text}"
        if status == MISSING_KEY and not self._key:
            reason = f"no key was sent, name its variable with options.api_key_env: {reason}"
        finish = declined(status, told, body)
        tokens = too_many_tokens(status, words, finish) if limit_of(body) else None
        if tokens is not None and tokens.kind != "prompt":
            return Failure(reason, 1, 0.0, finish or "error", status, lower=True, tokens=tokens)
        if finish is not None:
            return Failure(reason, tries=1, finish=finish, status=status)
        if concession := wanted(model, body, words):
            return concession
        asked = retry_after(response.headers, time.time())
        wait = min(asked, self._fleet.endpoint_pause_s)
        if status == TOO_MANY and (granted := self._pace.pause(asked)):
            self._say(_paused(self._host, model, asked, granted))
        # An error that is sent as a success and has no status may be of either kind.
        unnamed = response.is_success and status == response.status_code
        passing = status in RETRIED or unnamed
        tries = sys.maxsize if passing else 1
        doubt = not passing and status in _AT_WORK and limit_of(body) is not None
        return Failure(reason, tries, wait, status=status, lower=doubt)


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
    # As bytes: servers put all characters into them, and httpx writes none but ASCII.
    headers = [it for it in coming.headers.raw if it[0].lower() not in _AS_SENT]
    return httpx.Response(coming.status_code, headers=headers, content=b"".join(pieces))


def _paused(host: str, model: ModelSpec, asked: float, granted: float) -> Statement:
    return Statement(
        "endpoint.pause",
        "{host} asks for a pause of {asked:,.0f} s at a request of {model} (HTTP 429): all its "
        "requests wait {granted:,.0f} s (fleet.endpoint_pause_s is the longest pause)",
        host=host,
        asked=asked,
        model=model.name,
        granted=granted,
    )


def _lowered(host: str, model: ModelSpec, asked: int) -> Statement:
    return Statement(
        "endpoint.token_limit",
        "{host}: {model} cannot write replies of up to {asked:,} tokens: the limit is lowered to "
        "what the model's context and the server allow",
        host=host,
        model=model.name,
        asked=asked,
    )


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
