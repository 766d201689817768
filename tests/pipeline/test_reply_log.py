"""A reply that has arrived is on the disk, and is not asked for again."""

import asyncio
from array import array
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from pipeline.generating import NoQueue, generated
from refusals import refused

from raybench.engines.base import Placed
from raybench.errors import RunFailed
from raybench.fleet.link import Door, Link
from raybench.pipeline import reply_log, stages
from raybench.pipeline.generation import Generate
from raybench.pipeline.referee import Referee
from raybench.pipeline.reply_log import ReplyFiles, ReplyLog, ReplyWriter, key_of
from raybench.pipeline.stages import Asking, Unit
from raybench.pipeline.units import unit_id
from raybench.types import Completion, Message, ModelSpec, Request, Retries

MODEL = ModelSpec("far", "openai", "weights")
REPLY = {"response": "x \ud800\n\u2028", "finish": "stop"}


def request(text: str) -> Request:
    return Request((Message("user", text),), seed=7, max_tokens=16, temperature=0.0)


def line(unit: int, key: str, tail: str = '{"response": "yes"}\n') -> bytes:
    return f"{unit:016x} {key} {tail}".encode()


KEYS = [key_of(number, "far", request("?")) for number in range(4)]


def test_a_key_names_the_sample_the_model_and_what_was_asked() -> None:
    others = [
        key_of(0, "far", request("?")),
        key_of(1, "far", request("?")),
        key_of(0, "near", request("?")),
        key_of(0, "far", request("!")),
    ]
    assert len({*others}) == 4 and others[0] == KEYS[0]


async def test_what_one_process_writes_another_finds(tmp_path: Path) -> None:
    log = ReplyLog(tmp_path / "log")
    one, other = ReplyWriter(log), ReplyWriter(log)
    assert await other.find(KEYS) == {}
    for number in range(2):
        written = one.add(number, KEYS[number], REPLY)
        assert written is not None
        await written
        assert await other.find(KEYS) == dict.fromkeys(KEYS[: number + 1], REPLY)
    log.delete()
    assert await other.find(KEYS) == {}


