"""Asking what is still missing: engines up, questions through the graph, units into the journal."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from raybench import benchmarks, sandbox
from raybench.config import Config
from raybench.experiments.parts.questions.ledger import Ledger
from raybench.experiments.parts.questions.referees import (
    checker_of,
    is_judged,
    judges_of,
    others_of,
)
from raybench.experiments.parts.questions.setup import repeats_of, slots_of
from raybench.experiments.parts.questions.stage_progress import StageProgress
from raybench.experiments.parts.questions.trial import try_judges
from raybench.experiments.parts.session import Session
from raybench.fleet import group_engines
from raybench.fleet.devices import elsewhere
from raybench.fleet.link import Link
from raybench.fleet.needs import awake_at_once
from raybench.fleet.streams import begun_beside
from raybench.pipeline import graph, wanted
from raybench.pipeline.checker import Verdicts
from raybench.pipeline.datasets import Dataset, Prepared
from raybench.pipeline.judges import Panel
from raybench.pipeline.programs import Slots
from raybench.pipeline.reply_log import ReplyLog
from raybench.pipeline.responses import Responses
from raybench.pipeline.stages import remember
from raybench.pipeline.terms import Terms, asking_of, models_of
from raybench.pipeline.units import Job, Questions, jobs
from raybench.sandbox import Settings
from raybench.tracking import console
from raybench.types import Completion, JudgeRole, ModelSpec, Retries


async def ask(config: Config, data: Prepared, ledger: Ledger, session: Session) -> None:
    """Have every unit that is not done asked, graded and kept."""
    everybody = (*models_of(config), *others_of(config, data))
    context = config.fleet.max_model_len
    cache = Responses.of(everybody, context) if Terms.of(config).conf.cache else None
    if cache:
        await asyncio.to_thread(cache.prepare)
    log = ReplyLog.of(session.folder)
    work = _work(config, data, ledger, cache, log)
    # On a cluster programs run where they can, which need not be here.
    if work.slots.profiles and not elsewhere(config.fleet):
        session.phase("trying the sandbox")
        await asyncio.to_thread(_try, work.slots)
    # Engines whose models have nothing left to say need not come up.
    session.phase("looking up earlier replies")
    needed = await asyncio.to_thread(wanted.models, work)
    asked = [model for model in everybody if model.name in needed]
    judges = [it.name for it in work.judges.models.values()] if work.judges else []
    await session.preflight(asked, needed=judges)
    if work.judges is not None:
        await try_judges(work.judges, data, needed, config.fleet, session.phase)
    stages = StageProgress(
        session.progress, work, _left(config, data, ledger), group_engines(everybody)
    )
    async with session.fleet(asked, ray=True, judges=judges, wait=False) as fleet:
        link = Link.to(fleet, asked, config.fleet)
        # The graph's processes start while engines do.
        stream = begun_beside(
            graph.stream(work, link, session.phase, console.warn, stages.reported),
            lambda: session.up(fleet),
        )
        with ExitStack() as stack:
            count = {m.name: stack.enter_context(fleet.account.call(m.name)) for m in asked}
            async with aclosing(stream):
                async for units in stream:
                    session.phase("")  # what was waited for is there
                    await asyncio.to_thread(remember, units, cache)
                    account(units, count)
                    stages.kept(units)
                    _keep(session, units)


def _left(config: Config, data: Prepared, ledger: Ledger) -> dict[tuple[str, str], int]:
    """Return how many units each model has left of each benchmark."""
    asked = {part.benchmark: part.questions * repeats_of(config, part.benchmark) for part in data}
    return {
        (model.name, benchmark): count - ledger.counts[model.name, benchmark]
        for model in models_of(config)
        for benchmark, count in asked.items()
    }


def _try(slots: Slots) -> None:
    """Run nothing in the sandbox, so that what is amiss shows before all else."""
    sandbox.configure(slots.settings)
    try:
        for profile in slots.profiles:
            sandbox.run("", profile=profile)
    finally:
        sandbox.configure(Settings())  # programs run in slots, not here


def account(
    units: Sequence[dict[str, Any]], count: Mapping[str, Callable[[Completion], None]]
) -> None:
    """Count what models were asked for units and, taken out of them, checker and judges."""
    for unit in units:
        # A question that could not be put was put to nobody: its model may not even be up.
        if not unit["reused"] and unit["model"] in count:
            count[unit["model"]](_completion(unit))
        for call in unit.pop("checks", ()):
            name, *told = call
            count[name](_check(told))


def _work(
    config: Config, data: Prepared, ledger: Ledger, cache: Responses | None, log: ReplyLog
) -> graph.Work:
    models = models_of(config)
    engines = group_engines(models)
    awake = awake_at_once(engines, config.fleet) or len(engines)
    terms = Terms.of(config)
    checker = checker_of(config, data)
    return graph.Work(
        _jobs(config, data, models),
        replace(asking_of(config), responses=cache, log=log),
        checker=Verdicts(checker, config.seed, cache) if checker else None,
        judges=Panel(
            judges_of(config),
            config.seed,
            cache,
            role=cast(JudgeRole, terms.conf.judge_role),  # `config.problems` has checked it
            longest=terms.conf.judge_chars,
        )
        if is_judged(data)
        else None,
        grader=terms.grader,
        slots=slots_of(config),
        done=ledger.done[:],
        said=dict(ledger.said),
        awake=awake,
    )


def _jobs(config: Config, data: Prepared, models: Sequence[ModelSpec]) -> list[Job]:
    questions = [
        Questions(
            part.benchmark,
            [(str(shard), _lines(shard)) for shard in part.shards],
            repeats_of(config, part.benchmark),
            starts=_starts(part),
        )
        for part in data
    ]
    return jobs([model.name for model in models], questions)


def _starts(part: Dataset) -> dict[str, list[int]]:
    """Return where chains begin in shards, where questions follow others."""
    benchmark = benchmarks.load(part.benchmark)
    if not benchmark.chained:
        return {}
    return {
        str(shard): [
            place
            for place, line in enumerate(shard.read_bytes().splitlines())
            if not benchmark.follows(json.loads(line))
        ]
        for shard in part.shards
    }


def _lines(shard: Path) -> int:
    with shard.open("rb") as lines:
        return sum(1 for _ in lines)


def _completion(unit: Mapping[str, Any]) -> Completion:
    return Completion(
        text="",
        finish=unit["finish"],
        prompt_tokens=unit["prompt_tokens"],
        output_tokens=unit["output_tokens"],
        cached_tokens=unit["cached_tokens"],
        token_limit=unit.get("token_limit"),
        retries=Retries(**unit.get("retries", {})),
    )


def _check(call: Sequence[Any]) -> Completion:
    prompt_tokens, output_tokens, finish = call
    return Completion("", finish, prompt_tokens=prompt_tokens, output_tokens=output_tokens)


def _keep(session: Session, units: Sequence[Mapping[str, Any]]) -> None:
    fresh = [unit for unit in units if not unit["reused"]]
    session.keep(
        *units,
        prompt_tokens=sum(unit["prompt_tokens"] for unit in fresh),
        output_tokens=sum(unit["output_tokens"] for unit in fresh),
        errors=sum(unit["finish"] == "error" or unit["judge_error"] is not None for unit in units),
    )
