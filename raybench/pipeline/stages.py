"""The stages of the graph: what happens to a block of units in the processes of the cluster.

Units travel as one column of JSON texts: stages add to them what they find out. A unit that breaks
a stage carries the reason on and costs nobody else anything.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from raybench import benchmarks
from raybench.benchmarks import Benchmark, Draw, UngradableError
from raybench.errors import ConfigurationError, RunFailed
from raybench.fleet import resolved
from raybench.pipeline import chains, rows
from raybench.pipeline.chains import Said
from raybench.pipeline.process import Block, prepare
from raybench.pipeline.reply_log import Key, ReplyLog, key_of
from raybench.pipeline.responses import Responses, lasting
from raybench.pipeline.units import Job, unit_id, unit_seed
from raybench.types import Completion, Grader, Letters, Message, ModelSpec, Request, Retries

Unit = dict[str, Any]
UNITS, JOBS = "units", "jobs"
"""The one column of a block: each row is a list, as JSON."""


@dataclass(frozen=True)
class Asking:
    """How questions are put to models."""

    models: Mapping[str, ModelSpec]
    seed: int
    responses: Responses | None = None
    """Those of earlier runs, where they may be taken."""
    wording: str = ""
    """Which prompt benchmarks of several use."""
    letters: Letters = "all"
    """Which letters multiple-choice prompts name."""
    log: ReplyLog | None = None
    """Replies of this run that are not in its journal yet."""
    system_apart: bool = False
    """As `Request.system_apart`."""

    def draw(self, unit: Mapping[str, Any]) -> Draw:
        """Return which asking of its question a unit is."""
        return Draw(unit["repeat"], self.seed, self.wording, self.letters)

    def request(self, benchmark: Benchmark, unit: Unit) -> Request:
        """Return the request that a unit is."""
        model, draw = self.models[unit["model"]], self.draw(unit)
        return Request(
            benchmark.prompt(unit["row"], reasoning=model.reasoning, draw=draw),
            seed=unit_seed(self.seed, unit),
            # Nobody else is ever told.
            gold=benchmark.gold(unit["row"], draw=draw)
            if model.engine == "simulated" and benchmark.has_gold(unit["row"])
            else None,
            system_apart=self.system_apart,
        )

    def address(self, request: Request, unit: Unit) -> str | None:
        """Return where an earlier run would have put the response; None where it would not."""
        if self.responses is None:
            return None
        asked = resolved(request, self.models[unit["model"]])
        return self.responses.address(unit["model"], asked, unit["repeat"])

    def key(self, unit: Unit) -> Key | None:
        """Return the key of a unit's reply in the log; None where replies are not written there."""
        model = self.models[unit["model"]]
        if self.log is None or model.engine == "simulated":  # which says the same at no cost
            return None
        return key_of(unit_id(unit), model.name, resolved(request_of(unit), model))


def light(unit: Unit) -> Unit:
    """Leave a row where it lies that nobody reads for a while: tests and images may be large."""
    benchmark = benchmarks.load(unit["benchmark"])
    if (benchmark.sandboxed or benchmark.judged) and not benchmark.chained:
        del unit["row"]
    return unit


def ordered(done: Sequence[int]) -> Any:
    """Return the ids of units as the stages look them up."""
    return np.sort(np.array(done, dtype=np.uint64))


def put(job: Job, asking: Asking, done: Any, said: Said = MappingProxyType({})) -> list[Unit]:
    """Return the units of a job that are not done: with its request, and the reply if known.

    One that follows others has no request yet where these are still to be answered, but, as `said`,
    what of them is known: of those that are done.
    """
    units = [unit for unit in _asked(job) if not _contains(done, unit_id(unit))]
    known, waiting = dict(said), units
    while ready := [unit for unit in waiting if chains.is_ready(unit, known)]:
        for unit in ready:
            request(unit, asking, known)
        _recall(ready, asking)
        known |= chains.heard(ready)
        waiting = [unit for unit in waiting if "request" not in unit and "finish" not in unit]
    for unit in waiting:
        unit["said"] = [[it, said[it]] for it in chains.before(unit).values() if it in said]
    return units


def request(unit: Unit, asking: Asking, said: Said) -> None:
    """Add its request to a unit, or why there is none: what it follows is known."""
    try:
        unit["row"] = chains.continued(unit, said)
        asked = asking.request(benchmarks.load(unit["benchmark"]), unit)
    except Exception as error:  # a row that its benchmark's rules did not catch
        unit |= reply_of(Completion.failed(f"the question cannot be put: {_words(error)}"))
        return
    unit["request"] = _plain(asked)
    unit["address"] = asking.address(asked, unit)


def _recall(units: Sequence[Unit], asking: Asking) -> None:
    """Add the replies that earlier runs were given."""
    if asking.responses is None:
        return
    known = asking.responses.get([unit["address"] for unit in units if unit.get("address")])
    for unit in units:
        if (reply := known.get(unit.get("address") or "")) is not None:
            unit |= reply | {"reused": True}


def _asked(job: Job) -> Iterator[Unit]:
    benchmark = benchmarks.load(job.benchmark)
    for line, row in enumerate(rows.read(job.shard, job.start, job.stop), start=job.start):
        for repeat in range(job.first, job.first + job.repeats):
            yield {
                "model": job.model,
                "benchmark": job.benchmark,
                "key": benchmark.key(row),
                "language": benchmark.language(row),
                "subject": benchmark.subject(row),
                "cluster": benchmark.cluster(row),
                "repeat": repeat,
                "row": row,
                "place": [job.shard, line],
                "reused": False,
            }


