"""The peer protocol."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from raybench.config.missing import MISSING
from raybench.config.roster import RosterConf
from raybench.errors import Problem, did_you_mean, named_twice, not_a_choice, out_of_range


@dataclass
class DifficultyConf:
    """A difficulty label, its noun phrase in the task prompt, and how often it is drawn."""

    label: str = MISSING
    phrase: str = MISSING
    probability: float = MISSING  # type: ignore[assignment]


@dataclass
class AutobenchConf:
    """The peer protocol; the values are in conf/autobench/default.yaml."""

    iterations: int = 50
    topics: list[str] = field(default_factory=list)
    difficulties: list[DifficultyConf] = field(default_factory=list)
    mean_threshold: float = 2.5
    median_threshold: float = 2.0
    attempts: int = 3
    restarts: int | None = 2
    constrained_ratings: bool = True
    rating_temperature: float | None = None
    fenced: bool = True
    task_tokens: int = 256
    answer_tokens: int = 1024
    rating_tokens: int = 16
    thinking_tokens: int = 4096
    judges: list[str] = field(default_factory=list)
    self_judgement: bool = True
    weights: str = "consensus"
    tasks: str | None = None
    faulty_tasks: str = "reject"
    at_once: int | None = None
    speculation: float = 0.5
    extends: str | None = None
    external: dict[str, str] = field(default_factory=dict)


_ROUNDED = 0.011
"""Thirds may be given as 0.33."""
_CHOICES = {"weights": ("consensus", "uniform"), "faulty_tasks": ("reject", "flag")}


def problems(autobench: AutobenchConf, roster: RosterConf) -> Iterator[Problem]:
    """Yield what is wrong with the protocol for a roster."""
    models = len(roster.models)
    yield from _judges_problems(autobench, roster)
    for name, choices in _CHOICES.items():
        if (chosen := getattr(autobench, name)) not in choices:
            yield not_a_choice(f"autobench.{name}", chosen, choices)
    if autobench.at_once is not None and autobench.at_once < 1:
        yield out_of_range(
            "autobench.at_once",
            autobench.at_once,
            "it is 1 or more, or null for as many as keep the engines busy",
        )
    if not 0 <= autobench.speculation <= 1:
        yield out_of_range(
            "autobench.speculation", autobench.speculation, "it is a share, from 0 to 1"
        )
    if models == 1:
        yield Problem(
            "setting.range",
            "autobench needs at least two models to assess one another, the roster has one",
            setting="roster.models",
            fix="add one under roster.models",
        )
    for name in ("iterations", "attempts", "task_tokens", "answer_tokens", "rating_tokens"):
        if getattr(autobench, name) < 1:
            yield out_of_range(f"autobench.{name}", getattr(autobench, name), "it is 1 or more")
    if autobench.restarts is not None and autobench.restarts < 0:
        yield out_of_range(
            "autobench.restarts",
            autobench.restarts,
            "it is 0 or more, or null to restart until a task is accepted",
        )
    if autobench.thinking_tokens < 0:
        yield out_of_range(
            "autobench.thinking_tokens", autobench.thinking_tokens, "it is 0 or more"
        )
    if not autobench.topics:
        yield Problem(
            "setting.missing",
            "autobench.topics is empty",
            setting="autobench.topics",
            fix="name at least one topic",
        )
    for name, several in (
        ("topics", autobench.topics),
        ("difficulties", [difficulty.label for difficulty in autobench.difficulties]),
    ):
        for each, count in Counter(several).items():
            if count > 1:
                yield named_twice(f"autobench.{name}", each, count)
    total = math.fsum(difficulty.probability for difficulty in autobench.difficulties)
    if not math.isclose(total, 1, abs_tol=_ROUNDED):
        yield Problem(
            "setting.range",
            f"autobench.difficulties: their probabilities come to {total:g}",
            setting="autobench.difficulties",
            given=total,
            fix="give such that come to 1",
        )
    for difficulty in autobench.difficulties:
        if difficulty.probability < 0:
            yield Problem(
                "setting.range",
                f"autobench.difficulties: '{difficulty.label}' has probability "
                f"{difficulty.probability}",
                setting="autobench.difficulties",
                given=difficulty.probability,
                fix="it is 0 or more",
            )
    if autobench.rating_temperature is not None and not 0 <= autobench.rating_temperature <= 2:
        yield out_of_range(
            "autobench.rating_temperature",
            autobench.rating_temperature,
            "it is 0 to 2, or null for each model's own",
        )
    for name, path in autobench.external.items():
        if not path.strip():
            yield Problem(
                "setting.missing",
                f"autobench.external.{name} is empty",
                setting=f"autobench.external.{name}",
                fix="give the path of a CSV of model and score",
            )
    for name in ("mean_threshold", "median_threshold"):
        if getattr(autobench, name) >= 5:
            yield Problem(
                "setting.range",
                f"autobench.{name} is {getattr(autobench, name)}: ratings end at 5 and a task has "
                "to exceed it, so none would ever be accepted",
                setting=f"autobench.{name}",
                given=getattr(autobench, name),
                fix="Give less than 5",
            )


def _judges_problems(autobench: AutobenchConf, roster: RosterConf) -> Iterator[Problem]:
    known = [model.name for model in (*roster.models, *roster.judges)]
    for name, count in Counter(autobench.judges).items():
        if name not in known:
            yield Problem(
                "setting.choice",
                f"autobench.judges names '{name}', which the roster does not have",
                setting="autobench.judges",
                given=name,
                fix=did_you_mean(name, known),
            )
        if count > 1:
            yield named_twice("autobench.judges", name, count)
    if not autobench.self_judgement and len(autobench.judges) == 1:
        yield Problem(
            "setting.conflict",
            f"autobench.self_judgement=false leaves nobody to judge what {autobench.judges[0]} "
            "writes, which is the only judge",
            setting="autobench.self_judgement",
            fix="name another one, or leave it out",
        )
