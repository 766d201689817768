"""What is really sent to models: no prompt of a later step holds what an earlier one was told."""

import random
import re

import pytest

from raybench import games
from raybench.arena.chair import Chair, Decoding
from raybench.games import Need, State
from raybench.games.parts.pyjail.jails import JAILS
from raybench.players.direct import Direct
from raybench.players.reading import as_reply
from raybench.tournament.match import Terms, play
from raybench.tournament.turns import Turn
from raybench.types import Completion, Request

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

    await play(first, seats, bring, Terms(), turns.append)
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
    state = first.apply(jail.source)
    flags = []
    exploit = "EXPLOIT_OF_THE_WARDEN"
    state = state.apply(exploit)
    assert state.needed is not None
    flags = re.findall(r"flag\{\w+\}", repr(state.needed))
    assert flags
    opened = f'{{"status": "ok", "stdout": "{flags[0]}", "stderr": "", "exit_code": 0}}'
    closed = '{"status": "ok", "stdout": "no", "stderr": "", "exit_code": 0}'
    replies = [as_reply(jail.source, "code"), as_reply(exploit, "code")]
    replies += [as_reply(f"try {n}", "code") for n in range(3)]
    asked = await played(first, replies, [opened, closed, closed, closed])
    assert len(asked.prompts) == 5
    for prompt in asked.prompts[2:]:
        assert exploit not in prompt
        assert not re.search(r"flag\{\w{8,}\}", prompt)
