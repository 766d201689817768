"""Journals of peer assessments whose judges are known: what is planted is to be found."""

import random
from collections.abc import Callable, Mapping
from typing import Any

from raybench.autobench.settings import Settings
from raybench.autobench.standing import (
    Standing,
    advance,
    contestant_scores,
    weighted_mean,
    weighted_median,
)

Rate = Callable[[str, str, float, random.Random], float]
"""A judge's rating before rounding: judge, contestant, the answer's quality, chance."""


def fair(_judge: str, _contestant: str, quality: float, rng: random.Random) -> float:
    return quality + rng.gauss(0, 0.5)


def journal(
    settings: Settings,
    iterations: int,
    *,
    rate: Rate = fair,
    ability: Mapping[str, float] | None = None,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Play iterations in which every third first has a task rejected."""
    rng, standing = random.Random(seed), Standing.start(settings)
    able = ability or {model: 1.5 + i for i, model in enumerate(settings.models)}
    records: list[dict[str, Any]] = []
    for index in range(1, iterations + 1):
        generator = settings.models[index % len(settings.models)]
        attempts = (
            []
            if settings.tasks
            else [
                attempt(settings, standing, generator, good)
                for good in ([False] * (index % 3 == 0) + [True])
            ]
        )
        answers = {model: f"{model} says <b>{index}</b>" for model in settings.models}
        quality = {model: rng.gauss(able[model], 0.5) for model in settings.models}
        judgments = {
            judge: {
                model: max(1, min(5, round(rate(judge, model, quality[model], rng))))
                for model in settings.models
                if judge in settings.judges_of(model)
            }
            for judge in settings.panel
        }
        scores = contestant_scores(answers, judgments, standing.weights)
        standing = advance(standing, scores, settings)
        records.append(
            {
                "iteration": index,
                "generator": "" if settings.tasks else generator,
                "topic": settings.topics[index % len(settings.topics)],
                "difficulty": settings.difficulties[index % len(settings.difficulties)].label,
                "attempts": attempts,
                "task": f"What is <i>{index}</i>?",
                "answers": answers,
                "judgments": judgments,
                "scores": scores,
                "cumulative": dict(standing.scores),
                "weights": dict(standing.weights),
                "truncated": [],
                "errors": [],
                "unanswered": [],
                "tokens": {},
                "seconds": 1.0,
                "ended_ms": index,
            }
        )
    return records


def attempt(settings: Settings, standing: Standing, generator: str, good: bool) -> dict[str, Any]:
    ratings = dict.fromkeys(settings.judges_of(generator), 4 if good else 1)
    return {
        "generator": generator,
        "task": "a task" if good else "a dull task",
        "ratings": ratings,
        "mean": weighted_mean(ratings, standing.weights),
        "median": weighted_median(ratings, standing.weights),
        "accepted": good,
    }
