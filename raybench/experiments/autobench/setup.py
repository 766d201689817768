"""What the configuration says, in the protocol's words; and what a run of it would do."""

import math
import os
from collections.abc import Iterator
from dataclasses import asdict

from raybench.arena.decoding import Decoding
from raybench.autobench.analysis import tables
from raybench.autobench.analysis.tables import Table
from raybench.autobench.settings import Difficulty, Settings, generators
from raybench.autobench.steps import Kind
from raybench.config import Config, everybody, judges
from raybench.experiments.autobench import given, reuse
from raybench.experiments.autobench.deviations import deviations
from raybench.experiments.parts.deviations import AUTOBENCH_PAPER
from raybench.experiments.parts.deviations import planned as named
from raybench.fleet import group_engines
from raybench.fleet.needs import awake_at_once
from raybench.pipeline.run_identity import fingerprint
from raybench.statements import Statement
from raybench.tracking.plan import engine_lines, turns
from raybench.types import Plan

CONCLUSIONS = ("autobench.external",)
"""Settings that change only what is made of a journal."""
_BATCH = 256
"""Requests that vLLM works on at once, where its options do not say otherwise."""
_ENGINES_EACH = 8
_CALLS_EACH = 20_000
"""Stand-ins' calls that pay for the start of an actor."""


def settings(config: Config) -> Settings:
    """Return the protocol's settings."""
    conf = config.autobench
    return Settings(
        models=tuple(model.name for model in config.roster.models),
        judges=tuple(conf.judges),
        self_judgement=conf.self_judgement,
        weights=conf.weights,  # type: ignore[arg-type]  # `problems` has checked it
        tasks=() if conf.tasks is None else given.read(conf.tasks),
        faulty=conf.faulty_tasks,  # type: ignore[arg-type]
        fenced=conf.fenced,
        topics=tuple(conf.topics),
        difficulties=tuple(Difficulty(d.label, d.phrase, d.probability) for d in conf.difficulties),
        mean_threshold=conf.mean_threshold,
        median_threshold=conf.median_threshold,
        attempts=conf.attempts,
        restarts=conf.restarts,
        seed=config.seed,
    )


def tables_of(config: Config) -> tuple[Table, ...]:
    """Read the tables that the order is to be compared with."""
    models = [model.name for model in config.roster.models]
    return tuple(
        tables.read(name, path, models) for name, path in config.autobench.external.items()
    )


def decoding(config: Config) -> Decoding:
    """Return how the models' replies are drawn."""
    conf = config.autobench
    return Decoding(
        tokens={
            "task": conf.task_tokens,
            "task_rating": conf.rating_tokens,
            "answer": conf.answer_tokens,
            "answer_rating": conf.rating_tokens,
        },
        constrained_ratings=conf.constrained_ratings,
        rating_temperature=conf.rating_temperature,
        seed=config.seed,
        thinking_tokens=conf.thinking_tokens,
        reasoning=frozenset(model.name for model in everybody(config) if model.reasoning),
    )


def least_calls(config: Config) -> int:
    """Return how many calls the run makes at least: where each first task is accepted."""
    return config.autobench.iterations * calls(config)[0]


def most_calls(config: Config) -> int:
    """Return how many calls the run makes at most: all tries, and all that may be in vain."""
    conf = config.autobench
    ventures = conf.tasks is None and at_once(config) > 1
    in_vain = budget(config) if ventures else 0.0
    return conf.iterations * calls(config)[1] + math.floor(in_vain)


def budget(config: Config) -> float:
    """Return how many calls may hang on tasks that are not surely accepted."""
    return config.autobench.speculation * least_calls(config)


def calls(config: Config) -> tuple[int, int]:
    """Return how many calls an iteration makes, at best and at worst.

    Of models that all reply; who stays silent is asked, and rated, less.
    """
    conf = config.autobench
    models = [model.name for model in config.roster.models]
    panel = conf.judges or models
    itself = 0 if conf.self_judgement else sum(model in panel for model in models)
    contest = len(models) + len(models) * len(panel) - itself
    if conf.tasks is not None:
        return contest, contest
    # Where nobody rates its own, it matters whether the task is that of a judge.
    fewest = 1 + len(panel) - (itself > 0)
    most = 1 + len(panel) - (itself == len(models))
    tries = conf.attempts * generators(conf.restarts, len(models))
    return fewest + contest, tries * most + contest


