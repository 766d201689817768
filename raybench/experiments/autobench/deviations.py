"""In which settings a run deviates from the paper's protocol, read from what runs.

Numbers that the paper's text lost (iterations, thresholds, attempts, probabilities, temperature and
top-p) deviate from nothing: those of raybench stand in for them.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from raybench.autobench.settings import DIFFICULTIES, TOPICS
from raybench.autobench.standing import SCALE
from raybench.config import AutobenchConf, Config, ModelConf, everybody, judges
from raybench.experiments.parts.deviations import AUTOBENCH_PAPER, Deviation
from raybench.experiments.parts.deviations import section as titled
from raybench.statements import Statement
from raybench.tracking.report import Section
from raybench.types import ModelSpec

_ROOM = 256
"""Tokens that a judge needs at least for some words, or a thought, before its rating."""


def deviations(config: Config) -> tuple[Deviation, ...]:
    """Return all deviations from the paper's protocol; () where the run follows it."""
    conf, asked = config.autobench, everybody(config)
    return (
        *_panel(conf, judges(config)),
        *_tasks(conf),
        *_ratings(conf, asked),
        *_models(conf, asked),
    )


def section(found: Sequence[Deviation]) -> Section:
    """Return the section of the report that names them all."""
    return titled(
        found,
        AUTOBENCH_PAPER,
        Statement(
            "deviation.autobench.section",
            "The published text lacks the numbers of iterations, thresholds, attempts, "
            "probabilities, temperature and top-p: raybench uses its own. It shows the task prompt "
            "only for difficulty 'difficult' and topic math: the lines for other difficulties are "
            "raybench's, and other topics have no line. An empty answer gets the lowest score, and "
            "no judge reads it.",
        ),
    )


def _panel(conf: AutobenchConf, outsiders: Sequence[ModelConf]) -> Iterator[Deviation]:
    """Yield what is different in who judges, and how much each judge counts."""
    if conf.judges:
        outside = ", ".join(model.name for model in outsiders)
        yield Deviation(
            "autobench.judges",
            list(conf.judges),
            "all contestants judge",
            Statement(
                "deviation.autobench.judges",
                "only {judges} judge{s}{outside}",
                judges=", ".join(conf.judges),
                s="s" * (len(conf.judges) == 1),
                outside=f" ({outside} from outside the contestants)" if outside else "",
            ),
        )
    if not conf.self_judgement:
        yield Deviation(
            "autobench.self_judgement",
            False,
            "every model judges all answers, its own too",
            Statement("deviation.autobench.self", "no model judges what it wrote itself"),
        )
    if conf.weights == "uniform":
        yield Deviation(
            "autobench.weights",
            conf.weights,
            "judging weights follow the scores (equation 3)",
            Statement("deviation.autobench.weights", "all judges weigh the same"),
        )


def _tasks(conf: AutobenchConf) -> Iterator[Deviation]:
    """Yield what is different in where tasks come from, and which of them pass."""
    if conf.tasks is not None:
        yield Deviation(
            "autobench.tasks",
            PurePath(conf.tasks).name,
            "contestants pose the tasks",
            Statement("deviation.autobench.tasks", "tasks come from a file"),
        )
        return
    if {*conf.topics} != {*TOPICS}:
        yield Deviation(
            "autobench.topics",
            list(conf.topics),
            f"ten topics: {', '.join(TOPICS)}",
            Statement(
                "deviation.autobench.topics",
                "tasks are about {topics}",
                topics=", ".join(conf.topics),
            ),
        )
    levels = {(it.label, it.phrase) for it in conf.difficulties if it.probability}
    if levels != {(it.label, it.phrase) for it in DIFFICULTIES}:
        yield Deviation(
            "autobench.difficulties",
            [it.label for it in conf.difficulties if it.probability],
            f"three levels: {', '.join(it.phrase for it in DIFFICULTIES)}",
            Statement(
                "deviation.autobench.difficulties",
                "levels of difficulty are {levels}",
                levels=", ".join(sorted(label for label, _ in levels)),
            ),
        )
    for name in ("mean_threshold", "median_threshold"):
        if (threshold := getattr(conf, name)) < SCALE[0]:
            yield Deviation(
                f"autobench.{name}",
                threshold,
                "tasks are turned down by their mean and by their median",
                Statement(
                    "deviation.autobench.threshold",
                    "{threshold:g} rejects no task, as ratings are {lowest:g} or more",
                    threshold=threshold,
                    lowest=SCALE[0],
                ),
            )
    if conf.restarts is not None:
        yield Deviation(
            "autobench.restarts",
            conf.restarts,
            "new generators are sampled until a task is accepted",
            Statement(
                "deviation.autobench.restarts",
                "an iteration ends without a task after {generators} generator{s}",
                generators=conf.restarts + 1,
                s="s" * (conf.restarts != 0),
            ),
        )
    if conf.faulty_tasks == "reject":
        yield Deviation(
            "autobench.faulty_tasks",
            conf.faulty_tasks,
            "the thresholds alone decide",
            Statement(
                "deviation.autobench.faulty_tasks",
                "tasks that repeat earlier ones, give their answer away or are no tasks are turned "
                "down as well",
            ),
        )


