"""What is really sent to models, and what is told of it.

No prompt of a later step holds what an earlier one was told.
"""

import asyncio
import contextlib
import json
import random
import re
from typing import Any

import pytest
from refusals import refused
from statements import code, values

from raybench import games
from raybench.arena.chair import VARIED, Chair, Decoding
from raybench.errors import RunFailed
from raybench.games import Need, State
from raybench.games.parts.pyjail import harness
from raybench.games.parts.pyjail.jails import JAILS
from raybench.players.direct import Direct
from raybench.players.parts.contract import Decision, Made, NoMove, Player, Try
from raybench.players.parts.reading import as_reply
from raybench.tournament.match import Heard, Terms, Void, play
from raybench.tournament.turns import Turn
from raybench.types import Completion, Message, Request

DECODING = Decoding({"line": 64, "text": 64, "code": 64})


class Asked:
    """Plays what it is given, and keeps every prompt with what was asked for."""

    def __init__(self, replies: list[str]) -> None:
        self._replies = replies
        self.prompts: list[str] = []

    async def put(self, model: str, request: Request) -> Completion:
        self.prompts.append("\n".join(message.content for message in request.messages))
        return Completion(self._replies.pop(0), "stop", output_tokens=5)


async def played(first: State, replies: list[str], brought: list[str] | None = None) -> Asked:
    asked, turns = Asked(replies), list[Turn]()
    seats = {role: Chair(f"m-{role}", Direct(), asked.put, DECODING, "1/0") for role in first.roles}

    async def bring(need: Need) -> str:
        return (brought or []).pop(0)

    await play(first, seats, bring, Terms(), turns.append, zero_sum=True)
    assert not replies
    return asked


@pytest.mark.parametrize("seed", range(20))
async def test_the_target_is_told_once_even_where_a_question_is_refused(seed: int) -> None:
    """The refused question states it, and comes back with the reason: to the same step only."""
    first = games.load("mathquiz").new(seed)
    found = re.findall(r"\b\d{3}\b", first.observe("teacher").view + first.observe("teacher").task)
    (target,) = {*found}
    rng = random.Random(seed)
    refused = f"What is {target}?"
    question = next(move for move in iter(lambda: first.good(rng), None) if target not in move)
    replies = [refused, question, as_reply(target, "line"), as_reply("7", "line")]
    asked = await played(first, replies)
    begun, again, proof, solving = asked.prompts
    assert target in begun and refused in again
    for prompt in (proof, solving):
        assert target not in prompt and refused not in prompt
        assert question in prompt.replace("| ", "").replace("> ", "")


async def test_the_prisoner_is_never_shown_the_wardens_exploit_or_its_output() -> None:
    first = games.load("pyjail").new(3)
    jail = JAILS[0]
    exploit = "EXPLOIT_OF_THE_WARDEN"
    opened = [json.dumps({"status": "ok", "stdout": harness.flag(3, run)}) for run in range(7)]
    closed = ['{"status": "ok", "stdout": "no", "stderr": "", "exit_code": 0}'] * 3
    replies = [as_reply(jail.source, "code"), as_reply(exploit, "code")]
    replies += [as_reply(f"try {n}", "code") for n in range(3)]
    brought = [*opened[:3], *closed, opened[6]]
    asked = await played(first, replies, brought)
    assert not brought
    assert len(asked.prompts) == 5
    for prompt in asked.prompts[2:]:
        assert exploit not in prompt
        assert not re.search(r"flag\{\w{8,}\}", prompt)


class Thinker:
    """Asks two times, and takes the second reply."""

    varies = False

    async def move(self, decision: Decision) -> Made:
        await decision.ask((Message("user", "Think."),), thought=True)
        reply = await decision.ask((Message("user", "Now."),))
        if not reply.text:
            raise NoMove("it is empty")
        return Made(reply.text, reply.text)


class Engine:
    """Gives the replies that it was made with, and keeps the requests."""

    def __init__(self, *replies: Completion) -> None:
        self._replies = [*replies]
        self.requests: list[Request] = []

    async def put(self, model: str, request: Request) -> Completion:
        self.requests.append(request)
        reply = self._replies.pop(0) if self._replies else Completion("Move: x", "stop")
        await asyncio.sleep(0)
        return reply


