"""Retries, deadlines and the time that counts: the openai engine in virtual time."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from email.utils import formatdate
from typing import Any

import pytest
from fleet.test_remote import error, o_series, reply
from statements import values
from virtual_time import Exchange, VirtualEndpoint, now, until

from raybench.config import FleetConf
from raybench.fleet import Fleet, group_engines
from raybench.fleet.remote import RemoteEngine
from raybench.fleet.remote_replies import BROKEN_OFF, NO_COMPLETION, NO_REPLY_WITHIN
from raybench.statements import Statement
from raybench.types import Completion, Message, ModelSpec, Request, Retries

pytestmark = pytest.mark.virtual_time

Play = Callable[[Exchange], Awaitable[None] | None]
WORD = "Say a word."
_NEVER_S = 1e9
LATE = NO_REPLY_WITHIN


class Endpoint(VirtualEndpoint):
    """Replies to each prompt with the prompt itself, unless a script says otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts: dict[str, list[Play]] = {}
        """By prompt: what happens to the first request, the second …; the last goes on."""
        self.seen: list[Exchange] = []
        self.said: list[str] = []
        """What the user was told."""
        self._busy = self.busiest = 0

    async def play(self, exchange: Exchange) -> None:
        script = self.scripts.get(prompt_of(exchange), [echo])
        self.seen.append(exchange)
        self._busy += 1
        self.busiest = max(self.busiest, self._busy)
        playing = (script.pop(0) if len(script) > 1 else script[0])(exchange)
        if playing is not None:
            await playing
        self._busy -= 1


def prompt_of(exchange: Exchange) -> str:
    """Return the prompt of a request; of one for a word, what they have in common."""
    prompt = str(exchange.body["messages"][-1]["content"])
    return WORD if prompt.startswith(WORD) else prompt


def echo(exchange: Exchange) -> None:
    exchange.send(200, reply(str(exchange.body["messages"][-1]["content"])))


def say(status: int, body: Any, **headers: str) -> Play:
    return lambda exchange: exchange.send(status, body, **headers)


def limited(seconds: str) -> Play:
    """Refuse a request, and ask for time."""
    return lambda exchange: exchange.send(429, {}, **{"Retry-After": seconds})


def hang_up(exchange: Exchange) -> None:
    exchange.writer.transport.abort()


def hang_up_halfway(exchange: Exchange) -> None:
    exchange.begin(200, 1000, {})
    exchange.writer.write(b'{"choices": [')
    exchange.writer.close()


def after(seconds: float, then: Play = echo) -> Play:
    async def play(exchange: Exchange) -> None:
        await asyncio.sleep(seconds)
        then(exchange)

    return play


async def trickle(exchange: Exchange) -> None:
    """Send the head of a reply, and then a byte from time to time."""
    exchange.begin(200, 100_000, {})
    while not exchange.writer.is_closing():
        exchange.writer.write(b" ")
        await asyncio.sleep(1.0)


async def trickle_headers(exchange: Exchange) -> None:
    exchange.writer.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not exchange.writer.is_closing():
        exchange.writer.write(b"o")
        await asyncio.sleep(1.0)


def fleet_of(endpoint: Endpoint, conf: FleetConf, **options: Any) -> tuple[Fleet, RemoteEngine]:
    spec = ModelSpec("mine", "openai", "gpt", options={"base_url": endpoint.url, **options})
    engine = RemoteEngine(spec.options, conf, endpoint.said.append, now)
    (grouped,) = group_engines([spec])
    return Fleet([grouped], {grouped.name: engine}), engine


def request(prompt: str, deadline_s: float | None = None) -> Request:
    return Request((Message("user", prompt),), seed=5, deadline_s=deadline_s)


async def ask(
    endpoint: Endpoint, *prompts: str, conf: FleetConf | None = None, **options: Any
) -> list[Completion]:
    """Send the prompts as one batch."""
    fleet, engine = fleet_of(endpoint, conf or FleetConf(endpoint_attempts=2), **options)
    async with endpoint:
        replies = await fleet.complete("mine", [request(prompt) for prompt in prompts])
        await engine.close()
    return replies


async def one_reply(endpoint: Endpoint, play: Play, **kwargs: Any) -> Completion:
    endpoint.scripts["hello"] = [play]
    (completion,) = await ask(endpoint, "hello", **kwargs)
    return completion


