"""The stages of the graph: what happens to a block of units in the processes of the cluster.

Units travel as one column of JSON texts: stages add to them what they find out. A unit that breaks
a stage carries the reason on and costs nobody else anything.
"""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from raybench import benchmarks
from raybench.benchmarks import Benchmark, Draw
from raybench.fleet import Fleet, resolved
from raybench.fleet.link import Door, Link
from raybench.pipeline.responses import Responses
from raybench.pipeline.units import Job, unit_id, unit_seed
from raybench.types import Completion, Grader, Message, ModelSpec, Request

Unit = dict[str, Any]
Block = dict[str, Any]
"""What Ray Data hands to a stage and takes from it."""
UNIT, JOB = "unit", "job"
"""The one column of a block."""


@dataclass(frozen=True)
class Asking:
    """How questions are put to models."""

    models: Mapping[str, ModelSpec]
    seed: int
    responses: Responses | None = None
    """Those of earlier runs, where they may be taken."""

    def request(self, benchmark: Benchmark, unit: Unit) -> Request:
        """Return the request that a unit is."""
        model, draw = self.models[unit["model"]], Draw(unit["repeat"], self.seed)
        return Request(
            benchmark.prompt(unit["row"], reasoning=model.reasoning, draw=draw),
            seed=unit_seed(self.seed, unit),
            # Nobody else is ever told.
            gold=benchmark.gold(unit["row"], draw=draw) if model.engine == "simulated" else None,
        )

    def address(self, request: Request, unit: Unit) -> str | None:
        """Return where an earlier run would have put the response; None where it would not."""
        if self.responses is None:
            return None
        asked = resolved(request, self.models[unit["model"]])
        return self.responses.address(unit["model"], asked, unit["repeat"])


def prompt(block: Block, asking: Asking, done: Any) -> Block:
    """Read the questions of jobs and make units of them, without those that are done.

    `done` is a reference to their ids as a sorted array.
    """
    import ray

    ids = ray.get(done)
    return packed(unit for job in block[JOB] for unit in put(Job(**json.loads(job)), asking, ids))


def ordered(done: Sequence[int]) -> Any:
    """Return the ids of units as the stages look them up."""
    return np.sort(np.array(done, dtype=np.uint64))


def put(job: Job, asking: Asking, done: Any) -> list[Unit]:
    """Return the units of a job that are not done: with its request, and the reply if known."""
    units = [unit for unit in _asked(job) if not _contains(done, unit_id(unit))]
    for unit in units:
        try:
            request = asking.request(benchmarks.load(unit["benchmark"]), unit)
        except Exception as error:  # a row that its benchmark's rules did not catch
            unit |= _told(Completion.failed(f"the question cannot be put: {_words(error)}"))
            continue
        unit["request"] = _plain(request)
        unit["address"] = asking.address(request, unit)
    if asking.responses is not None:
        known = asking.responses.get([unit["address"] for unit in units if unit.get("address")])
        for unit in units:
            if (reply := known.get(unit.get("address") or "")) is not None:
                unit |= reply | {"reused": True}
    return units


def _asked(job: Job) -> Iterator[Unit]:
    benchmark = benchmarks.load(job.benchmark)
    with Path(job.shard).open("rb") as lines:
        rows = [json.loads(line) for line in islice(lines, job.start, job.stop)]
    for row in rows:
        for repeat in range(job.first, job.first + job.repeats):
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
        self._door = Door(link)

    async def __call__(self, block: Block) -> Block:
        """Add to each unit what its model made of the prompt."""
        units = unpacked(block)
        by_model: dict[str, list[Unit]] = {}
        for unit in units:
            if "finish" not in unit:
                by_model.setdefault(unit["model"], []).append(unit)
        if by_model:
            fleet = await self._door.fleet()
            await asyncio.gather(*(_ask(fleet, model, of) for model, of in by_model.items()))
        for unit in units:
            unit.pop("request", None)
        return packed(units)


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
        return packed(self.graded(unpacked(block)))

    def graded(self, units: Sequence[Unit]) -> Sequence[Unit]:
        """Return the units, which have replies, with what these are worth for their questions."""
        for unit in units:
            row = unit.pop("row")
            unit |= {"correct": False, "answer": None, "reason": unit["error"], "by": None}
            unit["judge_error"] = None
            if unit["finish"] != "error":
                try:
                    unit |= self._graded(unit, row)
                except Exception as error:  # what our rules choke on is ours to look at
                    unit["judge_error"] = f"grading failed: {_words(error)}"
        return units

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


def packed(units: Iterable[Unit]) -> Block:
    """Return units as they travel."""
    return {UNIT: np.array([json.dumps(unit) for unit in units], dtype=object)}


def unpacked(block: Block) -> list[Unit]:
    """Return the units of a block."""
    return [json.loads(text) for text in block[UNIT]]
