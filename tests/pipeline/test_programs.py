"""The programs' stage without a cluster: what travels to it, what it reads, what comes of it."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import contest
import pytest

from raybench.benchmarks import Draw, Grade, Row
from raybench.config import FleetConf
from raybench.errors import Problem
from raybench.fleet.link import Link
from raybench.pipeline import programs, rows, stages
from raybench.pipeline.generation import Generate
from raybench.pipeline.process import Block
from raybench.pipeline.programs import Programs, Slots
from raybench.pipeline.stages import Asking, Unit
from raybench.pipeline.units import Job
from raybench.sandbox import SandboxFaultError
from raybench.types import ModelSpec

ASKING = Asking({"m": ModelSpec("m", "simulated", "")}, 0)
SOLUTION = "input()\nprint(sum(map(int, input().split())))"
TESTS = 400


LINK = Link((), FleetConf(), None, {})


def shard_of(folder: Path, tests: int, count: int = 4) -> Job:
    """Write a shard of problems with so many tests each; return a job over all of it."""
    pairs = [(f"2\n{n} {n}\n", f"{2 * n}\n") for n in range(tests)]
    questions = [
        {**contest.row(pairs), "question_id": f"rb9_{n}", "solution": SOLUTION, "language": "en"}
        for n in range(count)
    ]
    path = folder / f"{tests}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in questions))
    return Job("m", "livecodebench", str(path), 0, count, 1)


def size(block: Block) -> int:
    return sum(len(text) for text in block[stages.UNITS])


def prompted(job: Job) -> Block:
    """Return the units that models are asked."""
    return stages.packed(Generate(LINK, ASKING)._units(job))


def replied(block: Block, response: str = contest.reply(SOLUTION)) -> Block:
    """Return what comes out of the stages of the models and the graders."""
    units = stages.unpacked(block)
    for unit in units:
        del unit["request"]
        unit |= {"finish": "stop", "error": None, "response": response}
    return stages.Grade(stages.Asking({}, 0))(stages.packed(units))


class Here:
    """A pool that is this process."""

    slots = 2

    def __init__(self, *_: Any) -> None:
        self.now = self.most = 0
        self.alone: list[bool] = []
        self.prepared = asyncio.Semaphore(2 * self.slots)

    async def ready(self) -> None:
        pass

    @asynccontextmanager
    async def soon(self) -> AsyncIterator[None]:
        async with self.prepared:
            yield

    async def call(self, function: Callable[..., Any], *given: Any, alone: bool = False) -> Any:
        """Call it; what it is given is a copy, as in a cluster."""
        self.alone.append(alone)
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.01)
        self.now -= 1
        unit, *others = given
        return function(json.loads(json.dumps(unit)), *others)


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Here:
    found = Here()
    monkeypatch.setattr(programs, "Pool", lambda *_, **__: found)
    return found


async def graded(block: Block) -> list[Unit]:
    return stages.unpacked(await Programs(Slots(), LINK, stages.Asking({}, 0), "parity")(block))


def test_what_travels_does_not_grow_with_the_tests_of_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = (prompted(shard_of(tmp_path, tests)) for tests in (1, TESTS))
    told = len(str(TESTS)) - len("1")  # the shards' names differ
    assert size(many) == size(few) + 4 * told
    assert size(replied(many)) == size(replied(few)) + 4 * told
    assert (tmp_path / f"{TESTS}.jsonl").stat().st_size > 10 * size(many)


async def test_a_program_meets_all_tests_of_its_own_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pool: Here
) -> None:
    seen: dict[str, Row] = {}

    def grade(row: Row, response: str, *, draw: Draw) -> Grade:
        seen[row["question_id"]] = row
        return Grade(True, "right", "print()")

    monkeypatch.setattr(contest.LCB, "grade", grade)
    job = shard_of(tmp_path, TESTS)
    units = await graded(replied(prompted(job)))
    assert [unit["key"] for unit in units] == ["rb9_0", "rb9_1", "rb9_2", "rb9_3"]
    assert [seen[unit["key"]] for unit in units] == rows.read(job.shard, 0, 4)
    assert all(unit["correct"] and unit["truth"] == SOLUTION for unit in units)
    assert not {"row", "place", "request"} & units[0].keys()


async def test_few_rows_are_in_memory_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pool: Here
) -> None:
    read, most = rows.at, 0
    held = 0

    def counted(place: rows.Place) -> Any:
        nonlocal held, most
        held += 1
        most = max(most, held)
        return read(place)

    def grade(row: Row, response: str, *, draw: Draw) -> Grade:
        nonlocal held
        held -= 1
        return Grade(True, "right", "print()")

    monkeypatch.setattr(rows, "at", counted)
    monkeypatch.setattr(contest.LCB, "grade", grade)
    units = await graded(replied(prompted(shard_of(tmp_path, 1, count=30))))
    assert len(units) == 30
    assert 1 < most <= 2 * Here.slots


async def test_what_the_sandbox_fails_at_has_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pool: Here
) -> None:
    why = "a slot of the sandbox died"

    async def call(function: Any, unit: Unit, *_: Any, alone: bool = False) -> Unit:
        if unit["key"] == "rb9_1":
            raise SandboxFaultError(Problem("sandbox.failed", why))
        return {**unit, "correct": True}

    monkeypatch.setattr(pool, "call", call)
    units = await graded(replied(prompted(shard_of(tmp_path, 1))))
    assert [unit["correct"] for unit in units] == [True, False, True, True]
    broken = units[1]
    assert broken["judge_error"] == why
    assert (broken["by"], broken["answer"]) == (None, None)
    assert not {"row", "place"} & broken.keys()


async def test_what_the_clock_stopped_is_tried_again_alone_and_that_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pool: Here
) -> None:
    ends = iter([("time limit", True), ("right", False)])

    def grade(row: Row, response: str, *, draw: Draw) -> Grade:
        reason, crowded = next(ends)
        return Grade(not crowded, reason, "print()", details={"crowded": crowded})

    monkeypatch.setattr(contest.LCB, "grade", grade)
    (unit,) = await graded(replied(prompted(shard_of(tmp_path, 1, count=1))))
    assert pool.alone == [False, True]
    assert (unit["correct"], unit["reason"]) == (True, "right")
    assert unit["details"] == {"crowded": False, "first_try": "time limit"}


@pytest.mark.sandbox
async def test_what_got_no_reply_runs_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pool: Here
) -> None:
    units = stages.unpacked(replied(prompted(shard_of(tmp_path, 1, count=2))))
    units[0] |= {"finish": "error", "error": "gone"}
    block = stages.Grade(stages.Asking({}, 0))(stages.packed(units))
    found = await graded(block)
    assert len(pool.alone) == 1
    assert (found[0]["reason"], found[0]["judge_error"]) == ("gone", None)
    assert not {"row", "place"} & found[0].keys()