async def timed(
    endpoint: Endpoint,
    *prompts: str,
    conf: FleetConf | None = None,
    deadline_s: float = 20.0,
    **options: Any,
) -> list[Completion]:
    """Ask side by side, one by one as matches do; each may take so much of the model's own time."""
    fleet, engine = fleet_of(endpoint, conf or FleetConf(endpoint_attempts=1), **options)
    async with endpoint:
        calls = (fleet.complete("mine", [request(prompt, deadline_s)]) for prompt in prompts)
        replies = [completion for (completion,) in await asyncio.gather(*calls)]
        await engine.close()
    return replies


def said(endpoint: Endpoint, code: str) -> list[Statement]:
    """Return what the user was told with this code."""
    return [it for it in endpoint.said if isinstance(it, Statement) and it.code == code]


def words(endpoint: Endpoint) -> int:
    """Return how often it was asked for a word."""
    return sum(prompt_of(exchange) == WORD for exchange in endpoint.seen)


@pytest.fixture
def endpoint() -> Endpoint:
    return Endpoint()


# ---------------------------------------------------------------------------------------- retries


async def test_a_reply_brings_text_tokens_and_time(endpoint: Endpoint) -> None:
    completion = await one_reply(endpoint, after(50.0))
    assert (completion.text, completion.finish, completion.error) == ("hello", "stop", None)
    assert (completion.prompt_tokens, completion.output_tokens) == (11, 7)
    assert completion.seconds == completion.own_seconds == pytest.approx(50.0)


@pytest.mark.parametrize("why", ["error", "abort"])
async def test_a_reply_that_broke_off_is_no_answer(endpoint: Endpoint, why: str) -> None:
    broken = say(200, reply("Hel", why))
    endpoint.scripts["hello"] = [broken, echo]
    (completion,) = await ask(endpoint, "hello")
    assert (completion.text, completion.finish) == ("hello", "stop")
    completion = await one_reply(endpoint, broken)
    assert (completion.text, completion.finish) == ("", "error")
    assert BROKEN_OFF in (completion.error or "")


async def test_what_may_pass_is_tried_again(endpoint: Endpoint) -> None:
    plays: dict[str, Play] = {
        "429": say(429, {"error": "slow down"}),
        "500": say(500, b"oops"),
        "502": say(502, b"<html>Bad Gateway</html>"),
        "503": say(503, b"", **{"Retry-After": "0"}),
        "504": say(504, b""),
        "522": say(522, b"error code: 522"),
        "529": say(529, error("Overloaded")),
        "408": say(408, b""),
        "hang-up": hang_up,
        "hang-up halfway": hang_up_halfway,
        "garbled": say(200, b'{"choices": ['),
    }
    endpoint.scripts = {prompt: [play, echo] for prompt, play in plays.items()}
    completions = await ask(endpoint, *plays)
    assert [completion.text for completion in completions] == list(plays)
    assert len(endpoint.seen) == 2 * len(plays)
    # The wait is none of the model's time; it differs so that a batch does not come back in step.
    waits = [completion.waited for completion in completions]
    assert all(0.25 <= wait <= 0.5 for wait in waits)
    assert len({*waits}) == len(waits)


async def test_it_gives_up_after_so_many_attempts(endpoint: Endpoint) -> None:
    endpoint.scripts = {
        "429": [say(429, {"error": "slow down"})],
        "500": [say(500, b"")],
        "hang-up": [hang_up],
    }
    completions = await ask(endpoint, *endpoint.scripts)
    assert [completion.finish for completion in completions] == ["error"] * 3
    assert len(endpoint.seen) == 3 * 2
    assert "429" in (completions[0].error or "")
    assert "slow down" in (completions[0].error or "")
    assert (completions[1].error or "").startswith("HTTP 500 (")
    assert "2 times" in (completions[1].error or "")
    assert "Error: " in (completions[2].error or "")


@pytest.mark.parametrize("body", [b"<html>Log in</html>", {"choices": []}])
async def test_what_stays_garbled_is_tried_as_often_as_the_rest(
    endpoint: Endpoint, body: object
) -> None:
    completion = await one_reply(endpoint, say(200, body), conf=FleetConf(endpoint_attempts=4))
    assert NO_COMPLETION in (completion.error or "")
    assert "tried 4 times" in (completion.error or "")
    assert len(endpoint.seen) == 4


