"""A referee says again what it said once, whichever run asks."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from raybench.engines.base import Placed
from raybench.fleet.link import Door
from raybench.pipeline.referee import Referee
from raybench.pipeline.reply_log import ReplyWriter
from raybench.pipeline.responses import Responses
from raybench.types import Completion, Message, ModelSpec, Request

MODEL = ModelSpec("j", "vllm", "w")
UNITS, NO_LOG = {"a": 1}, ReplyWriter(None)
REQUESTS = {"a": Request((Message("user", "Is it right?"),), 7, 16, 0.0)}


class Spoken:
    """A fleet and the door to it: one reply for all, and how often it was asked for."""

    def __init__(self, reply: Completion) -> None:
        self.reply, self.asked = reply, 0

    async def fleet(self) -> "Spoken":
        return self

    async def stream(self, model: str, requests: Sequence[Request]) -> AsyncGenerator[Placed]:
        self.asked += len(requests)
        for place in range(len(requests)):
            yield place, self.reply

    def door(self) -> Door:
        return cast(Door, cast(Any, self))


@pytest.fixture
def referee(tmp_path: Path) -> Referee:
    responses = Responses(tmp_path / "responses.db", {"j": "its identity"})
    responses.prepare()
    return Referee(MODEL, responses)


@pytest.mark.parametrize(
    "reply",
    [
        Completion("yes", "stop"),
        Completion("ye", "length"),
        Completion("", "thinking", error="the token limit came before the answer began"),
        Completion("", "empty", error="it stopped without a word"),
    ],
)
async def test_what_it_said_it_says_again_and_nobody_asks(
    referee: Referee, reply: Completion
) -> None:
    there = Spoken(reply)
    first, calls = await referee.tell(there.door(), REQUESTS, UNITS, NO_LOG)
    again, none = await referee.tell(there.door(), REQUESTS, UNITS, NO_LOG)
    assert (there.asked, len(calls), none) == (1, 1, [])
    assert first == again == {"a": reply}


async def test_a_reply_that_failed_is_asked_for_again(referee: Referee) -> None:
    there = Spoken(Completion.failed("gone"))
    for _ in range(2):
        await referee.tell(there.door(), REQUESTS, UNITS, NO_LOG)
    assert there.asked == 2


async def test_one_of_unknown_identity_is_asked_anew(tmp_path: Path) -> None:
    responses = Responses(tmp_path / "responses.db")
    responses.prepare()
    other = Referee(ModelSpec("k", "openai", "w"), responses)
    there = Spoken(Completion("yes", "stop"))
    for _ in range(2):
        await other.tell(there.door(), REQUESTS, UNITS, NO_LOG)
    assert there.asked == 2
