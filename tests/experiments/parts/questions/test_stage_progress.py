"""The time left of a run of benchmarks: its own stages in virtual time, on engines that wait."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest
from hle_rows import exact
from time_left import Shown, watched
from virtual_time import now

from raybench.config import FleetConf
from raybench.engines.base import Placed
from raybench.experiments.parts.questions.stage_progress import StageProgress
from raybench.fleet import group_engines
from raybench.fleet.link import Link
from raybench.fleet.streams import Room
from raybench.pipeline import checker, generation, graph, judges, programs, stages
from raybench.pipeline.checker import Check, Verdicts
from raybench.pipeline.generation import Generate
from raybench.pipeline.judges import Judge, Panel
from raybench.pipeline.programs import Programs, Slots
from raybench.pipeline.stages import Asking, Unit, packed, unpacked
from raybench.pipeline.units import Questions, jobs
from raybench.tracking.console import Progress
from raybench.tracking.console.models import Seen
from raybench.types import JUDGING, Completion, ModelSpec, Request

pytestmark = [pytest.mark.virtual_time, pytest.mark.slow]

LETTERS, MATHS, CODE, EXAM = "mmlu_pro", "math_500", "livecodebench", "hle"
SECONDS: Mapping[str, float] = {LETTERS: 0.5, MATHS: 6.0, CODE: 20.0, EXAM: 12.0}
"""Of a reply, from a model of speed 1."""


@dataclass
class World:
    """Models, and what they are asked."""

    speeds: Mapping[str, float]
    questions: Mapping[str, int]
    at_once: int = 16
    """Requests that an engine works on."""
    engine: str = "openai"
    judge_s: float = 0.0
    check_s: float = 0.0
    program_s: float = 2.0
    load_s: float = 0.0
    """To bring in an engine; those that have to be take turns."""
    known: float = 0.0
    """Share of the replies that are known."""
    done: float = 0.0
    """Share of the samples that an earlier session has finished."""
    stall: tuple[float, float] = (0.0, 0.0)
    """When no model replies for a while, and how long."""
    states: dict[str, str] = field(default_factory=dict)
    running: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.began = now()
        self.random = random.Random(7)
        hosted = self.engine == "vllm"
        self.models = [
            ModelSpec(
                name,
                cast(Any, self.engine),
                name if hosted else "w",
                options={} if hosted else {"base_url": f"http://{name}"},
            )
            for name in self.speeds
        ]
        self.judge = ModelSpec(f"judge{JUDGING}", "openai", "j", options={"base_url": "http://j"})
        self.checker = ModelSpec("checker", "openai", "c", options={"base_url": "http://c"})
        self.limits = {
            model.name: asyncio.Semaphore(self.at_once)
            for model in (*self.models, self.judge, self.checker)
        }
        self.rooms = {name: Room(2 * self.at_once) for name in self.limits}
        self.up = {name: asyncio.Event() for name in self.speeds}
        self.left: Counter[str] = Counter()
        self.over = {name: asyncio.Event() for name in self.speeds}
        self.slots = asyncio.Semaphore(2)
        if not self.load_s:
            for event in self.up.values():
                event.set()

    async def bring_in(self) -> None:
        """Have the engines take turns on one device."""
        for name in self.speeds if self.load_s else ():
            self.states[name] = "coming up"
            await asyncio.sleep(self.load_s * self.random.uniform(0.8, 1.2))
            self.states[name] = "awake"
            self.up[name].set()
            await self.over[name].wait()
            self.states[name] = "asleep"

    def seen(self) -> list[Seen]:
        return [
            Seen(name, self.states.get(name, ""), under_way=self.running[name])
            for name in self.speeds
        ]

    async def fleet(self) -> "World":
        return self

    def expect(self, model: str, requests: int) -> None:
        """Plan for nothing."""

    async def wait_for_room(self, model: str) -> None:
        await self.rooms[model].wait()

    async def stream(self, model: str, requests: Sequence[Request]) -> AsyncGenerator[Placed]:
        if model in self.up:
            await self.up[model].wait()
        asked = [asyncio.create_task(self._reply(model, it, n)) for n, it in enumerate(requests)]
        for each in asyncio.as_completed(asked):
            yield await each

    async def _reply(self, model: str, request: Request, place: int) -> Placed:
        with self.rooms[model].taken():
            return await self._replied(model, request, place)

    async def _replied(self, model: str, request: Request, place: int) -> Placed:
        async with self.limits[model]:
            self.running[model] += 1
            # By what is asked: threads may have requests come in another order.
            drawn = random.Random(f"{model}/{request.seed}/{request.messages[-1].content}")
            seconds = self._seconds(model, request) * drawn.lognormvariate(-0.08, 0.4)
            await asyncio.sleep(seconds)
            begins, lasts = self.stall
            if begins <= now() - self.began < begins + lasts:
                await asyncio.sleep(self.began + begins + lasts - now())
            self.running[model] -= 1
        if model in self.left:
            self.left[model] -= 1
            if not self.left[model]:
                self.over[model].set()
        text = json.dumps({"correct": "yes"}) if model == self.judge.name else "Yes"
        return place, Completion(text, "stop", output_tokens=9, seconds=seconds)

    def _seconds(self, model: str, request: Request) -> float:
        if model == self.judge.name:
            return self.judge_s
        if model == self.checker.name:
            return self.check_s
        return SECONDS[request.messages[0].content] / self.speeds[model]

    @asynccontextmanager
    async def soon(self) -> AsyncGenerator[None]:
        async with self.slots:
            yield

    async def ready(self) -> None:
        """Stand where the sandbox's pool does."""

    async def call(self, graded: Any, unit: Unit, *_: Any, **__: Any) -> Unit:
        drawn = random.Random(f"{unit['model']}/{unit['key']}")
        await asyncio.sleep(self.program_s * drawn.uniform(0.5, 1.5))
        return {**unit, "correct": True, "truth": "", "judge_error": None, "answer": None}