@pytest.mark.parametrize(
    ("plays", "first", "also"),
    [
        ([say(500, b"out of memory"), hang_up, after(_NEVER_S)], "HTTP 500 out", [LATE]),
        ([after(_NEVER_S), say(401, error("who?")), echo], "no key was sent", [LATE]),
        ([say(429, error("slow down")), after(_NEVER_S)], "HTTP 429", [LATE]),
        ([hang_up, after(_NEVER_S)], "RemoteProtocolError", [LATE]),
        ([say(429, error("slow down")), say(400, error("no model"))], "HTTP 400", ["HTTP 429"]),
        ([after(_NEVER_S)], LATE, []),
    ],
)  # fmt: skip
async def test_the_reason_that_tells_most_is_named(
    endpoint: Endpoint, plays: list[Play], first: str, also: list[str]
) -> None:
    endpoint.scripts["hello"] = plays
    conf = FleetConf(endpoint_attempts=4, reply_deadline_s=20)
    (completion,) = await ask(endpoint, "hello", conf=conf)
    reason = completion.error or ""
    assert completion.finish == "error" and reason.startswith(first)
    assert all(it in reason.partition(" (tried ")[2] for it in also)


async def test_who_waits_is_told_why(endpoint: Endpoint) -> None:
    endpoint.scripts["hello"] = [say(503, b"loading"), echo]
    await ask(endpoint, "hello", conf=FleetConf())
    (remark,) = endpoint.said
    assert remark.startswith("127.0.0.1: HTTP 503 loading; ")


async def test_an_endpoint_that_asks_for_time_gets_it_from_all_requests(endpoint: Endpoint) -> None:
    endpoint.scripts = {"first": [limited("60"), echo], "second": [after(1.0)]}
    first, second = await ask(endpoint, "first", "second", concurrency=1)
    assert (first.text, second.text) == ("first", "second")
    # The second had nothing to wait for but the first one's refusal.
    assert second.waited == pytest.approx(60.0)
    assert first.waited == pytest.approx(61.0)


PATIENT = FleetConf(endpoint_deadline_s=1e5, endpoint_pause_s=1e5)


@pytest.mark.parametrize("form", ["seconds", "milliseconds", "date"])
async def test_a_wait_that_is_asked_for_is_kept_however_it_is_written(
    endpoint: Endpoint, form: str
) -> None:
    headers = {
        "seconds": {"Retry-After": "7200"},
        "milliseconds": {"retry-after-ms": "7200000"},
        "date": {"Retry-After": formatdate(time.time() + 7200, usegmt=True)},
    }[form]
    endpoint.scripts["hello"] = [say(503, b"", **headers), echo]
    (completion,) = await ask(endpoint, "hello", conf=PATIENT)
    assert completion.text == "hello"
    # A date says whole seconds, of which some pass while the request is under way.
    assert completion.seconds == pytest.approx(7200, abs=600 if form == "date" else 1e-6)


async def test_a_long_pause_is_told_bounded_and_counted(endpoint: Endpoint) -> None:
    endpoint.scripts = {"first": [limited("86400"), limited("86400"), echo], "second": [echo]}
    conf = FleetConf(endpoint_pause_s=300, endpoint_deadline_s=3600)
    first, second = await ask(endpoint, "first", "second", conf=conf, concurrency=1)
    assert (first.text, second.text) == ("first", "second")
    assert first.seconds == pytest.approx(600) and second.seconds <= 600
    pauses = [values(it) for it in said(endpoint, "endpoint.pause")]
    told = {"host": "127.0.0.1", "asked": 86400.0, "model": "mine", "granted": 300.0}
    assert pauses == [told, told]
    assert first.retries == Retries(rate_limited=2, pauses=2)
    assert second.retries == Retries()


async def test_requests_side_by_side_that_are_told_to_wait_are_one_pause(
    endpoint: Endpoint,
) -> None:
    prompts = [str(number) for number in range(8)]
    endpoint.scripts = {prompt: [limited("60"), echo] for prompt in prompts}
    replies = await ask(endpoint, *prompts)
    assert [it.text for it in replies] == prompts
    assert len(said(endpoint, "endpoint.pause")) == 1
    assert sum((it.retries for it in replies), Retries()) == Retries(rate_limited=8, pauses=8)


