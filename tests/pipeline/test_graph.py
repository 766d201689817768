"""The graph on a real Ray, with stand-ins for models: what is asked, what is lost, what dies."""

import asyncio
import dataclasses
import json
import os
import signal
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pyarrow as pa
import pytest
import pytest_asyncio
from http_endpoint import Busy, Handler, HttpEndpoint
from refusals import refused

from raybench import benchmarks
from raybench.config import DataConf, FleetConf
from raybench.fleet import Fleet, open_fleet
from raybench.fleet.link import Link
from raybench.fleet.simulated.engine import INFRA_ERROR
from raybench.pipeline import datasets, graph
from raybench.pipeline.checker import Verdicts
from raybench.pipeline.datasets import Selection
from raybench.pipeline.reply_log import ReplyLog
from raybench.pipeline.responses import Responses
from raybench.pipeline.stage_reports import Report
from raybench.pipeline.stages import UNITS, Asking, Unit, response
from raybench.pipeline.units import Questions, jobs, unit_id
from raybench.types import ModelSpec

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.asyncio(loop_scope="module"),
]

ABLE = ModelSpec("able", "simulated", "", options={"ability": 1.0, "spread": 0.0})
DULL = ModelSpec("dull", "simulated", "", options={"ability": 0.0, "spread": 0.0})
SLOW = ModelSpec("slow", "simulated", "", options={"latency_s": 1.0})
LATE = ModelSpec("late", "simulated", "", options={"latency_s": 600.0})
GONE = ModelSpec("gone", "simulated", "", options={"infra_error": 1.0})
JUDGE = ModelSpec("judge", "simulated", "")
BROKEN = 3
"""The number of the row that breaks its benchmark."""
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
        jobs(models, parts),
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


def refuse_task(function: Callable[..., Any]) -> Any:
    """Stand in for what Ray Data makes tasks with: questions in memory need no worker process."""
    raise AssertionError(f"{function.__name__} would be a task of Ray")


