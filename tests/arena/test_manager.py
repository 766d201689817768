"""The manager: jurors who do not play, votes that may be missing, programs in the real sandbox."""

import asyncio
import json

import pytest

from raybench import sandbox
from raybench.arena.chair import Decoding
from raybench.arena.manager import Manager, Programs
from raybench.games import Jury, Program
from raybench.sandbox import SandboxFaultError
from raybench.tournament.match import Void
from raybench.types import Completion, Request

DECODING = Decoding({"line": 8, "text": 8, "code": 8})
SCHEMA = {"type": "object", "properties": {"a": {"enum": [1, 2]}}}


class Jurors:
    """One cannot be reached, one declines, the others have an opinion."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Request]] = []

    async def put(self, model: str, request: Request) -> Completion:
        self.asked.append((model, request))
        await asyncio.sleep(0)
        if model == "gone":
            return Completion.failed("connection refused")
        if model == "shy":
            return Completion.failed("I would rather not", finish="refusal")
        return Completion(f'{{"a": {len(request.messages[0].content)}}}', "stop")


def manager(jurors: Jurors, *names: str) -> Manager:
    return Manager(jurors.put, Programs(), DECODING, "7/0", names)


async def test_every_juror_is_asked_every_question_and_missing_votes_are_null() -> None:
    jurors = Jurors()
    move = await manager(jurors, "x", "gone", "shy").bring(Jury(("A?", "B then A?"), SCHEMA))
    assert json.loads(move) == {
        "votes": [
            {"juror": "x", "replies": ['{"a": 2}', '{"a": 9}']},
            {"juror": "gone", "replies": [None, None]},
            {"juror": "shy", "replies": [None, None]},
        ]
    }
    requests = [request for _, request in jurors.asked]
    assert all(it.json_schema == SCHEMA and it.messages[0].foreign for it in requests)
    assert len({it.seed for it in requests}) == 6


async def test_a_jury_that_cannot_be_reached_makes_a_match_void() -> None:
    with pytest.raises(Void, match=r"no juror gave a reply \(gone\): connection refused") as caught:
        await manager(Jurors(), "gone").bring(Jury(("A?",), SCHEMA))
    assert caught.value.missing == "gone"


async def test_without_jurors_a_match_is_void() -> None:
    with pytest.raises(Void, match="nobody is left to judge"):
        await manager(Jurors()).bring(Jury(("A?",), SCHEMA))


@pytest.mark.slow
async def test_programs_run_in_the_sandbox() -> None:
    programs = Programs(1)
    told = json.loads(await programs.run(Program("print(input()[::-1])", stdin="abc")))
    assert told == {"status": "ok", "stdout": "cba\n", "stderr": "", "exit_code": 0}
    told = json.loads(await programs.run(Program("while True: pass", seconds=0.5)))
    assert told["status"] == "timeout"
    told = json.loads(await programs.run(Program("print('x' * 10**6)")))
    assert len(told["stdout"]) < 200_000


@pytest.mark.slow
async def test_who_waits_for_nothing_is_stopped_also_alone() -> None:
    program = Program("import time; time.sleep(60)", seconds=0.5)
    told = json.loads(await Programs(2).run(program))
    assert told["status"] == "timeout"


async def test_a_sandbox_that_fails_makes_a_match_void(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise SandboxFaultError("no processes left")

    monkeypatch.setattr(sandbox, "run", fails)
    with pytest.raises(Void, match="the sandbox failed: no processes left"):
        await Programs().run(Program("print()"))