async def test_tries_that_were_absorbed_are_counted(endpoint: Endpoint) -> None:
    busy, broken = say(429, error("slow down")), say(503, b"")
    endpoint.scripts = {"hello": [busy, broken, hang_up, broken, echo], "never": [busy]}
    hello, never = await ask(endpoint, "hello", "never", conf=FleetConf(endpoint_attempts=5))
    assert hello.retries == Retries(rate_limited=1, server_errors=2)
    assert (never.finish, never.retries) == ("error", Retries())  # nothing was absorbed


async def test_tries_before_another_way_of_asking_count_too(endpoint: Endpoint) -> None:
    """The endpoint wants the limit by another name, and a lower one: both after a refusal."""
    words = "max_tokens is too large: 4096. This model supports at most 100 completion tokens."
    broken = say(503, b"")
    asked = [broken, o_series, broken, say(400, error(words)), broken, echo]
    endpoint.scripts["hello"] = list(asked)
    fleet, engine = fleet_of(endpoint, FleetConf(), extra_body={"temperature": None, "top_p": None})
    async with endpoint:
        (found,) = await fleet.complete("mine", [replace(request("hello"), max_tokens=4096)])
        await engine.close()
    assert (found.text, found.token_limit) == ("hello", 100)
    assert found.retries == Retries(server_errors=3)
    assert len(endpoint.seen) == len(asked)


async def test_a_rate_limit_is_kept(endpoint: Endpoint) -> None:
    completions = await ask(endpoint, *"abcdef", requests_per_minute=6)
    assert [completion.text for completion in completions] == list("abcdef")
    assert sorted(completion.seconds for completion in completions) == pytest.approx(
        [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]
    )


# -------------------------------------------------------------------------------------- deadlines


async def test_all_tries_together_have_a_deadline(endpoint: Endpoint) -> None:
    conf = FleetConf(endpoint_deadline_s=500)
    completion = await one_reply(endpoint, limited("3600"), conf=conf)
    assert completion.finish == "error"
    assert "HTTP 429" in (completion.error or "")
    assert completion.seconds < 500  # nobody waits for what comes too late
    assert len(endpoint.seen) == 1


async def test_an_endpoint_that_asks_for_years_holds_up_no_other_request(
    endpoint: Endpoint,
) -> None:
    endpoint.scripts = {"first": [limited("9" * 12)], "second": [echo]}
    conf = FleetConf(endpoint_deadline_s=100)
    first, second = await ask(endpoint, "first", "second", conf=conf, concurrency=1)
    assert "HTTP 429" in (first.error or "")
    assert second.text == "second"
    assert second.seconds == pytest.approx(100)


async def test_an_endpoint_that_never_recovers_is_left_when_the_time_is_over(
    endpoint: Endpoint,
) -> None:
    conf = FleetConf(endpoint_deadline_s=2, endpoint_attempts=30)
    completion = await one_reply(endpoint, say(503, b"loading"), conf=conf)
    assert (completion.error or "").startswith("HTTP 503 loading (")
    assert f" {len(endpoint.seen)} times" in (completion.error or "")
    # Waits of 0.25 to 0.5 s, 0.5 to 1 s and 1 to 2 s: whichever would end too late is not begun.
    assert 2 <= len(endpoint.seen) <= 4
    assert completion.seconds <= 2


async def test_the_time_for_all_tries_bounds_each_of_them(endpoint: Endpoint) -> None:
    conf = FleetConf(reply_deadline_s=600, endpoint_deadline_s=30)
    completion = await one_reply(endpoint, after(_NEVER_S), conf=conf)
    assert completion.error == f"{NO_REPLY_WITHIN} 30 s"
    assert completion.seconds == pytest.approx(30)