CHESS = games.load("chess").new(3)


def chair(
    engine: Engine,
    player: Player | None = None,
    *,
    match: str = "1/0",
    decoding: Decoding = DECODING,
    **more: Any,
) -> Chair:
    return Chair("m", player or Direct(), engine.put, decoding, match, **more)


async def replied(
    seat: Chair, state: State = CHESS, *tries: Try, left_s: float | None = None
) -> Heard:
    return await seat.reply(state, state.observe(state.to_move or ""), tries, left_s)


async def test_what_all_calls_of_a_try_took_is_told_together() -> None:
    engine = Engine(
        Completion("hm", "length", prompt_tokens=10, output_tokens=64, seconds=0.5),
        Completion("e4", "stop", prompt_tokens=20, output_tokens=3, seconds=0.25),
    )
    heard = await replied(chair(engine, Thinker()))
    assert (heard.reply, heard.move, heard.error) == ("e4", "e4", None)
    assert (heard.calls, heard.tokens, heard.prompt_tokens, heard.seconds) == (2, 67, 30, 0.75)
    assert not heard.truncated, "the thought was cut, and not the reply"
    assert heard.asides == ("hm",)


@pytest.mark.parametrize(
    ("finish", "truncated"),
    [("stop", False), ("length", True), ("thinking", True), ("refusal", False)],
)
async def test_replies_that_were_cut_are_told_from_those_that_hold_no_move(
    finish: Any, truncated: bool
) -> None:
    heard = await replied(chair(Engine(Completion("I think\nthat I", finish))))
    assert (heard.move, heard.truncated, heard.calls) == (None, truncated, 1)
    assert heard.error and heard.reply == "I think\nthat I"


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("d4", "d4"),
        ("**d4**", "d4"),
        ("Ke9", None),
        ("I am not sure what to do here.", None),
        ("<script>alert(1)</script>", None),
        ("Move:", None),
        ("Move: Ke9", "Ke9"),
        ("Move: I am not sure.", "I am not sure."),
    ],
)
async def test_a_line_by_itself_is_a_move_where_the_game_takes_it(
    text: str, move: str | None
) -> None:
    """However many lines talk takes, no move is found in it."""
    heard = await replied(chair(Engine(Completion(text, "stop"))))
    assert (heard.move, heard.error is None) == (move, move is not None)


async def test_why_a_line_by_itself_is_refused_is_told() -> None:
    heard = await replied(chair(Engine(Completion("Ke9", "stop"))))
    assert code(heard.error) == "reply.refused"
    with pytest.raises(games.InvalidMove) as refused:
        CHESS.apply("Ke9")
    assert values(heard.error)["refusal"] == str(refused.value)


async def test_a_call_that_breaks_makes_the_match_void_and_names_the_model() -> None:
    engine = Engine(Completion("hm", "stop"), Completion.failed("connection refused"))
    with pytest.raises(Void, match=r"^m .*: connection refused") as caught:
        await replied(chair(engine, Thinker()))
    assert caught.value.missing == "m"


async def test_where_moves_can_be_listed_a_reply_is_one_of_them() -> None:
    listed = Decoding({"line": 64, "text": 64, "code": 64}, listed=True)
    engine = Engine()
    await replied(chair(engine, decoding=listed))
    (request,) = engine.requests
    assert request.regex is not None
    legal = CHESS.legal() or ()
    assert "Bxf7+" in legal, "and '+' means something in patterns"
    assert all(re.fullmatch(request.regex, f"Move: {move}") for move in legal)
    assert not re.fullmatch(request.regex, "Move: Bxf77")
    # Endpoints take no patterns.
    assert request.json_schema is not None
    assert request.json_schema["properties"]["move"]["enum"] == [*legal]
    for move in legal:
        seat = chair(Engine(Completion(json.dumps({"move": move}), "stop")), decoding=listed)
        assert (await replied(seat)).move == move
    await replied(chair(engine))
    speech = games.load("debate").new(3)
    await replied(chair(engine, decoding=listed), speech)
    for free, why in zip(engine.requests[1:], ("only where it is wanted", "a speech"), strict=True):
        assert free.regex is None and free.json_schema is None, why


