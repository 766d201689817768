"""The stages of the graph: what happens to a block of units in the processes of the cluster.

Units travel as one column of JSON texts: stages add to them what they find out. A unit that breaks
a stage carries the reason on and costs nobody else anything.
"""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from raybench import benchmarks
from raybench.benchmarks import Benchmark, Draw
from raybench.fleet import Fleet, resolved
from raybench.fleet.link import Link
from raybench.grading import equality
from raybench.pipeline.responses import Responses, address
from raybench.pipeline.units import Job, unit_id, unit_seed
from raybench.types import Completion, Grader, Message, ModelSpec, Request

Unit = dict[str, Any]
Block = dict[str, Any]
"""What Ray Data hands to a stage and takes from it."""
UNIT, JOB = "unit", "job"
"""The one column of a block."""
_VERDICT_TOKENS = 16
_SHOWN = 80


@dataclass(frozen=True)
class Asking:
    """How questions are put to models."""

    models: Mapping[str, ModelSpec]
    seed: int
    max_tokens: int
    """Of a model that does not reason; one that does has its own maximum."""
    temperature: float | None
    identities: Mapping[str, str] = field(default_factory=dict)
    """What is known of models whose responses may come from earlier runs."""
    responses: Path | None = None
    """Where these are."""

    def request(self, benchmark: Benchmark, unit: Unit) -> Request:
        """Return the request that a unit is."""
        model, draw = self.models[unit["model"]], Draw(unit["repeat"], self.seed)
        return Request(
            benchmark.prompt(unit["row"], reasoning=model.reasoning, draw=draw),
            seed=unit_seed(self.seed, unit),
            max_tokens=None if model.reasoning else self.max_tokens,
            temperature=self.temperature,
            # Nobody else is ever told.
            gold=benchmark.gold(unit["row"], draw=draw) if model.engine == "simulated" else None,
        )

    def address(self, request: Request, unit: Unit) -> str | None:
        """Return where an earlier run would have put the response; None where it would not."""
        if (identity := self.identities.get(unit["model"])) is None:
            return None
        asked = resolved(request, self.models[unit["model"]])
        return address(identity, asked, unit["repeat"])


def prompt(block: Block, asking: Asking, done: Any) -> Block:
    """Read the questions of jobs and make units of them, without those that are done.

    `done` is a reference to their ids as a sorted array.
    """
    import ray

    ids = ray.get(done)
    units = [
        unit
        for job in block[JOB]
        for unit in _asked(Job(**json.loads(job)))
        if not _contains(ids, unit_id(unit))
    ]
    for unit in units:
        try:
            request = asking.request(benchmarks.load(unit["benchmark"]), unit)
        except Exception as error:  # a row that its benchmark's rules did not catch
            unit |= _told(Completion.failed(f"the question cannot be put: {_words(error)}"))
            continue
        unit["request"] = _plain(request)
        unit["address"] = asking.address(request, unit)
    if asking.responses is not None:
        found = Responses(asking.responses).get(
            [unit["address"] for unit in units if unit.get("address")]
        )
        for unit in units:
            if (response := found.get(unit.get("address") or "")) is not None:
                unit |= response | {"reused": True}
    return _packed(units)


def _asked(job: Job) -> Iterator[Unit]:
    benchmark = benchmarks.load(job.benchmark)
    with Path(job.shard).open("rb") as lines:
        rows = [json.loads(line) for line in islice(lines, job.start, job.stop)]
    for row in rows:
        for repeat in range(job.repeats):
            yield {
                "model": job.model,
                "benchmark": job.benchmark,
                "key": benchmark.key(row),
                "language": benchmark.language(row),
                "subject": benchmark.subject(row),
                "repeat": repeat,
                "row": row,
                "reused": False,
            }


class Generate:
    """Asks the models. One process of it holds many blocks at once."""

    def __init__(self, link: Link) -> None:
        self._door = _Door(link)

    async def __call__(self, block: Block) -> Block:
        """Add to each unit what its model made of the prompt."""
        units = _unpacked(block)
        by_model: dict[str, list[Unit]] = {}
        for unit in units:
            if "finish" not in unit:
                by_model.setdefault(unit["model"], []).append(unit)
        if by_model:
            fleet = await self._door.fleet()
            await asyncio.gather(*(_ask(fleet, model, of) for model, of in by_model.items()))
        return _packed(units)


async def _ask(fleet: Fleet, model: str, units: Sequence[Unit]) -> None:
    completions = await fleet.complete(model, [_request(unit["request"]) for unit in units])
    for unit, completion in zip(units, completions, strict=True):
        unit |= _told(completion)