async def test_a_place_that_comes_too_late_is_not_taken(endpoint: Endpoint) -> None:
    endpoint.scripts = {"first": [say(500, b"oops")], "second": [after(_NEVER_S)]}
    conf = FleetConf(endpoint_deadline_s=100)
    first, second = await ask(endpoint, "first", "second", conf=conf, concurrency=1)
    # The second held the only place until the time of the first was over.
    assert (first.error, second.error) == ("HTTP 500 oops", f"{NO_REPLY_WITHIN} 100 s")
    assert len(endpoint.seen) == 2


@pytest.mark.parametrize("play", [after(_NEVER_S), trickle, trickle_headers])
async def test_a_reply_past_the_deadline_is_not_waited_for(endpoint: Endpoint, play: Play) -> None:
    """One that trickles neither, though httpx's own limit is on every piece of it."""
    conf = FleetConf(reply_deadline_s=20, endpoint_attempts=1)
    completion = await one_reply(endpoint, play, conf=conf)
    assert completion.finish == "error"
    assert completion.error == f"{NO_REPLY_WITHIN} 20 s"
    assert completion.seconds == pytest.approx(20)


async def test_waiting_for_a_place_does_not_count_against_the_deadline(endpoint: Endpoint) -> None:
    prompts = [str(number) for number in range(6)]
    endpoint.scripts = {prompt: [after(20)] for prompt in prompts}
    conf = FleetConf(reply_deadline_s=25, endpoint_attempts=1)
    completions = await ask(endpoint, *prompts, conf=conf, concurrency=1)
    assert [completion.text for completion in completions] == prompts
    assert max(completion.seconds for completion in completions) == pytest.approx(120)


@pytest.mark.parametrize(
    "options", [{"concurrency": 1}, {"requests_per_minute": 2}], ids=["places", "rate"]
)
async def test_a_models_own_time_begins_when_its_request_is_sent(
    endpoint: Endpoint, options: dict[str, Any]
) -> None:
    prompts = [str(number) for number in range(6)]
    endpoint.scripts = {prompt: [after(20)] for prompt in prompts}
    completions = await ask(endpoint, *prompts, **options)
    assert max(completion.seconds for completion in completions) >= 6 * 20
    own = [completion.own_seconds for completion in completions]
    assert own == pytest.approx([20] * 6)


async def test_a_models_own_time_is_that_of_the_try_that_counts(endpoint: Endpoint) -> None:
    endpoint.scripts = {
        "late": [after(60, say(503, b"")), after(10)],
        "never": [after(20, say(503, b""))],
        "filtered": [say(503, b""), after(10, say(400, {"error": {"code": "content_filter"}}))],
    }
    late, never, filtered = await ask(endpoint, *endpoint.scripts)
    assert (late.text, never.finish, filtered.finish) == ("late", "error", "refusal")
    assert late.own_seconds == pytest.approx(10) and 60.25 <= late.waited <= 60.5
    assert never.own_seconds == pytest.approx(20) and 20.25 <= never.waited <= 20.5
    assert filtered.own_seconds == pytest.approx(10) and 0.25 <= filtered.waited <= 0.5


# ----------------------------------------------------------------------------------- side by side


@pytest.mark.parametrize("concurrency", [1, 4])
async def test_the_order_is_kept_and_the_bound_holds(endpoint: Endpoint, concurrency: int) -> None:
    prompts = [str(number) for number in range(12)]
    # The later it is asked, the sooner it is answered.
    endpoint.scripts = {prompt: [after(50 - 4 * number)] for number, prompt in enumerate(prompts)}
    completions = await ask(endpoint, *prompts, concurrency=concurrency)
    assert [completion.text for completion in completions] == prompts
    assert endpoint.busiest == concurrency


async def test_each_request_under_way_has_a_connection_which_others_then_take(
    endpoint: Endpoint,
) -> None:
    prompts = [str(number) for number in range(12)]
    endpoint.scripts = {prompt: [after(20)] for prompt in prompts}
    await ask(endpoint, *prompts, concurrency=3)
    assert len({id(exchange.writer) for exchange in endpoint.seen}) == 3


async def test_a_stream_brings_replies_as_they_come(endpoint: Endpoint) -> None:
    prompts = ["slow", "quick", "bad", "middling"]
    endpoint.scripts = {
        "slow": [after(40)], "quick": [after(10)], "middling": [after(30)],
        "bad": [after(20, say(400, b"no"))],
    }  # fmt: skip
    fleet, engine = fleet_of(endpoint, FleetConf())
    async with endpoint:
        came = [placed async for placed in fleet.stream("mine", [request(it) for it in prompts])]
        await engine.close()
    assert [place for place, _ in came] == [1, 2, 3, 0]
    assert [came[place][1].text for place in (0, 2, 3)] == ["quick", "middling", "slow"]
    assert came[1][1].error == "HTTP 400 no"


