"""The manager: jurors who do not play, votes that may be missing, programs in the real sandbox."""

import asyncio
import json
import os
import threading
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest

from raybench import sandbox
from raybench.arena import manager as manager_of
from raybench.arena import rooms
from raybench.arena.chair import Decoding
from raybench.arena.manager import Manager, Programs
from raybench.arena.room import House, Room
from raybench.errors import Problem
from raybench.games import Jury, Program
from raybench.sandbox import Limits, SandboxFaultError
from raybench.tournament.match import Terms, Void
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
        if model == "gone" or (model == "half" and request.messages[0].content == "A?"):
            return Completion.failed("connection refused")
        if model == "shy":
            return Completion.failed("I would rather not", finish="refusal")
        if model == "long":
            return Completion("{", "length", output_tokens=512)
        return Completion(f'{{"a": {len(request.messages[0].content)}}}', "stop")


def manager(jurors: Jurors, *names: str) -> Manager:
    return Manager(jurors.put, Programs(), DECODING, "7/0", names)


async def test_every_juror_is_asked_every_question_and_missing_votes_are_null() -> None:
    jurors = Jurors()
    move = await manager(jurors, "x", "gone", "shy", "long").bring(
        Jury(("A?", "B then A?"), SCHEMA)
    )
    assert json.loads(move) == {
        "votes": [
            {"juror": "x", "replies": ['{"a": 2}', '{"a": 9}']},
            {"juror": "gone", "replies": [None] * 2, "why": ["error: connection refused"] * 2},
            {"juror": "shy", "replies": [None] * 2, "why": ["refusal: I would rather not"] * 2},
            {"juror": "long", "replies": ["{"] * 2, "why": ["cut off after 512 tokens"] * 2},
        ]
    }
    requests = [request for _, request in jurors.asked]
    assert all(it.json_schema == SCHEMA and it.messages[0].foreign for it in requests)
    assert len({it.seed for it in requests}) == 8


async def test_a_jury_that_is_asked_again_has_other_seeds_also_after_a_resume() -> None:
    need, whole, cut = Jury(("A?",), SCHEMA), Jurors(), Jurors()
    one = manager(whole, "x")
    await one.bring(need)
    await one.bring(need)
    await Manager(cut.put, Programs(), DECODING, "7/0", ("x",), asked=1).bring(need)
    first, second = (request.seed for _, request in whole.asked)
    assert first != second
    assert [request.seed for _, request in cut.asked] == [second]


async def test_a_jury_that_cannot_be_reached_makes_a_match_void() -> None:
    with pytest.raises(Void, match=r"\(gone\): connection refused") as caught:
        await manager(Jurors(), "gone").bring(Jury(("A?",), SCHEMA))
    assert caught.value.missing == "gone"


async def test_a_jury_of_which_half_the_requests_fail_could_not_be_had_either() -> None:
    """Its replies would decide nothing, and the match would be void as if it had been heard."""
    with pytest.raises(Void, match=r"\(half\): connection refused") as caught:
        await manager(Jurors(), "half").bring(Jury(("A?", "B?"), SCHEMA))
    assert caught.value.missing == "half"


async def test_without_jurors_a_match_is_void() -> None:
    with pytest.raises(Void, match="judge"):
        await manager(Jurors()).bring(Jury(("A?",), SCHEMA))


@pytest.mark.sandbox
async def test_programs_run_in_the_sandbox() -> None:
    programs = Programs(1)
    told = json.loads(await programs.run(Program("print(input()[::-1])", stdin="abc")))
    assert told == {"status": "ok", "stdout": "cba\n", "stderr": "", "exit_code": 0}
    told = json.loads(await programs.run(Program("while True: pass", seconds=0.5)))
    assert told["status"] == "timeout"
    told = json.loads(await programs.run(Program("print('x' * 10**6)")))
    assert len(told["stdout"]) < 200_000


@pytest.mark.sandbox
async def test_who_waits_for_nothing_is_stopped_for_it_and_run_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = list[sandbox.Outcome]()
    run = sandbox.run

    def counted(*given: Any, **named: Any) -> sandbox.Outcome:
        ended.append(run(*given, **named))
        return ended[-1]

    monkeypatch.setattr(sandbox, "run", counted)
    program = Program("import time; time.sleep(60)", seconds=0.5)
    told = json.loads(await Programs(2).run(program))
    assert told["status"] == "timeout"
    assert ["did nothing" in it.reason for it in ended] == [True]


async def drain() -> None:
    """Let the loop do whatever it can without an event from elsewhere."""
    for _ in range(100):
        await asyncio.sleep(0)