class Run:
    """The stages of a run, and the progress that hears of them."""

    def __init__(self, world: World, rows: Path) -> None:
        self.world, self.rows = world, rows
        questions = [Questions(name, [(name, of)], 1) for name, of in world.questions.items()]
        names, models = [*world.speeds], {it.name: it for it in world.models}
        self.jobs = jobs(names, questions)
        total = sum(world.questions.values())
        each = {name: round(of * world.done) for name, of in world.questions.items()}
        self.progress = Progress(
            total * len(names), "units", sum(each.values()) * len(names), clock=now
        )
        self.progress.follow(world.seen)
        work = graph.Work(
            self.jobs,
            Asking(models, 0),
            checker=Verdicts(world.checker, 0, None) if world.check_s else None,
            judges=Panel({"judge": world.judge}, 0) if world.judge_s else None,
        )
        self.done = each
        left = {
            (model, name): of - each[name]
            for model in names
            for name, of in world.questions.items()
        }
        everybody = (*world.models, world.judge, world.checker)
        self.stages = StageProgress(self.progress, work, left, group_engines(everybody))
        link = replace(Link(everybody, FleetConf(), None, {}), remarks=None)
        object.__setattr__(link, "report", self.stages.reported)
        self.generate = Generate(link, work.asking)
        self.programs = Programs(Slots(), link, work.asking, "parity")
        self.later: list[Any] = [self.programs]
        if work.judges:
            self.later.append(Judge(link, work.judges, work.asking, "parity"))
        if work.checker:
            self.later.append(Check(link, work.checker))
        for stage in (self.generate, *self.later):
            stage._door = world

    def units(self, job: Any) -> list[Unit]:
        found = []
        for row in range(max(job.start, self.done[job.benchmark]), job.stop):
            unit = {
                "model": job.model, "benchmark": job.benchmark, "language": "en", "repeat": 0,
                "key": f"{row}", "place": [str(self.rows), row], "reused": False,
                "request": {
                    "messages": [["user", job.benchmark, []]], "seed": row, "max_tokens": 9,
                    "temperature": 0.0, "gold": None,
                },
            }  # fmt: skip
            if job.benchmark == CODE:
                unit["row"] = {}
            if job.benchmark == MATHS:
                unit |= {"truth": "1", "correct": row % 2 == 0, "answer": "2", "judge_error": None}
            if self.world.random.random() < self.world.known:
                unit |= stages.reply_of(Completion("Yes", "stop", output_tokens=9))
                unit["reused"] = True
            found.append(unit)
        return found

    async def __call__(self) -> None:
        units = {job: self.units(job) for job in self.jobs}
        for job in self.jobs:
            self.world.left.update(it["model"] for it in units[job] if not it["reused"])
        self.generate._units = units.__getitem__  # type: ignore[method-assign, assignment]
        bringing = asyncio.create_task(self.world.bring_in())
        self.progress.start()

        async def one(group: list[Unit]) -> None:
            block = packed(group)
            for stage in self.later:
                block = await stage(block)
            done = unpacked(block)
            self.stages.kept(done)
            self.progress.advance(len(done))

        async with asyncio.TaskGroup() as graph:
            async for group in self.generate.answered(self.jobs):
                graph.create_task(one(group))
        await bringing


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("rows") / "0.jsonl"
    file.write_text("".join(f"{json.dumps(exact(str(place)))}\n" for place in range(1500)))
    return file