async def test_a_cancelled_batch_leaves_the_engine_usable(endpoint: Endpoint) -> None:
    endpoint.scripts = {"slow": [after(_NEVER_S)]}
    fleet, engine = fleet_of(endpoint, FleetConf(), concurrency=1)
    async with endpoint:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(10):
                await fleet.complete("mine", [request("slow")] * 3)
        (completion,) = await fleet.complete("mine", [request("hi")])
        await engine.close()
    assert completion.text == "hi"


# ---------------------------------------------------------------- requests whose time is up


async def test_a_request_is_ended_at_its_deadline_where_the_model_is_slow(
    endpoint: Endpoint,
) -> None:
    endpoint.scripts["hello"] = [after(_NEVER_S)]
    (slow,) = await timed(endpoint, "hello")
    assert (slow.finish, slow.text) == ("late", "")
    assert slow.seconds == slow.own_seconds == pytest.approx(20)
    assert words(endpoint) == 1
    word = endpoint.seen[-1].body
    assert (word["model"], word["max_tokens"]) == ("gpt", 16)


async def test_who_answered_others_meanwhile_may_hang_since(endpoint: Endpoint) -> None:
    endpoint.scripts = {prompt: [after(_NEVER_S)] for prompt in ("hello", WORD)}
    conf = FleetConf(endpoint_attempts=1, reply_deadline_s=30)
    slow, quick = await timed(endpoint, "hello", "quick", conf=conf)
    assert (slow.finish, quick.finish) == ("error", "stop")
    assert words(endpoint) == 1


@pytest.mark.parametrize(
    ("play", "finish"),
    [
        (say(400, {"error": {"message": "max_tokens must be at least 32"}}), "late"),
        (say(413, b"too large"), "late"),
        (say(422, {"detail": "max_tokens must be at least 32"}), "late"),
        (say(429, {"error": "slow down"}), "late"),
        (say(403, {"error": {"code": "content_filter"}}), "late"),
        (say(401, error("Incorrect API key provided")), "error"),
        (say(402, error("Insufficient Balance")), "error"),
        (say(403, b"Access denied"), "error"),
        (say(404, error("The model `gpt` does not exist")), "error"),
        (say(307, b""), "error"),
        (say(503, b""), "error"),
        (say(522, b"error code: 522"), "error"),
        (say(529, error("Overloaded")), "error"),
        (hang_up, "error"),
    ],
)
async def test_who_turns_a_word_down_is_there(endpoint: Endpoint, play: Play, finish: str) -> None:
    endpoint.scripts = {"hello": [after(_NEVER_S)], WORD: [play]}
    (found,) = await timed(endpoint, "hello")
    assert found.finish == finish
    assert words(endpoint) == 1, "an answer that comes after an outage does not count"


async def test_each_word_is_another(endpoint: Endpoint) -> None:
    """Else a gateway could give it from memory, before a model that hangs."""
    endpoint.scripts["hello"] = [after(_NEVER_S)]
    await timed(endpoint, "hello")
    await timed(endpoint, "hello")
    first, second = (it.body for it in endpoint.seen if prompt_of(it) == WORD)
    assert first["messages"] != second["messages"]
    assert first["seed"] != second["seed"]


@pytest.mark.parametrize(
    ("extra", "limits"),
    [
        ({"max_tokens": 8192}, {"max_tokens": 16}),
        ({"max_tokens": -1}, {"max_tokens": 16}),
        ({"max_completion_tokens": 8192}, {"max_tokens": 16, "max_completion_tokens": 16}),
        (
            {"max_tokens": None, "max_completion_tokens": 8192, "reasoning_effort": "high"},
            {"max_completion_tokens": 16, "reasoning_effort": "high"},
        ),
    ],
)
async def test_a_word_is_short_whatever_else_the_endpoint_is_asked_for(
    endpoint: Endpoint, extra: dict[str, Any], limits: dict[str, Any]
) -> None:
    endpoint.scripts["hello"] = [after(_NEVER_S)]
    (found,) = await timed(endpoint, "hello", extra_body=extra)
    asked, word = (it.body for it in endpoint.seen)
    common = {"model", "messages", "temperature", "top_p", "seed"}
    assert {name: word[name] for name in word.keys() - common} == limits
    assert {name: asked[name] for name in asked.keys() - common} == {
        name: value for name, value in extra.items() if value is not None
    }
    assert found.finish == "late"