class Sandbox:
    """One that is told how programs end, and when."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, crowded: Sequence[str] = ()) -> None:
        self.began, self.ended, self.at_once = list[str](), list[str](), 0
        self.ended_before: dict[str, int] = {}
        """How many had ended when a program began, the last time."""
        self.crowded = [*crowded]
        """Programs that are kept from the processor the first time."""
        self._running = 0
        self._over: dict[str, threading.Event] = defaultdict(threading.Event)
        monkeypatch.setattr(sandbox, "run", self._run)
        monkeypatch.setattr(manager_of, "_SOON_S", 0.01)

    def end(self, *sources: str) -> None:
        """Let programs end."""
        for source in sources:
            self._over[source].set()

    async def until(self, *began: str) -> None:
        """Wait until these have begun, in this order."""
        async with asyncio.timeout(30):
            while self.began != [*began]:
                await asyncio.sleep(0.002)

    def _run(self, source: str, *, stdin: str, limits: Limits) -> sandbox.Outcome:
        self.ended_before[source] = len(self.ended)
        self.began.append(source)
        self._running += 1
        self.at_once = max(self.at_once, self._running)
        assert self._over[source].wait(30)
        self._running -= 1
        self.ended.append(source)
        late = source in self.crowded
        if late:
            self.crowded.remove(source)
        told = ("timeout" if late else "ok", "", None, None, 0.1, limits.wall_s, 1.0, source, "")
        return sandbox.Outcome(*told, (), "namespaces", "3.12", "6.1", limits)  # type: ignore[arg-type]


async def test_secrets_are_drawn_where_programs_are_run(monkeypatch: pytest.MonkeyPatch) -> None:
    given = list[str]()

    def run(source: str, *, stdin: str, limits: Limits) -> sandbox.Outcome:
        given.append(stdin)
        told = ("ok", "", 0, None, 0.1, 0.1, 1.0, "", "")
        return sandbox.Outcome(*told, (), "namespaces", "3.12", "6.1", limits)  # type: ignore[arg-type]

    monkeypatch.setattr(sandbox, "run", run)
    program = Program("", "a c0ffee, another c0ffee", secret="c0ffee")
    told = [json.loads(await Programs().run(program)) for _ in range(2)]
    assert given == [f"a {it['secret']}, another c0ffee" for it in told]
    assert len({"c0ffee", *(it["secret"] for it in told)}) == 3
    assert [len(it["secret"]) for it in told] == [6, 6]
    assert "secret" not in json.loads(await Programs().run(Program("")))


async def test_one_that_takes_long_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    box, programs = Sandbox(monkeypatch), Programs(1)
    box.end("quick 1", "quick 2")
    sources = ("sleeps", "quick 1", "quick 2")
    runs = [asyncio.create_task(programs.run(Program(it))) for it in sources]
    await asyncio.gather(*runs[1:])
    assert box.ended == ["quick 1", "quick 2"] and not runs[0].done()
    box.end("sleeps")
    assert json.loads(await runs[0])["stdout"] == "sleeps"


async def test_so_many_at_once_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three that take long beside the one of the core; and all places come back."""
    box, programs = Sandbox(monkeypatch), Programs(1)
    names = [f"sleeps {number}" for number in range(6)]
    for _ in range(2):
        box.began.clear()
        runs = [asyncio.create_task(programs.run(Program(it))) for it in names]
        await box.until(*names[:4])
        await drain()
        assert box.began == names[:4]
        runs[4].cancel()  # a match that is stopped waits no longer
        box.end(*names)
        await asyncio.gather(*runs, return_exceptions=True)
        assert box.at_once == 4 and sorted(box.ended) == sorted(names[:4] + names[5:])
        box.ended.clear()
        box._over.clear()


async def test_one_that_others_kept_from_the_processor_is_run_again_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    box, programs = Sandbox(monkeypatch, crowded=["kept"]), Programs(2)
    runs = [asyncio.create_task(programs.run(Program(it))) for it in ("kept", "long", "short")]
    await box.until("kept", "long", "short")
    box.end("kept")
    while not box.ended:
        await asyncio.sleep(0.002)
    later = asyncio.create_task(programs.run(Program("later")))
    box.end("short", "later")
    await drain()
    assert box.began == ["kept", "long", "short"]  # not while another one runs
    box.end("long")
    await asyncio.gather(*runs, later)
    assert box.began == ["kept", "long", "short", "kept", "later"]
    assert box.ended.index("long") < box.ended_before["kept"], "not while another one runs"
    assert json.loads(runs[0].result())["status"] == "ok"


async def test_programs_that_run_are_waited_for_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where nobody wants their outcome any more."""
    box, programs = Sandbox(monkeypatch), Programs(1)
    run = asyncio.create_task(programs.run(Program("long")))
    await box.until("long")
    run.cancel()
    closing = asyncio.create_task(programs.close())
    await drain()
    assert run.cancelled() and not closing.done()
    box.end("long")
    await closing
    assert box.ended == ["long"]


async def test_a_sandbox_that_fails_makes_a_match_void(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise SandboxFaultError(Problem("sandbox.failed", "no processes left"))

    monkeypatch.setattr(sandbox, "run", fails)
    with pytest.raises(Void, match="sandbox"):
        await Programs().run(Program("print()"))


@pytest.mark.parametrize(
    ("cores", "sharing", "at_once"), [(None, 1, 1), (1, 1, 1), (8, 1, 7), (8, 2, 3), (8, 16, 1)]
)
def test_processes_of_a_machine_share_its_cores(
    cores: int | None, sharing: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert manager_of.programs_at_once(sharing) == at_once


async def test_a_room_of_the_cluster_counts_the_cores_of_its_own_node(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And not the driver's: a head may have few."""
    had: list[int | None] = []
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(Room, "__init__", lambda self, fleet, house: had.append(house.slots))
    monkeypatch.setattr(rooms, "_collect_seldom", lambda: None)
    for slots in (None, 5):
        house = House(rules={}, terms=Terms(), decoding=DECODING, slots=slots)
        rooms._Remote(None, house, 3)  # type: ignore[arg-type]
    assert had == [21, 5]
