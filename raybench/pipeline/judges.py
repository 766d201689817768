"""The judges' stage: models say what replies are worth that no script can grade.

It is where the shards are: a row is read when its reply is there, so that no image waits with it.
"""

import asyncio
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, cast

from raybench import benchmarks
from raybench.benchmarks.parts.contract import Row
from raybench.benchmarks.parts.judged import Judged, Judgement
from raybench.fleet.link import Door, Link
from raybench.pipeline import rows
from raybench.pipeline.process import Block, prepare
from raybench.pipeline.referee import Call, Referee
from raybench.pipeline.reply_log import ReplyWriter
from raybench.pipeline.responses import Responses
from raybench.pipeline.stage_reports import JUDGES, Reporter, lane_of
from raybench.pipeline.stages import (
    Asking,
    Unit,
    graded,
    is_judged,
    packed,
    unpacked,
)
from raybench.pipeline.units import unit_id
from raybench.types import (
    JUDGING,
    Completion,
    Grader,
    JudgeRole,
    Message,
    ModelSpec,
    Request,
    Sampling,
)

JUDGE_TOKENS = 4096
"""Most tokens of a judgement, as in HLE's own code; a judge that reasons has its own maximum."""
_REASONING = "reasoning"
_EXTRACTED: Mapping[str, int] = {"extracted_final_answer": 300}
"""Most characters of a judgement's other texts, where its reasoning is bounded."""
_SHOWN = 80
_SEEDS = 2**31

NOT_ANSWERED = "there is no answer to judge"


def as_judge(model: ModelSpec) -> ModelSpec:
    """Return a model as it judges: by the judge's prompt and nothing else.

    What it is told and how long it may be, when it is ranked, is not for that.
    """
    return replace(
        model,
        name=f"{model.name}{JUDGING}",
        system_prompt=None,
        sampling=Sampling(max_tokens=None if model.reasoning else JUDGE_TOKENS),
    )


@dataclass(frozen=True)
class Panel:
    """The judges, the one first whose verdict counts, and how they are asked."""

    models: Mapping[str, ModelSpec]
    """As they are asked, by the names that they are known by."""
    seed: int
    responses: Responses | None = None
    role: JudgeRole = "user"
    longest: int | None = None
    """Most characters of a hosted judge's reasoning; None bounds nothing, as HLE's authors do. A
    small model that is made to write JSON may never close its quotes."""

    def referees(self) -> dict[str, Referee]:
        """Return them with what they told earlier runs."""
        return {name: Referee(model, self.responses) for name, model in self.models.items()}

    def trial(self, judge: ModelSpec, benchmark: Judged, row: Row) -> Request:
        """Return a question to a judge that shows whether it can be asked: of a right answer."""
        asked = benchmark.judge(row, benchmark.gold(row))
        return self._put(judge, benchmark, asked, seed=self.seed % _SEEDS)

    def requests(self, judge: ModelSpec, units: Sequence[Unit]) -> dict[int, Request]:
        """Return what a judge is asked about units with replies, by their places."""
        return {
            place: self._request(judge, unit)
            for place, unit in enumerate(units)
            if is_judged(unit) and has_answer(unit)
        }

    def _request(self, judge: ModelSpec, unit: Unit) -> Request:
        benchmark = judged(unit)
        asked = benchmark.judge(unit["row"], unit["response"])
        return self._put(judge, benchmark, asked, seed=(unit_id(unit) + self.seed) % _SEEDS)

    def _put(
        self, judge: ModelSpec, benchmark: Judged, asked: tuple[Message, ...], seed: int
    ) -> Request:
        return Request(
            tuple(replace(message, role=self.role) for message in asked),
            seed=seed,
            # Other servers' strict schemas know no bounds of texts.
            json_schema=bounded(benchmark.schema, self.longest)
            if judge.engine == "vllm" and self.longest is not None
            else benchmark.schema,
        )