@pytest.fixture(autouse=True)
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (generation, programs, judges, checker):
        monkeypatch.setattr(module, "prepare", lambda: None)


async def shown(world: World, rows: Path, monkeypatch: pytest.MonkeyPatch) -> Shown:
    monkeypatch.setattr(programs, "Pool", lambda *_, **__: world)
    run = Run(world, rows)
    return await watched(run.progress, run())


UNLIKE = {"slow": 0.4, "plain": 1.0, "quick": 5.0}
ASKED = {LETTERS: 480, MATHS: 240, CODE: 160}


async def test_models_and_benchmarks_of_unlike_speed(
    rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Letters come 40 times as fast as programs, which all models have last."""
    found = await shown(World(UNLIKE, ASKED, check_s=0.5), rows, monkeypatch)
    assert found.error() < 0.35
    assert found.largest_jump() < 0.02
    assert found.before(0.05) == [None] * len(found.before(0.05)), "it means nothing yet"


async def test_programs_that_take_longer_than_replies(
    rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = await shown(World(UNLIKE, ASKED, program_s=30.0), rows, monkeypatch)
    assert found.error() < 0.35


async def test_models_that_take_turns_on_one_device(
    rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    speeds = {"a": 1.0, "b": 0.8, "c": 1.2, "d": 0.9}
    found = await shown(World(speeds, ASKED, engine="vllm", load_s=60.0), rows, monkeypatch)
    assert found.error() < 0.35


@pytest.mark.parametrize("judge_s", [1.0, 8.0])
async def test_judges_after_the_replies(
    rows: Path, monkeypatch: pytest.MonkeyPatch, judge_s: float
) -> None:
    """With 8 s each the judge takes longer than the models, and has most of its work at the end."""
    world = World({"a": 1.0, "b": 1.5, "c": 4.0}, {EXAM: 300}, judge_s=judge_s)
    found = await shown(world, rows, monkeypatch)
    assert found.error() < 0.35


@pytest.mark.parametrize(("done", "known"), [(0.6, 0.0), (0.0, 0.5), (0.4, 0.3)])
async def test_a_run_that_resumes(
    rows: Path, monkeypatch: pytest.MonkeyPatch, done: float, known: float
) -> None:
    asked = {name: 3 * of for name, of in ASKED.items()}
    world = World(UNLIKE, asked, done=done, known=known, check_s=0.5)
    found = await shown(world, rows, monkeypatch)
    assert found.error() < 0.35


async def test_a_pause_of_all_models(rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pause cannot be foreseen; during it the time left stays, and after it is right again."""
    found = await shown(World(UNLIKE, ASKED, stall=(100.0, 60.0)), rows, monkeypatch)
    assert found.took_s / 3 > 160, "it is over by then"
    assert found.error() < 0.35
    at = dict(found.at)
    during = [shown for it, shown in at.items() if 110 < it < 160]
    assert None not in during
    assert max(filter(None, during)) - min(filter(None, during)) < 0.1 * found.took_s