@dataclasses.dataclass
class Asked:
    """Two graphs: one asks models of all kinds, and one asks again for what is left."""

    parts: list[Questions]
    first: list[Unit]
    replaced: dict[str, Any]
    """Replies of the first that the second finds changed, by what was asked."""
    done: set[int]
    """What the second need not ask."""
    again: list[Unit]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def both(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Asked:
    folder = tmp_path_factory.mktemp("both")
    cache = Responses(folder / "responses.db", {"able": "known", "judge": "known"})
    cache.prepare()
    parts = [
        questions(folder, "mgsm"),
        questions(folder, "mmlu_pro", repeats=3),
        questions(folder, "math_500"),
    ]
    models = ["able", "dull", "gone"]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("ray.data.read_api.cached_remote_fn", refuse_task)
        first = await asked(fleet, models, parts, checker="judge", responses=cache)
    multiple = [it for it in of(first, "mmlu_pro", "able") if it["repeat"] == 2]
    replaced = {it["address"]: response(it) | {"response": "Answer: Z"} for it in multiple[:5]}
    cache.put(replaced)
    done = {unit_id(it) for it in first if it["repeat"] == 1 or it["model"] == "gone"}
    again = await asked(fleet, models, parts, checker="judge", done=[*done], responses=cache)
    return Asked(parts, first, replaced, done, again)


def of(units: Sequence[Unit], benchmark: str, *models: str) -> list[Unit]:
    return [it for it in units if it["benchmark"] == benchmark and it["model"] in models]


@pytest.mark.ray
async def test_every_unit_comes_once_and_is_graded(both: Asked) -> None:
    rows = sum(part.repeats * sum(count for _, count in part.shards) for part in both.parts)
    assert len(both.first) == 3 * rows
    assert set(names(both.first).values()) == {1}
    for unit in of(both.first, "mmlu_pro", "able", "dull"):
        assert unit["correct"] == (unit["model"] == "able"), unit
        assert (unit["by"], unit["finish"], unit["judge_error"]) == ("script", "stop", None)
    for unit in of(both.first, "mgsm", "able", "dull"):
        assert unit["correct"] == (unit["model"] == "able"), unit
    assert not {"row", "request"} & both.first[0].keys()


def scheduling() -> list[str]:
    from ray.data._internal.execution.streaming_executor import StreamingExecutor

    threads = threading.enumerate()
    return [str(thread) for thread in threads if isinstance(thread, StreamingExecutor)]


@pytest.mark.ray
@pytest.mark.parametrize("under_way", [False, True])
async def test_who_is_interrupted_leaves_no_thread_behind_that_uses_ray(
    fleet: Fleet, tmp_path: Path, under_way: bool
) -> None:
    waiting = asyncio.create_task(asked(fleet, ["late"], [questions(tmp_path, "mmlu_pro")]))
    await asyncio.sleep(0)
    while under_way and not scheduling():
        await asyncio.sleep(0.1)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(120):  # a reply takes five times as long
            await waiting
    assert scheduling() == []


@pytest.mark.ray
async def test_who_stops_listening_leaves_no_thread_behind_that_uses_ray(
    fleet: Fleet, tmp_path: Path
) -> None:
    parts = [questions(tmp_path, "mmlu_pro")]
    work = graph.Work(
        jobs(["able", "late"], parts), Asking({model.name: model for model in MODELS}, 0)
    )
    async with aclosing(graph.stream(work, Link.to(fleet, MODELS, FleetConf()))) as stream:
        async for _ in stream:
            assert scheduling()
            break
    assert scheduling() == []


@pytest.mark.ray
async def test_what_is_done_is_not_asked_again(both: Asked) -> None:
    assert names(both.again) == names([it for it in both.first if unit_id(it) not in both.done])


@pytest.mark.ray
@pytest.mark.parametrize("few", [10_000, 0], ids=["in turn", "apart"])
async def test_where_all_is_done_nothing_comes(
    fleet: Fleet, both: Asked, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph, "_FEW_UNITS", few)
    done = [unit_id(it) for it in both.first]
    assert await asked(fleet, ["able"], both.parts, checker="judge", done=done, awake=64) == []


async def test_a_block_of_which_all_is_done_is_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes without rows, and without columns."""
    monkeypatch.setattr("ray.get", lambda blocks: blocks)
    some = pa.table({UNITS: ["[1]", "[2]"]})
    bundles = iter([SimpleNamespace(block_refs=it) for it in ([pa.table({})], [some], [])])
    assert graph._fetched(bundles) == ["[1]", "[2]"]
    assert graph._fetched(bundles) is None


@pytest.mark.ray
async def test_an_outage_is_no_wrong_answer(both: Asked) -> None:
    units = [unit for unit in both.first if unit["model"] == "gone"]
    assert {(unit["finish"], unit["by"], unit["answer"]) for unit in units} == {
        ("error", None, None)
    }
    assert all(INFRA_ERROR in unit["error"] for unit in units)


@pytest.mark.ray
async def test_the_checker_sees_what_the_script_does_not_call_right(both: Asked) -> None:
    for unit in of(both.first, "math_500", "able", "dull"):
        if unit["model"] == "able":
            assert (unit["correct"], unit["by"]) == (True, "script")
            assert "checker" not in unit
        elif unit["by"] == "checker":  # a simulated checker says yes where both are the same text
            assert (unit["correct"], unit["checker"]) == (False, "No")
        else:
            assert unit["finish"] != "stop" and unit["answer"] is None
    assert any(unit["by"] == "checker" for unit in both.first)


async def test_a_checker_that_thinks_may() -> None:
    thinks = dataclasses.replace(JUDGE, reasoning=True)
    check = Verdicts(thinks, 0, None)
    assert check.request("1", "2").max_tokens is None
    check = Verdicts(JUDGE, 0, None)
    assert check.request("1", "2").max_tokens == 16


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def faulty(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> list[Unit]:
    """A graph with a broken row and a checker that is silent; each stage has its own process."""
    folder = tmp_path_factory.mktemp("faulty")
    part = questions(folder, "mmlu_pro")
    shard = Path(part.shards[0][0])
    rows = [json.loads(line) for line in shard.read_bytes().splitlines()]
    del rows[BROKEN]["options"]
    shard.write_text("".join(json.dumps(row) + "\n" for row in rows))
    parts = [part, questions(folder, "math_500")]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(graph, "_FEW_UNITS", 10)
        before = _workers("MapBatches(InTurn)")
        units = await asked(fleet, ["able", "dull"], parts, checker="gone")
        assert _workers("MapBatches(InTurn)") <= before  # of earlier graphs, some of which end
    return units


@pytest.mark.ray
async def test_a_checker_that_is_silent_leaves_the_scripts_verdict_and_says_so(
    faulty: list[Unit],
) -> None:
    silent = [unit for unit in of(faulty, "math_500", "dull") if unit["judge_error"]]
    assert silent
    assert not any(unit["correct"] for unit in silent)
    # The script decides nothing about a reply from which it reads no answer.
    assert {(unit["answer"] is None, unit["by"]) for unit in silent} <= {
        (False, "script"),
        (True, None),
    }
    assert INFRA_ERROR in silent[0]["judge_error"]


@pytest.mark.ray
async def test_a_row_that_breaks_its_benchmark_costs_itself(faulty: list[Unit]) -> None:
    units = of(faulty, "mmlu_pro", "able")
    assert len(units) == 14
    (broken,) = [unit for unit in units if not unit["correct"]]
    assert broken["finish"] == "error"
    assert "'options'" in broken["error"]
    failed = [unit["key"] for unit in of(faulty, "mmlu_pro", "dull") if unit["finish"] == "error"]
    assert failed == [broken["key"]]


@pytest.mark.ray
async def test_what_breaks_the_whole_pipeline_is_told_in_a_line(
    fleet: Fleet, tmp_path: Path
) -> None:
    part = questions(tmp_path, "mmlu_pro")
    Path(part.shards[0][0]).unlink()
    with refused("ray.lost"):
        await asked(fleet, ["able"], [part])


@pytest.mark.ray
async def test_responses_of_an_earlier_run_are_taken(both: Asked) -> None:
    assert not any(unit["reused"] for unit in both.first)
    reused = [unit for unit in both.again if unit["reused"]]
    assert {unit["address"] for unit in reused} == both.replaced.keys()
    assert {unit["response"] for unit in reused} == {"Answer: Z"}


@pytest.mark.ray
async def test_what_a_checker_said_in_an_earlier_run_is_not_asked_again(both: Asked) -> None:
    def calls(units: Sequence[Unit]) -> int:
        return sum(len(unit.get("checks", ())) for unit in units)

    def verdicts(units: Sequence[Unit]) -> dict[Any, Any]:
        return {(u["key"], u["language"]): (u["by"], u["correct"], u["reason"]) for u in units}

    assert calls(both.first) > 0
    assert calls(both.again) == 0
    assert any(it["by"] == "checker" for it in both.again)
    assert verdicts(of(both.again, "math_500", "dull")) == verdicts(
        of(both.first, "math_500", "dull")
    )


async def test_as_many_processes_ask_as_engines_need_but_one_where_an_endpoint_is() -> None:
    ours = Link((ABLE,), FleetConf(), None, {})
    assert [graph.generators(ours, awake, 0, 16) for awake in (1, 8, 9, 64)] == [1, 1, 2, 8]
    assert [graph.generators(ours, 1, gpus, 4) for gpus in (8, 16, 64)] == [1, 2, 4]
    assert graph.generators(ours, 9, 0, 0) == 1
    remote = dataclasses.replace(ABLE, name="remote", engine="openai")
    assert graph.generators(Link((ABLE, remote), FleetConf(), None, {}), 64, 64, 16) == 1


@pytest.mark.ray
async def test_several_processes_ask_every_unit_once(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph, "_FEW_UNITS", 10)
    part = questions(tmp_path, "mgsm", repeats=4)
    under_way = asyncio.create_task(asked(fleet, ["able", "slow"], [part], awake=16))
    before = _workers("MapBatches(Generate)")
    async with asyncio.timeout(120):
        while len(_workers("MapBatches(Generate)") - before) < 2:
            await asyncio.sleep(0.1)
    units = await under_way
    assert len(units) == 2 * 4 * sum(count for _, count in part.shards)
    assert set(names(units).values()) == {1}


@pytest.mark.ray
async def test_what_an_endpoint_is_waited_for_is_told(fleet: Fleet, tmp_path: Path) -> None:
    said: list[str] = []
    part = questions(tmp_path, "mmlu_pro")
    with Busy() as server:
        far = ModelSpec("far", "openai", "far", options={"base_url": server.url})
        work = graph.Work(jobs(["far"], [part]), Asking({"far": far}, 0))
        stream = graph.stream(work, Link((far,), FleetConf(), None, {}), said.append)
        units = [unit async for block in stream for unit in block]
    assert {unit["finish"] for unit in units} == {"stop"}
    assert any("too busy" in remark and "trying again" in remark for remark in said), said


class Gate(HttpEndpoint):
    """Holds every request until it is opened, then replies 'Answer: A' to all."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.opened = threading.Event(), threading.Event()

    def play(self, handler: Handler) -> None:
        self.reached.set()
        self.opened.wait(200)
        message = {"message": {"content": "Answer: A"}, "finish_reason": "stop"}
        with suppress(ConnectionError):  # the process that asked has been killed
            handler.send(200, {"choices": [message]})


@pytest.mark.ray
async def test_processes_of_stages_may_die(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages = ("Generate", "Grade")
    monkeypatch.setattr(graph, "_FEW_UNITS", 10)  # each stage has a process of its own
    part = questions(tmp_path, "mgsm")
    before = {stage: _workers(f"MapBatches({stage})") for stage in stages}  # of earlier graphs
    with Gate() as gate:
        far = ModelSpec("far", "openai", "far", options={"base_url": gate.url})
        work = graph.Work(jobs(["far"], [part]), Asking({"far": far}, 0))

        async def streamed() -> list[Unit]:
            stream = graph.stream(work, Link((far,), FleetConf(), None, {}))
            return [unit async for block in stream for unit in block]

        under_way = asyncio.create_task(streamed())
        async with asyncio.timeout(120):
            assert await asyncio.to_thread(gate.reached.wait, 110)
            for stage in stages:
                while not (victims := _workers(f"MapBatches({stage})") - before[stage]):
                    await asyncio.sleep(0.05)
                os.kill(victims.pop(), signal.SIGKILL)
        gate.opened.set()
        units = await under_way
    assert len(units) == sum(count for _, count in part.shards)
    assert set(names(units).values()) == {1}
    assert {unit["finish"] for unit in units} == {"stop"}


class Half(HttpEndpoint):
    """Replies to its first requests, and to the others only when it is opened."""

    def __init__(self, first: int) -> None:
        super().__init__()
        self.asked = Counter[str]()
        self.opened = threading.Event()
        self._first = first

    def play(self, handler: Handler) -> None:
        question = handler.body["messages"][-1]["content"]
        with self.lock:
            self.asked[question] += 1
            waits = self.asked.total() > self._first
        if waits:
            self.opened.wait(200)
        message = {"message": {"content": "Answer: A"}, "finish_reason": "stop"}
        with suppress(ConnectionError):  # the process that asked has been killed
            handler.send(200, {"choices": [message]})


@pytest.mark.ray
async def test_replies_are_reported_while_their_block_is_under_way(
    fleet: Fleet, tmp_path: Path
) -> None:
    part, reports = questions(tmp_path, "mgsm"), list[Report]()
    with Half(first=3) as server:
        options = {"base_url": server.url, "concurrency": 2}
        far = ModelSpec("far", "openai", "far", options=options)
        work = graph.Work(jobs(["far"], [part]), Asking({"far": far}, 0))
        link = Link((far,), FleetConf(), None, {})

        def reported() -> int:
            return sum(it.finished[lane].units for it in reports for lane in it.finished)

        async def streamed() -> list[Unit]:
            stream = graph.stream(work, link, report=reports.append)
            return [unit async for block in stream for unit in block]

        under_way = asyncio.create_task(streamed())
        async with asyncio.timeout(120):
            while reported() < 3:
                assert not under_way.done()
                await asyncio.sleep(0.05)
        assert {lane for it in reports for lane in it.finished} == {("far", "mgsm")}
        assert sum(it.at_work_s["far"] for it in reports) > 0
        server.opened.set()
        await under_way


@pytest.mark.ray
@pytest.mark.parametrize("killed", ["stage", "run"])
async def test_a_reply_that_arrived_before_a_kill_is_not_asked_for_again(
    fleet: Fleet, tmp_path: Path, killed: str
) -> None:
    """Whether the process that received it dies, or the whole graph and another session begins."""
    part, log = questions(tmp_path, "mgsm"), ReplyLog(tmp_path / "log")
    before = _workers("MapBatches(Generate)")
    with Half(first=6) as server:
        options = {"base_url": server.url, "concurrency": 2}
        far = ModelSpec("far", "openai", "far", options=options)
        work = graph.Work(jobs(["far"], [part]), Asking({"far": far}, 0, log=log))

        async def streamed() -> list[Unit]:
            stream = graph.stream(work, Link((far,), FleetConf(), None, {}))
            async with aclosing(stream) as blocks:
                return [unit async for block in blocks for unit in block]

        under_way = asyncio.create_task(streamed())
        async with asyncio.timeout(120):
            while _lines(log) < 6 or server.asked.total() < 8:
                await asyncio.sleep(0.05)
        if killed == "stage":
            for process in _workers("MapBatches(Generate)") - before:
                os.kill(process, signal.SIGKILL)
        else:
            under_way.cancel()
            await asyncio.gather(under_way, return_exceptions=True)
            under_way = asyncio.create_task(streamed())
        server.opened.set()
        units = await under_way
    assert len(units) == sum(count for _, count in part.shards)
    assert {unit["finish"] for unit in units} == {"stop"}
    again = [question for question, times in server.asked.items() if times > 1]
    assert len(again) <= 2, "only those under way when it was killed"
    assert not log.folder.exists(), "all of it is in the journal"


def _lines(log: ReplyLog) -> int:
    return sum(path.read_bytes().count(b"\n") for path in log.folder.glob("*"))


def _workers(title: str) -> set[int]:
    """Return the workers of this Ray that bear a title."""
    family = psutil.Process().children(recursive=True)
    return {process.pid for process in family if title in _title(process)}


def _title(process: psutil.Process) -> str:
    with suppress(psutil.Error):  # it may be gone by now
        return " ".join(process.cmdline())
    return ""
