"""The graph on a real Ray, with stand-ins for models: what is asked, what is lost, what dies."""

import asyncio
import dataclasses
import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pyarrow as pa
import pytest
import pytest_asyncio
from http_endpoint import Busy
from refusals import refused

from raybench import benchmarks
from raybench.config import DataConf, FleetConf
from raybench.fleet import Fleet, open_fleet
from raybench.fleet.link import Link
from raybench.pipeline import datasets, graph
from raybench.pipeline.checker import Verdicts, checked
from raybench.pipeline.datasets import Selection
from raybench.pipeline.responses import Responses
from raybench.pipeline.stages import UNIT, Asking, Unit, response
from raybench.pipeline.units import Questions, jobs, unit_id
from raybench.types import Completion, ModelSpec

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.asyncio(loop_scope="module"),
]

ABLE = ModelSpec("able", "simulated", "", options={"ability": 1.0, "spread": 0.0})
DULL = ModelSpec("dull", "simulated", "", options={"ability": 0.0, "spread": 0.0})
SLOW = ModelSpec("slow", "simulated", "", options={"latency_s": 5.0})
LATE = ModelSpec("late", "simulated", "", options={"latency_s": 60.0})
GONE = ModelSpec("gone", "simulated", "", options={"infra_error": 1.0})
JUDGE = ModelSpec("judge", "simulated", "")
MODELS = (ABLE, DULL, SLOW, LATE, GONE, JUDGE)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet() -> AsyncIterator[Fleet]:
    async with open_fleet(MODELS, FleetConf(), lambda text: None, ray=True) as opened:
        yield opened


def questions(folder: Path, benchmark: str, repeats: int = 1) -> Questions:
    (found,) = datasets.prepare(
        [benchmarks.load(benchmark)], DataConf(source="samples"), Selection(), folder
    )
    shards = [(str(shard), len(shard.read_bytes().splitlines())) for shard in found.shards]
    return Questions(benchmark, shards, repeats)


async def asked(
    fleet: Fleet,
    models: Sequence[str],
    parts: Sequence[Questions],
    *,
    checker: str = "",
    done: Sequence[int] = (),
    awake: int = 1,
    **settings: Any,
) -> list[Unit]:
    by_name = {model.name: model for model in MODELS}
    asking = Asking(by_name, 0, **settings)
    work = graph.Work(
        jobs([[model] for model in models], len(models), parts),
        asking,
        checker=Verdicts(by_name[checker], 0, asking.responses) if checker else None,
        done=done,
        awake=awake,
    )
    found = []
    async for units in graph.stream(work, Link.to(fleet, MODELS, FleetConf())):
        found += units
    return found


def names(units: Sequence[Unit]) -> Counter[tuple[Any, ...]]:
    parts = ("model", "benchmark", "language", "key", "repeat")
    return Counter(tuple(unit[part] for part in parts) for unit in units)


async def test_every_unit_comes_once_and_is_graded(fleet: Fleet, tmp_path: Path) -> None:
    parts = [questions(tmp_path, "mgsm"), questions(tmp_path, "mmlu_pro", repeats=3)]
    units = await asked(fleet, ["able", "dull"], parts)
    rows = {part.benchmark: sum(count for _, count in part.shards) for part in parts}
    assert len(units) == 2 * (rows["mgsm"] + 3 * rows["mmlu_pro"])
    assert set(names(units).values()) == {1}
    for unit in units:
        assert unit["correct"] == (unit["model"] == "able"), unit
        assert (unit["by"], unit["finish"], unit["judge_error"]) == ("script", "stop", None)
    assert not {"row", "request"} & units[0].keys()


def scheduling() -> list[str]:
    from ray.data._internal.execution.streaming_executor import StreamingExecutor

    threads = threading.enumerate()
    return [str(thread) for thread in threads if isinstance(thread, StreamingExecutor)]


@pytest.mark.parametrize("under_way", [False, True])
async def test_who_is_interrupted_leaves_no_thread_behind_that_uses_ray(
    fleet: Fleet, tmp_path: Path, under_way: bool
) -> None:
    waiting = asyncio.create_task(asked(fleet, ["late"], [questions(tmp_path, "mmlu_pro")]))
    await asyncio.sleep(0)
    while under_way and not scheduling():
        await asyncio.sleep(0.1)
    begun = time.monotonic()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert scheduling() == []
    assert time.monotonic() - begun < 20


async def test_who_stops_listening_leaves_no_thread_behind_that_uses_ray(
    fleet: Fleet, tmp_path: Path
) -> None:
    parts = [questions(tmp_path, "mmlu_pro")]
    work = graph.Work(
        jobs([["able"], ["late"]], 2, parts), Asking({model.name: model for model in MODELS}, 0)
    )
    async with aclosing(graph.stream(work, Link.to(fleet, MODELS, FleetConf()))) as stream:
        async for _ in stream:
            assert scheduling()
            break
    assert scheduling() == []