async def seeds(*, match: str = "1/0", asked: int = 0, tries: int = 3) -> list[int | None]:
    engine = Engine()
    seat = chair(engine, match=match, asked=asked)
    for _ in range(tries):
        await replied(seat, CHESS, *[Try("Move: x", "it is none")] * len(engine.requests))
    return [request.seed for request in engine.requests]


async def test_every_request_has_a_seed_of_its_own() -> None:
    black, engine = CHESS.apply("d3"), Engine()
    await replied(chair(engine), black)
    found = [
        *await seeds(), *await seeds(match="2/0"), *await seeds(match="1/1"),
        engine.requests[0].seed,
    ]  # fmt: skip
    assert len({*found}) == len(found) == 10, "of each try, match, attempt and role"
    assert all(seed is not None and 0 <= seed < 2**31 for seed in found)
    other = Engine()
    await replied(chair(other, decoding=Decoding(DECODING.tokens, seed=1)))
    assert other.requests[0].seed not in found, "and of each run"


async def test_a_match_that_was_cut_off_goes_on_with_the_same_seeds() -> None:
    whole = await seeds(tries=5)
    assert await seeds(tries=5) == whole
    assert await seeds(asked=2, tries=3) == whole[2:]


async def test_only_stand_ins_are_told_what_they_could_play() -> None:
    engine = Engine()
    await replied(chair(engine, imitates=True))
    await replied(chair(engine))
    told, untold = engine.requests
    assert untold.gold is None and told.gold is not None
    examples = json.loads(told.gold)
    assert examples.pop("examples") == 0
    assert examples.pop("rules") == CHESS.observe("white").rules
    assert {*examples} == {"good", "any"}
    for reply in examples.values():
        assert reply.removeprefix("Move: ") in (CHESS.legal() or ())
    again = Engine()
    await replied(chair(again, imitates=True))
    assert again.requests[0].gold == told.gold


class Twice:
    """Asks two times before it moves."""

    varies = False

    async def move(self, decision: Decision) -> Made:
        for _ in range(2):
            await decision.ask([Message("user", decision.seen.task)])
        return Made("bid 1 1", "bid 1 1")


async def test_a_turn_takes_the_models_own_time_and_not_its_waits() -> None:
    async def put(model: str, request: Request) -> Completion:
        return Completion("hm", "stop", seconds=7.5, waited=7.0)

    state = games.load("liars_dice").new(1)
    (role, *_) = state.roles
    heard = await Chair("m", Twice(), put, DECODING, "1/0").reply(
        state, state.observe(role), (), None
    )
    assert (heard.seconds, heard.calls) == (1.0, 2)


async def test_a_model_that_takes_no_images_plays_by_the_text() -> None:
    """A picture is an extra: nobody loses for not seeing one."""
    shown = list[int]()

    async def put(model: str, request: Request) -> Completion:
        shown.append(sum(len(it.images) for it in request.messages))
        if shown[-1]:
            return Completion.failed("this model takes no images", finish="unsupported")
        return Completion("Move: e4", "stop", output_tokens=5)

    state = games.load("chess").new(1, picture=True)
    seat = Chair("m", Direct(), put, DECODING, "1/0")
    assert (await seat.reply(state, state.observe("white"), [], None)).move == "e4"
    await seat.reply(state, state.observe("white"), [Try("e5", "no")], None)
    assert shown == [1, 0, 0]


async def test_the_time_left_is_given_to_all_calls_of_a_try_together() -> None:
    engine = Engine(
        Completion("hm", "stop", seconds=7.5, waited=7.0), Completion("e4", "stop", seconds=0.25)
    )
    heard = await replied(chair(engine, Thinker()), left_s=2.0)
    assert [it.deadline_s for it in engine.requests] == [2.0, 1.5]
    assert (heard.move, heard.late) == ("e4", False)
    engine = Engine(Completion("e4", "stop"))
    await replied(chair(engine))
    assert engine.requests[0].deadline_s is None


async def test_a_reply_that_was_ended_holds_no_move_whatever_is_in_it() -> None:
    cut = Completion("Move: e4", "late", output_tokens=9, seconds=2.0, error="the time was up")
    heard = await replied(chair(Engine(cut)), left_s=2.0)
    assert (heard.reply, heard.move, code(heard.error)) == ("Move: e4", None, "move.late")
    assert (heard.late, heard.truncated, heard.tokens) == (True, True, 9)