def _ratings(conf: AutobenchConf, asked: Sequence[ModelSpec]) -> Iterator[Deviation]:
    """Yield what is different in how judges are asked, and how they reply."""
    if conf.fenced:
        yield Deviation(
            "autobench.fenced",
            True,
            "the prompts of tables 7 and 8, letter by letter",
            Statement(
                "deviation.autobench.fenced",
                "judges read tasks and answers between marks, with a line that calls them data",
            ),
        )
    if conf.constrained_ratings:
        yield Deviation(
            "autobench.constrained_ratings",
            True,
            "judges reply freely",
            Statement(
                "deviation.autobench.constrained",
                "ratings are decoded as <rank>1</rank> to <rank>5</rank> where the engine can",
            ),
        )
    elif conf.rating_tokens < _ROOM:
        yield Deviation(
            "autobench.rating_tokens",
            conf.rating_tokens,
            "judges reply freely",
            Statement(
                "deviation.autobench.rating_tokens",
                "judges' replies end after {tokens} tokens",
                tokens=conf.rating_tokens,
            ),
        )
    panel = {*conf.judges} or {model.name for model in asked}
    thinking = [model.name for model in asked if model.reasoning and model.name in panel]
    if thinking and conf.rating_tokens + conf.thinking_tokens < _ROOM:
        yield Deviation(
            "autobench.thinking_tokens",
            conf.thinking_tokens,
            "models that reason think before they rate",
            Statement(
                "deviation.autobench.thinking_tokens",
                "{models} have no room to think before a rating",
                models=", ".join(thinking),
            ),
        )


def _models(conf: AutobenchConf, asked: Sequence[ModelSpec]) -> Iterator[Deviation]:
    """Yield what is different in how models draw their replies, and what else they are told."""
    samplings = {model.name: _sampling(model.drawn_with) for model in asked}
    if len({*samplings.values()}) > 1:
        yield Deviation(
            "roster.models[].sampling",
            samplings,
            "one temperature and one top-p for all replies",
            Statement(
                "deviation.autobench.sampling",
                "models draw their replies differently ({samplings})",
                samplings="; ".join(sorted({*samplings.values()})),
            ),
        )
    temperatures = {model.drawn_with["temperature"] for model in asked}
    if (rating := conf.rating_temperature) is not None and temperatures != {rating}:
        yield Deviation(
            "autobench.rating_temperature",
            rating,
            "one temperature for all replies",
            Statement(
                "deviation.autobench.rating_temperature",
                "judges rate at temperature {temperature:g}",
                temperature=rating,
            ),
        )
    if prompted := [model.name for model in asked if model.system_prompt]:
        yield Deviation(
            "roster.models[].system_prompt",
            prompted,
            "the prompts of tables 5 to 8 and nothing else",
            Statement(
                "deviation.autobench.system_prompt",
                "{models} {are} also given a system prompt",
                models=", ".join(prompted),
                are="is" if len(prompted) == 1 else "are",
            ),
        )


def _sampling(drawn: Mapping[str, Any]) -> str:
    return f"temperature {drawn['temperature']}, top-p {drawn['top_p']}"