async def test_what_is_done_is_not_asked_again(fleet: Fleet, tmp_path: Path) -> None:
    part = questions(tmp_path, "mmlu_pro", repeats=2)
    first = await asked(fleet, ["able"], [part])
    done = [unit_id(unit) for unit in first if unit["repeat"] == 0]
    rest = await asked(fleet, ["able"], [part], done=done)
    assert names(rest) == names([unit for unit in first if unit["repeat"] == 1])


async def test_a_block_of_which_all_is_done_is_no_end(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes without rows, and without columns."""
    monkeypatch.setattr("ray.get", lambda blocks: blocks)
    some = pa.table({UNIT: ['{"number": 1}', '{"number": 2}']})
    bundles = iter([SimpleNamespace(block_refs=it) for it in ([pa.table({})], [some], [])])
    assert graph._fetched(bundles) == ['{"number": 1}', '{"number": 2}']
    assert graph._fetched(bundles) is None


async def test_an_outage_is_no_wrong_answer(fleet: Fleet, tmp_path: Path) -> None:
    units = await asked(fleet, ["gone"], [questions(tmp_path, "mmlu_pro")])
    assert {(unit["finish"], unit["by"], unit["answer"]) for unit in units} == {
        ("error", None, None)
    }
    assert all("simulated infrastructure error" in unit["error"] for unit in units)


async def test_the_checker_sees_what_the_script_does_not_call_right(
    fleet: Fleet, tmp_path: Path
) -> None:
    part = questions(tmp_path, "math_500")
    units = await asked(fleet, ["able", "dull"], [part], checker="judge")
    for unit in units:
        if unit["model"] == "able":
            assert (unit["correct"], unit["by"]) == (True, "script")
            assert "checker" not in unit
        elif unit["by"] == "checker":  # a stand-in says yes where both are the same text
            assert (unit["correct"], unit["checker"]) == (False, "No")
        else:
            assert unit["answer"] is None
    assert any(unit["by"] == "checker" for unit in units)


@pytest.mark.parametrize(
    ("said", "correct", "reason"),
    [
        ("Yes", True, "right, says the checker"),
        ("No.", False, "wrong, says the checker too"),
        ("Yes, they are equivalent", False, "wrong: the checker says neither yes nor no"),
    ],
)
async def test_only_a_clear_yes_is_one(said: str, correct: bool, reason: str) -> None:
    unit = checked(Completion(said, "stop"))
    assert (unit["correct"], unit["by"]) == (correct, "checker")
    assert unit["reason"].startswith(reason)
    assert "judge_error" not in unit  # which would withhold the score


async def test_a_checker_that_thinks_may() -> None:
    thinks = dataclasses.replace(JUDGE, reasoning=True)
    check = Verdicts(thinks, 0, None)
    assert check.request("1", "2").max_tokens is None
    check = Verdicts(JUDGE, 0, None)
    assert check.request("1", "2").max_tokens == 16


async def test_a_checker_that_is_silent_leaves_the_scripts_verdict_and_says_so(
    fleet: Fleet, tmp_path: Path
) -> None:
    units = await asked(fleet, ["dull"], [questions(tmp_path, "math_500")], checker="gone")
    silent = [unit for unit in units if unit["judge_error"]]
    assert silent
    assert all(unit["by"] == "script" and not unit["correct"] for unit in silent)
    assert "simulated infrastructure error" in silent[0]["judge_error"]


async def test_a_row_that_breaks_its_benchmark_costs_itself(fleet: Fleet, tmp_path: Path) -> None:
    part = questions(tmp_path, "mmlu_pro")
    shard = Path(part.shards[0][0])
    rows = [json.loads(line) for line in shard.read_bytes().splitlines()]
    del rows[3]["options"]
    shard.write_text("".join(json.dumps(row) + "\n" for row in rows))
    units = await asked(fleet, ["able"], [part])
    broken = [unit for unit in units if not unit["correct"]]
    assert [unit["key"] for unit in broken] == [str(rows[3]["question_id"])]
    assert broken[0]["finish"] == "error"
    assert "cannot be put" in broken[0]["error"]
    assert len(units) == len(rows)


async def test_what_breaks_the_whole_pipeline_is_told_in_a_line(
    fleet: Fleet, tmp_path: Path
) -> None:
    part = questions(tmp_path, "mmlu_pro")
    Path(part.shards[0][0]).unlink()
    with refused("ray.lost"):
        await asked(fleet, ["able"], [part])


async def test_responses_of_an_earlier_run_are_taken(fleet: Fleet, tmp_path: Path) -> None:
    cache = Responses(tmp_path / "responses.db", {"able": "known"})
    cache.prepare()
    part = questions(tmp_path, "mmlu_pro")
    first = await asked(fleet, ["able"], [part], responses=cache)
    assert not any(unit["reused"] for unit in first)
    some = {unit["address"]: response(unit) | {"response": "Answer: Z"} for unit in first[:5]}
    cache.put(some)
    again = await asked(fleet, ["able"], [part], responses=cache)
    assert {unit["address"] for unit in again if unit["reused"]} == some.keys()
    assert {unit["response"] for unit in again if unit["reused"]} == {"Answer: Z"}
    assert names(again) == names(first)


async def test_what_a_checker_said_in_an_earlier_run_is_not_asked_again(
    fleet: Fleet, tmp_path: Path
) -> None:
    cache = Responses(tmp_path / "responses.db", {"judge": "known"})
    cache.prepare()
    part = questions(tmp_path, "math_500")
    first = await asked(fleet, ["dull"], [part], checker="judge", responses=cache)
    again = await asked(fleet, ["dull"], [part], checker="judge", responses=cache)

    def calls(units: Sequence[Unit]) -> int:
        return sum(len(unit.get("checks", ())) for unit in units)

    def verdicts(units: Sequence[Unit]) -> dict[Any, Any]:
        return {(u["key"], u["language"]): (u["by"], u["correct"], u["reason"]) for u in units}

    assert calls(first) > 0
    assert calls(again) == 0
    assert verdicts(again) == verdicts(first)


async def test_as_many_processes_ask_as_engines_need_but_one_where_an_endpoint_is() -> None:
    ours = Link((ABLE,), FleetConf(), None, {})
    assert [graph.generators(ours, awake) for awake in (1, 8, 9, 64)] == [1, 1, 2, 8]
    remote = dataclasses.replace(ABLE, name="remote", engine="openai")
    assert graph.generators(Link((ABLE, remote), FleetConf(), None, {}), 64) == 1


async def test_several_processes_ask_every_unit_once(fleet: Fleet, tmp_path: Path) -> None:
    part = questions(tmp_path, "mgsm", repeats=4)
    under_way = asyncio.create_task(asked(fleet, ["able", "slow"], [part], awake=16))
    before = _workers("MapBatches(Generate)")
    async with asyncio.timeout(60):
        while len(_workers("MapBatches(Generate)") - before) < 2:
            await asyncio.sleep(0.1)
    units = await under_way
    assert len(units) == 2 * 4 * sum(count for _, count in part.shards)
    assert set(names(units).values()) == {1}


async def test_what_an_endpoint_is_waited_for_is_told(fleet: Fleet, tmp_path: Path) -> None:
    said: list[str] = []
    part = questions(tmp_path, "mmlu_pro")
    with Busy() as server:
        far = ModelSpec("far", "openai", "far", options={"base_url": server.url})
        work = graph.Work(jobs([["far"]], 1, [part]), Asking({"far": far}, 0))
        stream = graph.stream(work, Link((far,), FleetConf(), None, {}), said.append)
        units = [unit async for block in stream for unit in block]
    assert {unit["finish"] for unit in units} == {"stop"}
    assert any("too busy" in remark and "trying again" in remark for remark in said), said


@pytest.mark.parametrize(
    ("stage", "after_s"),
    [
        ("Prompt", 0),  # it goes when all questions are read
        ("Generate", 2),  # into the first batches: a reply takes five seconds
        ("Grade", 2),
    ],
)
async def test_a_process_of_a_stage_may_die(
    fleet: Fleet, tmp_path: Path, stage: str, after_s: float
) -> None:
    part = questions(tmp_path, "mgsm")
    before = _workers(f"MapBatches({stage})")  # of earlier graphs, on their way out
    under_way = asyncio.create_task(asked(fleet, ["slow"], [part]))
    async with asyncio.timeout(60):
        while not (victims := _workers(f"MapBatches({stage})") - before):
            await asyncio.sleep(0.1)
    await asyncio.sleep(after_s)
    os.kill(victims.pop(), signal.SIGKILL)
    units = await under_way
    assert len(units) == sum(count for _, count in part.shards)
    assert set(names(units).values()) == {1}
    assert {unit["finish"] for unit in units} == {"stop"}


def _workers(title: str) -> set[int]:
    """Return the workers of this Ray that bear a title."""
    family = psutil.Process().children(recursive=True)
    return {process.pid for process in family if title in _title(process)}


def _title(process: psutil.Process) -> str:
    with suppress(psutil.Error):  # it may be gone by now
        return " ".join(process.cmdline())
    return ""