async def test_nobody_is_asked_when_the_time_is_up() -> None:
    engine = Engine(Completion("hm", "stop", seconds=2.0))
    heard = await replied(chair(engine, Thinker()), left_s=2.0)
    assert len(engine.requests) == 1
    assert (heard.reply, heard.move, heard.late, heard.calls) == ("hm", None, True, 1)
    assert heard.truncated, "it was cut off, and is not one without a move"


async def test_the_time_left_is_given_to_a_prompt_without_its_images_too() -> None:
    state = games.load("chess").new(1, picture=True)
    engine = Engine(Completion.failed("no images", finish="unsupported", seconds=0.5))
    heard = await replied(chair(engine), state, left_s=2.0)
    assert [it.deadline_s for it in engine.requests] == [2.0, 1.5]
    assert (heard.calls, heard.seconds, heard.asides) == (2, 0.5, ()), "both were made"
    first, second = engine.requests
    assert first.seed != second.seed
    engine = Engine(Completion.failed("no images", finish="unsupported", seconds=2.0))
    heard = await replied(chair(engine), state, left_s=2.0)
    assert (heard.late, heard.calls, heard.seconds) == (True, 1, 2.0)


class Crowd:
    """Asks three times at once, and again."""

    varies = True

    async def move(self, decision: Decision) -> Made:
        said = [Message("user", "Go.")]
        drafts = await asyncio.gather(*(decision.ask(said, varied=True) for _ in range(3)))
        last = await decision.ask(said, among=["1", "2", "3"])
        return Made(last.text, drafts[int(last.text) - 1].text)


async def test_of_calls_side_by_side_the_longest_counts_on_the_clock() -> None:
    took = {"a": 0.5, "b": 1.25, "c": 0.25}
    drafts = [Completion(it, "stop", output_tokens=1, seconds=of) for it, of in took.items()]
    engine = Engine(*drafts, Completion("2", "stop", output_tokens=1, seconds=0.5))
    heard = await replied(chair(engine, Crowd()), left_s=2.0)
    assert [it.deadline_s for it in engine.requests] == [2.0, 2.0, 2.0, 0.75]
    assert (heard.seconds, heard.tokens, heard.calls) == (1.75, 4, 4)
    assert (heard.reply, heard.move, heard.asides) == ("b", "2", ("a", "c", "2"))
    assert len({it.seed for it in engine.requests}) == 4


async def test_what_is_to_be_varied_is_drawn_anew_where_the_model_is_greedy() -> None:
    for greedy, own in ((True, VARIED), (False, None)):
        engine = Engine(*(Completion(it, "stop") for it in ("a", "b", "c", "1")))
        await replied(chair(engine, Crowd(), greedy=greedy))
        assert [it.temperature for it in engine.requests] == [own] * 3 + [None]


async def test_only_moves_are_held_to_those_that_are_listed() -> None:
    listed = Decoding({"line": 64, "text": 99, "code": 64}, listed=True)
    engine = Engine(Completion("hm", "stop"), Completion("Move: e4", "stop"))
    await replied(chair(engine, Thinker(), decoding=listed))
    thought, move = engine.requests
    assert thought.regex is None and thought.json_schema is None and thought.max_tokens == 99
    assert move.regex is not None and move.max_tokens == 64
    engine = Engine(*(Completion(it, "stop") for it in ("a", "b", "c", "1")))
    await replied(chair(engine, Crowd(), decoding=listed), games.load("debate").new(1))
    assert [it.regex for it in engine.requests] == [None] * 3 + ["Move: (1|2|3)"]


async def test_moves_are_listed_only_where_that_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """In chess that takes longer than all else of a move."""

    def never(state: State) -> None:
        raise AssertionError("moves are listed")

    monkeypatch.setattr(type(CHESS), "legal", never)
    assert (await replied(chair(Engine(Completion("Move: e4", "stop"))))).move == "e4"