def test_processes_that_were_started_elsewhere_write_to_the_same_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log = ReplyLog.of(Path("runs/index/1"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    ReplyFiles(log.folder).append(line(0, KEYS[0]))
    assert len([*(tmp_path / "runs/index/1" / reply_log.FOLDER).iterdir()]) == 1


def test_a_line_that_a_kill_cut_off_is_none(tmp_path: Path) -> None:
    (tmp_path / "1-a.txt").write_bytes(line(0, KEYS[0]) + line(1, KEYS[1])[:-1])
    (tmp_path / "2-b.txt").write_bytes(line(2, KEYS[2]))
    assert [*ReplyFiles(tmp_path).find(KEYS)] == [KEYS[0], KEYS[2]]


def test_closed_files_are_deleted_when_all_of_their_samples_are_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reply_log, "_FILE_BYTES", 1)
    files = ReplyFiles(tmp_path)
    for numbers in ((0, 1), (2,)):
        files.append(b"".join(line(number, KEYS[number]) for number in numbers))
    assert len([*tmp_path.iterdir()]) == 2
    files.delete_done(array("Q", [0, 2]))
    assert [*files.find(KEYS)] == [KEYS[0], KEYS[1]]
    monkeypatch.setattr(reply_log, "_FILE_BYTES", 1 << 20)  # still being written
    files.delete_done(array("Q", [0, 1, 2]))
    assert len([*tmp_path.iterdir()]) == 1


async def test_a_log_that_cannot_be_written_ends_the_run(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("a file where the folder should be")
    with refused("file.unwritable", kind=RunFailed):
        ReplyWriter(ReplyLog(tmp_path / "log")).add(0, KEYS[0], REPLY)


class Model(NoQueue):
    """A fleet of one model, and the door to it. It replies to a few requests, and then never."""

    def __init__(self, replies: int) -> None:
        self.asked: list[str] = []
        self._replies = replies

    async def fleet(self) -> "Model":
        return self

    async def stream(self, model: str, requests: Sequence[Request]) -> AsyncGenerator[Placed]:
        assert model == "far"
        self.asked += [request.messages[-1].content for request in requests]
        for place in range(len(requests)):
            if not self._replies:
                await asyncio.Event().wait()
            self._replies -= 1
            await asyncio.sleep(1)
            yield place, Completion(f"Answer: {place}", "stop", prompt_tokens=3)


def unit(number: int) -> Unit:
    named = {"model": "far", "benchmark": "mmlu_pro", "language": "en", "repeat": 0}
    asked = {"messages": [["user", f"question {number}", []]], "seed": 7}
    asked |= {"max_tokens": 16, "temperature": 0.0, "gold": None}
    return named | {"key": f"{number}", "request": asked}


async def generate(log: ReplyLog | None, model: Model, units: Sequence[Unit]) -> list[Unit]:
    stage = Generate(cast(Link, None), Asking({"far": MODEL}, 0, log=log))
    return await generated(stage, units, model)


@pytest.mark.virtual_time
async def test_replies_that_came_before_a_kill_are_not_asked_for_again(tmp_path: Path) -> None:
    log, asked = ReplyLog(tmp_path / "log"), [*map(unit, range(5))]
    killed = Model(replies=3)
    under_way = asyncio.create_task(generate(log, killed, asked))
    for arrived in range(1, 4):
        await asyncio.sleep(1.0 if arrived > 1 else 1.001)
        # Each is there when it has arrived, though the others are still to come.
        assert len(log.folder.joinpath(*_names(log)).read_bytes().splitlines()) == arrived
    under_way.cancel()
    again = Model(replies=9)
    units = await generate(log, again, asked)
    assert again.asked == ["question 3", "question 4"]
    assert [it["response"] for it in units] == [f"Answer: {it}" for it in (0, 1, 2, 0, 1)]
    assert all("request" not in it and it["prompt_tokens"] == 3 for it in units)
    nobody = Model(replies=0)
    assert await generate(log, nobody, asked) == units and not nobody.asked


def _names(log: ReplyLog) -> list[str]:
    return [path.name for path in log.folder.iterdir()]


@pytest.mark.virtual_time
async def test_a_failure_is_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, asked = ReplyLog(tmp_path / "log"), [unit(0)]

    async def failing(self: Model, model: str, requests: Sequence[Request]) -> Any:
        yield 0, Completion.failed("connection refused")

    with monkeypatch.context() as patched:
        patched.setattr(Model, "stream", failing)
        (failed,) = await generate(log, Model(1), asked)
        assert failed["finish"] == "error"
    (replied,) = await generate(log, again := Model(1), asked)
    assert replied["finish"] == "stop" and again.asked == ["question 0"]


async def test_without_a_log_and_for_a_stand_in_nothing_is_written(tmp_path: Path) -> None:
    stand_in = ModelSpec("far", "simulated", "")
    asking = Asking({"far": stand_in}, 0, log=ReplyLog(tmp_path / "log"))
    assert asking.key(unit(0)) is None
    assert Asking({"far": MODEL}, 0).key(unit(0)) is None
    assert ReplyWriter(None).add(0, KEYS[0], REPLY) is None
    assert await ReplyWriter(None).find(KEYS) == {}


@pytest.mark.virtual_time
async def test_a_judge_is_not_asked_again_either(tmp_path: Path) -> None:
    log, requests = ReplyLog(tmp_path / "log"), {"a": request("a"), "b": request("b")}
    units = {"a": unit_id(unit(0)), "b": unit_id(unit(1))}
    killed, again = Model(replies=1), Model(replies=9)
    judge = Referee(MODEL, None)
    asking = judge.tell(cast(Door, killed), requests, units, ReplyWriter(log))
    under_way = asyncio.create_task(asking)
    await asyncio.sleep(1.05)
    under_way.cancel()
    told, calls = await judge.tell(cast(Door, again), requests, units, ReplyWriter(log))
    assert again.asked == ["b"]
    assert [it.text for it in told.values()] == ["Answer: 0"] * 2
    assert calls == [["far", 3, 0, "stop"]] * 2, "both were paid for in this run"


def test_a_unit_holds_all_of_a_completion_that_a_judge_needs() -> None:
    reply = Completion("a", "length", "b", 1, 2, 3, 0.5, error="c", token_limit=9)
    assert stages.completion_of(stages.reply_of(reply)) == reply
    reply = replace(reply, token_limit=None, retries=Retries(2, 1))
    assert stages.completion_of(stages.reply_of(reply)) == reply