class Judge:
    """Grades units by what judges say of their replies."""

    def __init__(self, link: Link, panel: Panel, asking: Asking, grader: Grader) -> None:
        prepare()
        self._door = Door(link)
        self._panel = panel
        self._referees = panel.referees()
        self._asking, self._grader = asking, grader
        self._replies = ReplyWriter(asking.log)
        self._reporter = Reporter(link)

    async def __call__(self, block: Block) -> Block:
        """Replace each unit's question by what its reply is worth."""
        units = await asyncio.to_thread(with_rows, unpacked(block))
        told = await asyncio.gather(*(self._ask(it, units) for it in self._referees.values()))
        done = []
        for place, unit in enumerate(units):
            if not is_judged(unit):
                done.append(unit)
                continue
            benchmark = judged(unit)
            said = {
                name: replies[place]
                for name, (replies, _) in zip(self._referees, told, strict=True)
                if place in replies
            }
            done.append(
                decided(graded(unit, self._asking.draw(unit), self._grader), benchmark, said)
            )
        if calls := [call for _, of in told for call in of]:
            done[0].setdefault("checks", []).extend(calls)
        return packed(done)

    async def _ask(
        self, referee: Referee, units: Sequence[Unit]
    ) -> tuple[dict[int, Completion], list[Call]]:
        requests = self._panel.requests(referee.model, units)
        lanes = {
            place: lane_of(referee.model.name, unit["benchmark"], JUDGES)
            for place, unit in enumerate(units)
            if benchmarks.load(unit["benchmark"]).judged
        }
        with self._reporter.asking(referee.model.name, lanes, requests) as came:
            if not requests:
                return {}, []
            ids = {place: unit_id(units[place]) for place in requests}
            return await referee.tell(self._door, requests, ids, self._replies, came)


def with_rows(units: Sequence[Unit]) -> list[Unit]:
    """Return the units, those that are to be judged with their questions."""
    return [
        unit | {"row": rows.at(unit["place"])} if is_judged(unit) and "row" not in unit else unit
        for unit in units
    ]


def judged(unit: Unit) -> Judged:
    """Return the benchmark of a unit that is judged."""
    return cast(Judged, benchmarks.load(unit["benchmark"]))


def has_answer(unit: Unit) -> bool:
    """Tell whether a reply holds an answer to judge."""
    return judged(unit).answered(unit["response"], unit["finish"])


def decided(unit: Unit, benchmark: Judged, said: Mapping[str, Completion]) -> Unit:
    """Return a graded unit with what the judges say: the first one's verdict counts."""
    if unit["judge_error"] is not None:  # our rules choke on its question
        return unit
    if not said:
        return unit | {
            "correct": False,
            "answer": None,
            "by": None,
            "reason": unit["error"] or f"{NOT_ANSWERED}: the reply was cut before it",
        }
    judgements = {name: _told(benchmark, it) for name, it in said.items()}
    name, first = next(iter(judgements.items()))
    unit = unit | {"judgements": judgements, "by": None, "correct": False, "answer": None}
    if (why := first.get("error")) is not None:
        return unit | {"judge_error": f"{name}, who judges, {why}", "reason": None}
    return unit | {
        "correct": first["correct"],
        "answer": first["extracted"],
        "by": "judge",
        "reason": f"{'right' if first['correct'] else 'wrong'}, says {name}",
    }


def silence(benchmark: Judged, reply: Completion) -> str | None:
    """Return why a judge's reply holds no verdict; None where it does."""
    if reply.finish in ("error", "overflow", "refusal", "empty", "thinking", "unsupported"):
        return f"gave no verdict: {reply.error}"
    # In what was cut, a verdict may be one that the judge only quotes.
    if reply.finish != "stop" or benchmark.judgement(reply.text) is None:
        return f"gave no verdict in the form asked for ({reply.text[:_SHOWN]!r}, {reply.finish})"
    return None


def _told(benchmark: Judged, reply: Completion) -> dict[str, Any]:
    """Return what the journal keeps of a judge's reply."""
    if reason := silence(benchmark, reply):
        return {"error": reason}
    judgement = cast(Judgement, benchmark.judgement(reply.text))
    return {
        "correct": judgement.correct,
        "extracted": judgement.extracted,
        "reasoning": judgement.reasoning,
        "confidence": judgement.confidence,
    }


def bounded(schema: Mapping[str, Any], longest: int) -> dict[str, Any]:
    """Return the schema with bounds for its texts: the reasoning has so many characters at most."""
    found = deepcopy(dict(schema))
    for name, most in {**_EXTRACTED, _REASONING: longest}.items():
        if name in found["properties"]:
            found["properties"][name]["maxLength"] = most
    return found