class Grade:
    """Grades replies by the benchmarks' own rules: the methodology's, or the improved ones."""

    def __init__(self, seed: int, grader: Grader = "parity") -> None:
        self._seed = seed
        self._improved = grader == "improved"

    def __call__(self, block: Block) -> Block:
        """Replace each unit's question by what its reply is worth."""
        units = _unpacked(block)
        for unit in units:
            row = unit.pop("row")
            unit.pop("request", None)
            unit |= {"correct": False, "answer": None, "reason": unit["error"], "by": None}
            unit["judge_error"] = None
            if unit["finish"] != "error":
                try:
                    unit |= self._graded(unit, row)
                except Exception as error:  # what our rules choke on is ours to look at
                    unit["judge_error"] = f"grading failed: {_words(error)}"
        return _packed(units)

    def _graded(self, unit: Unit, row: Any) -> Unit:
        benchmark = benchmarks.load(unit["benchmark"])
        draw = Draw(unit["repeat"], self._seed)
        grade = benchmark.grade(row, unit["response"], draw=draw)
        beside: Unit = {}
        if self._improved:
            beside["parity"] = {"correct": grade.correct, "answer": grade.answer}
            grade = benchmark.improved(row, unit["response"], draw=draw)
        return beside | {
            "correct": grade.correct,
            "answer": grade.answer,
            "truth": benchmark.truth(row, draw=draw),
            "reason": grade.reason,
            "by": "script" if grade.parsed else None,
        }


class Check:
    """Has a model look at the answers that the script does not call right."""

    def __init__(self, link: Link, checker: str, seed: int) -> None:
        self._door = _Door(link)
        self._checker = checker
        self._seed = seed
        (model,) = (model for model in link.models if model.name == checker)
        self._max_tokens = None if model.reasoning else _VERDICT_TOKENS

    async def __call__(self, block: Block) -> Block:
        """Add the checker's verdict where there is one to give."""
        units = _unpacked(block)
        open_ones = [
            unit
            for unit in units
            if benchmarks.load(unit["benchmark"]).checked
            and unit["answer"] is not None
            and not unit["correct"]
        ]
        pairs = list(dict.fromkeys((unit["truth"], unit["answer"]) for unit in open_ones))
        if pairs:
            fleet = await self._door.fleet()
            replies = await fleet.complete(self._checker, [self.request(*pair) for pair in pairs])
            verdicts = dict(zip(pairs, replies, strict=True))
            for unit in open_ones:
                unit |= checked(verdicts[unit["truth"], unit["answer"]])
            # Each call is told once, whichever unit it is told with.
            open_ones[0]["checks"] = [
                [reply.prompt_tokens, reply.output_tokens, reply.finish] for reply in replies
            ]
        return _packed(units)

    def request(self, truth: str, given: str) -> Request:
        """Return what the checker is asked."""
        asked = (Message("user", equality.prompt(truth, given)),)
        return Request(asked, seed=self._seed, max_tokens=self._max_tokens, temperature=0.0)


def checked(reply: Completion) -> Unit:
    """Return what a checker's reply adds. Only a clear yes is one, as simple-evals has it."""
    told: Unit = {"checker": reply.text}
    if reply.finish == "error":
        return told | {"judge_error": f"the checker gave no verdict: {reply.error}"}
    right, said = equality.verdict(reply.text), repr(reply.text[:_SHOWN])
    why = {True: "right, says the checker", False: "wrong, says the checker too"}
    unclear = f"wrong: the checker says neither yes nor no ({said}, {reply.finish})"
    return told | {
        "correct": right is True,
        "by": "checker",
        "reason": unclear if right is None else why[right],
    }


class _Door:
    """The fleet of this process, opened when it is first asked for."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._opened: asyncio.Task[Fleet] | None = None
        self._stack = AsyncExitStack()

    async def fleet(self) -> Fleet:
        """Return it; who comes while it is being opened waits for that."""
        if self._opened is None:
            self._opened = asyncio.ensure_future(self._stack.enter_async_context(self._link.open()))
        return await asyncio.shield(self._opened)


_RESPONSE = (
    "response",
    "reasoning",
    "finish",
    "error",
    "prompt_tokens",
    "output_tokens",
    "cached_tokens",
    "seconds",
)
"""What a unit holds of its model's reply."""


def response(unit: Mapping[str, Any]) -> Unit:
    """Return what later runs may take from a unit."""
    return {name: unit[name] for name in _RESPONSE}


def _told(completion: Completion) -> Unit:
    values = (
        completion.text,
        completion.reasoning,
        completion.finish,
        completion.error,
        completion.prompt_tokens,
        completion.output_tokens,
        completion.cached_tokens,
        round(completion.seconds, 3),
    )
    return dict(zip(_RESPONSE, values, strict=True))


def _plain(request: Request) -> Unit:
    return {
        "messages": [[message.role, message.content] for message in request.messages],
        "seed": request.seed,
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "gold": request.gold,
    }


def _request(plain: Unit) -> Request:
    messages = tuple(Message(role, content) for role, content in plain["messages"])
    return Request(**plain | {"messages": messages})


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _contains(ordered: Any, number: int) -> bool:
    place = int(np.searchsorted(ordered, np.uint64(number)))
    return place < len(ordered) and int(ordered[place]) == number


def _packed(units: Iterable[Unit]) -> Block:
    return {UNIT: np.array([json.dumps(unit) for unit in units], dtype=object)}


def _unpacked(block: Block) -> list[Unit]:
    return [json.loads(text) for text in block[UNIT]]