class Grade:
    """Grades replies by the benchmarks' own rules: the methodology's, or the improved ones.

    What takes a program's run or a judge it leaves as it is: those have stages of their own.
    """

    def __init__(self, asking: Asking, grader: Grader = "parity") -> None:
        prepare()
        self._asking = asking
        self._grader: Grader = grader

    def __call__(self, block: Block) -> Block:
        """Replace each unit's question by what its reply is worth."""
        return packed(self.graded(unpacked(block)))

    def graded(self, units: Sequence[Unit]) -> Sequence[Unit]:
        """Return the units, which have replies, with what these are worth for their questions."""
        return [
            unit
            if is_program(unit) or is_judged(unit)
            else graded(unit, self._asking.draw(unit), self._grader)
            for unit in units
        ]


def is_program(unit: Unit) -> bool:
    """Tell whether grading a unit takes running a program."""
    return unit["finish"] != "error" and benchmarks.load(unit["benchmark"]).sandboxed


def is_judged(unit: Unit) -> bool:
    """Tell whether grading a unit takes asking a judge."""
    return unit["finish"] != "error" and benchmarks.load(unit["benchmark"]).judged


def graded(unit: Unit, draw: Draw, grader: Grader) -> Unit:
    """Return a unit with what its reply is worth in place of its question."""
    row = unit.get("row")
    unit = ungraded(unit, None)
    if unit["finish"] != "error":
        try:
            unit |= _grade(unit, row, draw, improved=grader == "improved")
        except UngradableError as error:
            unit["judge_error"] = str(error)
        except (RunFailed, ConfigurationError):  # this machine's, and so every unit's
            raise
        except Exception as error:  # what our rules choke on is ours to look at
            unit["judge_error"] = f"grading failed: {_words(error)}"
    return unit


def ungraded(unit: Unit, why: str | None) -> Unit:
    """Return a unit without a verdict; `why` says what kept the script from giving one."""
    for name in ("row", "place"):
        unit.pop(name, None)
    return unit | {
        "correct": False,
        "answer": None,
        "reason": unit["error"],
        "by": None,
        "judge_error": why,
    }


def _grade(unit: Unit, row: Any, draw: Draw, *, improved: bool) -> Unit:
    benchmark = benchmarks.load(unit["benchmark"])
    grade = benchmark.grade(row, unit["response"], draw=draw)
    beside: Unit = {}
    if improved and not benchmark.judged:
        beside["parity"] = {"correct": grade.correct, "answer": grade.answer}
        if benchmark.rereads(row, unit["response"]):
            grade = benchmark.improved(row, unit["response"], draw=draw)
    if grade.flags:
        beside["flags"] = list(grade.flags)
    if grade.details:
        beside["details"] = dict(grade.details)
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
_SELDOM = ("token_limit",)
"""And of few replies; retries are no part of a reply that is taken again."""


def response(unit: Mapping[str, Any]) -> Unit:
    """Return what later runs may take from a unit."""
    return {name: unit[name] for name in (*_RESPONSE, *(it for it in _SELDOM if it in unit))}


def remember(units: Iterable[Unit], responses: Responses | None) -> None:
    """Keep what later runs may take of units with replies; what is kept already stays."""
    if responses is None:
        return
    new = {
        unit["address"]: response(unit)
        for unit in units
        if unit.get("address") and not unit["reused"] and lasting(unit["finish"])
    }
    if new:
        responses.put(new)


def reply_of(completion: Completion) -> Unit:
    """Return what a unit holds of a completion."""
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
    told: Unit = dict(zip(_RESPONSE, values, strict=True))
    if completion.token_limit is not None:
        told["token_limit"] = completion.token_limit
    if retries := completion.retries.to_json():
        told["retries"] = retries
    return told


def completion_of(reply: Mapping[str, Any]) -> Completion:
    """Return the completion of which a unit holds this."""
    told = {name: reply[name] for name in _RESPONSE if name != "response"}
    return Completion(
        reply["response"],
        **told,
        token_limit=reply.get("token_limit"),
        retries=Retries(**reply.get("retries", {})),
    )


def _plain(request: Request) -> Unit:
    return {
        "messages": [[it.role, it.content, list(it.images)] for it in request.messages],
        "seed": request.seed,
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "gold": request.gold,
        "system_apart": request.system_apart,
    }


def request_of(unit: Unit) -> Request:
    """Return the request that was added to a unit."""
    plain = unit["request"]
    told = plain["messages"]
    messages = tuple(Message(role, content, tuple(images)) for role, content, images in told)
    return Request(**plain | {"messages": messages})


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _contains(ordered: Any, number: int) -> bool:
    place = int(np.searchsorted(ordered, np.uint64(number)))
    return place < len(ordered) and int(ordered[place]) == number


def packed(units: Iterable[Unit]) -> Block:
    """Return units as they travel: as one row, which Ray Data does not cut."""
    return {UNITS: np.array([json.dumps(list(units))], dtype=object)}


def unpacked(block: Block) -> list[Unit]:
    """Return the units of a block."""
    return [unit for text in block[UNITS] for unit in json.loads(text)]