def calls_by_kind(config: Config, iterations: int) -> dict[tuple[str, Kind], float]:
    """Return how many calls of each kind each model is asked at best, on average over seeds."""
    conf = config.autobench
    models = [model.name for model in config.roster.models]
    of_others = {
        judge: len(models) - (judge in models and not conf.self_judgement)
        for judge in conf.judges or models
    }
    found: dict[tuple[str, Kind], float] = {(model, "answer"): iterations for model in models}
    for judge, rated in of_others.items():
        found[judge, "answer_rating"] = iterations * rated
        if conf.tasks is None:
            found[judge, "task_rating"] = iterations * rated / len(models)
    if conf.tasks is None:
        found |= {(model, "task"): iterations / len(models) for model in models}
    return found


def at_once(config: Config) -> int:
    """Return how many iterations are under way side by side."""
    if config.autobench.at_once is not None:
        return config.autobench.at_once
    # Each has a question for every model at least: so many fill the largest batch.
    batches = (model.options.get("max_num_seqs") for model in everybody(config))
    largest = max((it for it in batches if isinstance(it, int)), default=_BATCH)
    return min(config.autobench.iterations, max(largest, _BATCH))


def actors(config: Config) -> int:
    """Return how many processes ask the models; 0 is this one, which needs no cluster for that.

    Endpoints' limits are kept by each process for itself. Stand-ins compute in the process that
    asks them, which is worth others only where there is much to compute.
    """
    engines = group_engines(everybody(config))
    hosted = sum(engine.kind == "vllm" for engine in engines)
    if hosted:
        remote = any(engine.kind == "openai" for engine in engines)
        return 1 if remote else math.ceil(hosted / _ENGINES_EACH)
    if any(engine.kind == "openai" for engine in engines):
        return 0
    return min(os.cpu_count() or 1, least_calls(config) // _CALLS_EACH)


def plan(config: Config, extended: reuse.Extended | None = None) -> Plan:
    """Say what the run would do; `extended` is what it extends, where that has been read already.

    Raises ConfigurationError where a file that it is to begin with cannot be read.
    """
    conf = config.autobench
    if extended is None:
        extended = reuse.earlier(config, fingerprint(asdict(config), without=CONCLUSIONS))
    models = tuple(model.spec() for model in config.roster.models)
    referees = tuple(model.spec() for model in judges(config))
    engines = group_engines(everybody(config))
    awake = awake_at_once(engines, config.fleet)
    return Plan(
        experiment="autobench",
        models=models,
        engines=engine_lines(engines, referees),
        slots=awake,
        ray=actors(config) > 0,
        units=conf.iterations,
        unit="iteration",
        each=conf.iterations,
        referees=referees,
        calls=Statement(
            "plan.calls_between",
            "{least:,} to {most:,} requests, if all models reply",
            least=least_calls(config),
            most=most_calls(config),
        ),
        notes=(
            Statement(
                "plan.iterations_at_once",
                "iterations that run at the same time: {iterations}",
                iterations=at_once(config),
            ),
            *_begins(config, extended),
            *named(deviations(config), AUTOBENCH_PAPER),
            *turns(len(engines), awake),
        ),
    )


def _begins(config: Config, extended: reuse.Extended | None) -> Iterator[str]:
    """Yield which files the run begins with."""
    conf = config.autobench
    if conf.tasks is not None:
        count = len(given.read(conf.tasks))
        again = ", used several times; a repeated task does not count as a new one"
        yield Statement(
            "plan.tasks",
            "{tasks:,} tasks from {file}{again}",
            tasks=count,
            file=conf.tasks,
            again=again * (count < conf.iterations),
        )
    if extended is not None:
        count = len(extended.replies)
        yield f"those of the {count:,} replies in {extended.folder} that fit are reused"
    for table in tables_of(config):
        yield f"scores are compared with the table {table.remark or table.name}"