@pytest.mark.parametrize("setting", ["reply_deadline_s", "endpoint_deadline_s"])
@pytest.mark.parametrize(("takes", "finish"), [(499, "late"), (501, "error")])
async def test_a_word_is_waited_for_as_any_reply_is(
    endpoint: Endpoint, setting: str, takes: float, finish: str
) -> None:
    conf = FleetConf(endpoint_attempts=1)
    setattr(conf, setting, 500.0)
    endpoint.scripts = {"hello": [after(_NEVER_S)], WORD: [after(takes)]}
    (found,) = await timed(endpoint, "hello", conf=conf)
    assert found.finish == finish


async def test_who_first_writes_out_what_was_ended_is_slow_and_not_gone(
    endpoint: Endpoint,
) -> None:
    one_by_one = asyncio.Lock()

    async def busy(exchange: Exchange) -> None:
        async with one_by_one:
            await asyncio.sleep(80)
        echo(exchange)

    endpoint.scripts = {prompt: [busy] for prompt in ("hello", WORD)}
    (found,) = await timed(endpoint, "hello")
    assert found.finish == "late"


async def test_a_request_that_hung_is_sent_again(endpoint: Endpoint) -> None:
    """Whoever comes back answers it, in a time of its own."""
    endpoint.scripts = {"hello": [after(_NEVER_S), after(5)], WORD: [say(503, b"")]}
    (found,) = await timed(endpoint, "hello", conf=FleetConf(endpoint_attempts=2))
    assert (found.finish, found.text) == ("stop", "hello")
    assert found.own_seconds == pytest.approx(5) and found.waited >= 20


async def test_an_endpoint_that_hangs_has_failed_and_is_not_slow(endpoint: Endpoint) -> None:
    """However many doubt it, it is asked once."""
    prompts = [str(number) for number in range(5)]
    endpoint.scripts = {prompt: [after(_NEVER_S)] for prompt in [*prompts, WORD]}
    conf = FleetConf(endpoint_attempts=1, reply_deadline_s=150)
    for found in await timed(endpoint, *prompts, conf=conf):
        assert found.finish == "error"
        assert re.fullmatch(
            rf"{NO_REPLY_WITHIN} 20 s, .* {NO_REPLY_WITHIN} 150 s", found.error or ""
        )
        assert found.own_seconds == pytest.approx(20)
    assert words(endpoint) == 1


async def test_a_doubt_that_is_cancelled_leaves_the_others_theirs(endpoint: Endpoint) -> None:
    endpoint.scripts = {"hello": [after(_NEVER_S)], WORD: [after(60)]}
    fleet, engine = fleet_of(endpoint, FleetConf(endpoint_attempts=1))
    async with endpoint:
        calls = [fleet.complete("mine", [request("hello", deadline_s=20)]) for _ in range(2)]
        first, second = (asyncio.create_task(call) for call in calls)
        await until(lambda: words(endpoint) > 0)
        first.cancel()
        (found,) = await second
        await engine.close()
    assert found.finish == "late" and words(endpoint) == 1


async def test_each_try_has_the_whole_time(endpoint: Endpoint) -> None:
    endpoint.scripts["hello"] = [after(12, say(503, b"")), after(12)]
    (found,) = await timed(endpoint, "hello", conf=FleetConf(endpoint_attempts=2))
    assert (found.finish, found.text) == ("stop", "hello")


async def test_a_refusal_of_what_a_word_is_asked_with_is_an_answer_too(endpoint: Endpoint) -> None:
    """It wants the limit by another name: somebody is there."""
    endpoint.scripts = {"hello": [after(_NEVER_S)], WORD: [o_series]}
    (found,) = await timed(endpoint, "hello")
    assert found.finish == "late"