async def test_a_stand_in_is_told_what_it_could_think_and_choose() -> None:
    engine = Engine(Completion("hm", "stop"))
    await replied(chair(engine, Thinker(), imitates=True))
    thought, move = (json.loads(it.gold or "") for it in engine.requests)
    assert thought["any"] == thought["good"] and "Move:" not in thought["good"]
    assert move["any"].startswith("Move: ")
    engine = Engine(*(Completion(it, "stop") for it in ("a", "b", "c", "1")))
    await replied(chair(engine, Crowd(), imitates=True))
    choice = json.loads(engine.requests[-1].gold or "")
    assert {choice["good"], choice["any"]} <= {"Move: 1", "Move: 2", "Move: 3"}


class Peeks:
    """Keeps what comes of a check."""

    varies = False

    def __init__(self) -> None:
        self.found: list[object] = []

    async def move(self, decision: Decision) -> Made:
        self.found = [decision.check(it) for it in ("e4", "e2e4", "d4")]
        with pytest.raises(NoMove, match="e9"):
            decision.check("Ke9")
        return Made("e4", "e4")


async def test_a_check_tells_which_moves_are_one_and_nothing_else() -> None:
    player, first = Peeks(), games.load("chess").new(3, openings="none")
    await replied(chair(Engine(), player), first)
    san, uci, other = player.found
    assert san == uci and san != other
    assert "board" not in repr(san).lower() and "moves" not in repr(san), "not even in a log"


async def test_a_reply_counts_as_cut_where_it_is_the_one_that_decided() -> None:
    engine = Engine(Completion("hm", "stop"), Completion("e4", "length", output_tokens=64))
    assert (await replied(chair(engine, Thinker()))).truncated
    engine = Engine(Completion("hm", "length", output_tokens=64), Completion("", "stop"))
    assert not (await replied(chair(engine, Thinker()))).truncated


class Stubborn:
    """Makes a move of its own of whatever asking raises."""

    async def move(self, decision: Decision) -> Made:
        with contextlib.suppress(Exception):
            await decision.ask([Message("user", "Go.")])
        return Made("e4", "e4")


async def test_what_could_not_be_had_is_no_models_move_whatever_a_strategy_makes_of_it() -> None:
    with pytest.raises(Void, match="connection refused"):
        await replied(chair(Engine(Completion.failed("connection refused")), Stubborn()))
    late = await replied(chair(Engine(Completion.late(seconds=2.0)), Stubborn()), left_s=2.0)
    assert (late.late, late.move) == (True, None)


class Grouped:
    """Asks in a group that cancels what is left when one of them fails."""

    async def move(self, decision: Decision) -> Made:
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(decision.ask([Message("user", "Go.")]))
        return Made("e4", "e4")


class Hasty:
    """Takes the first of two replies, and leaves the other one behind."""

    async def move(self, decision: Decision) -> Made:
        said = [Message("user", "Go.")]
        calls = [asyncio.ensure_future(decision.ask(said)) for _ in range(2)]
        done, _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        return Made(done.pop().result().text, "e4")


async def test_calls_that_others_cancelled_are_told_as_what_ended_them() -> None:
    engine = Engine(Completion.failed("connection refused"), Completion("e4", "stop"))
    with pytest.raises(Void, match="connection refused"):
        await replied(chair(engine, Grouped()))


async def test_all_that_is_asked_has_ended_when_the_try_has() -> None:
    """What came later would be nobody's: neither counted nor paid for."""
    open_calls, asked = 0, 0

    async def put(model: str, request: Request) -> Completion:
        nonlocal open_calls, asked
        open_calls, asked = open_calls + 1, asked + 1
        for _ in range(asked * 10):
            await asyncio.sleep(0)
        open_calls -= 1
        return Completion("e4", "stop", output_tokens=3, seconds=1.0)

    heard = await replied(Chair("m", Hasty(), put, DECODING, "1/0"))
    assert (open_calls, heard.calls, heard.tokens, heard.move) == (0, 2, 6, "e4")


class Broken:
    """Has a fault."""

    async def move(self, decision: Decision) -> Made:
        raise KeyError("nothing")


async def test_a_fault_of_ones_own_strategy_is_told_as_one() -> None:
    with refused("extension.failed", "games.strategy", kind=RunFailed) as caught:
        await replied(chair(Engine(), Broken()))
    assert "Broken" in caught.value.given and "KeyError: 'nothing'" in str(caught.value)
