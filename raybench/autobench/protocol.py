"""The AutoBench protocol: who is asked what, which tasks are accepted, how scores become weights.

Source: "AutoBench: Automating LLM Evaluation through Reciprocal Peer Assessment", section 3 and
algorithm 1. Nothing here talks to a model. `iteration` is a generator that yields batches of
questions (`Ask`) and is sent the replies; whoever drives it decides how the models are reached.
Scores and weights are a function of the journalled ratings alone, so `replay` recomputes them.
"""

import random
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from raybench.autobench import prompts
from raybench.autobench.settings import Difficulty, Settings
from raybench.autobench.standing import (
    Ratings,
    Standing,
    advance,
    contestant_scores,
    weighted_mean,
    weighted_median,
)

__all__ = [
    "Ask",
    "Kind",
    "Record",
    "Reply",
    "Settings",
    "Standing",
    "accepted",
    "iteration",
    "replay",
]

Record = dict[str, Any]
"""One line of journal/iterations.jsonl; its fields are listed in `iteration`."""

Kind = Literal["task", "task_rating", "answer", "answer_rating"]


@dataclass(frozen=True, slots=True)
class Ask:
    """One prompt for one model. The key names it uniquely within the run: seeds come from it."""

    kind: Kind
    model: str
    prompt: str
    key: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said; text is None where no reply could be had (never the model's fault).

    A model that had no answer, whatever kept it from one, said nothing: its text is empty.
    """

    text: str | None
    truncated: bool = False


def iteration(
    index: int, standing: Standing, settings: Settings
) -> Generator[list[Ask], list[Reply], Record]:
    """Run iteration `index` (from 1): yield asks, be sent their replies, return the record.

    The record holds `iteration, generator, topic, difficulty, attempts, task, answers, judgments,
    scores, cumulative, weights` as the design page describes them, and `truncated`, the models
    whose answers were cut. Where no task was accepted, `task` is None and nobody is scored.
    """
    rng = random.Random(f"{settings.seed}/{index}")
    topic = rng.choice(settings.topics)
    difficulty = _draw(settings.difficulties, rng)
    attempts: list[Record] = []
    task: str | None = None
    generator = ""
    for generator in _generators(settings, rng):
        for _ in range(settings.attempts):
            number = len(attempts) + 1
            attempt = yield from _attempt(
                f"{index}/{number}", generator, topic, difficulty, standing, settings
            )
            attempts.append(attempt)
            if attempt["accepted"]:
                task = attempt["task"]
                break
        if task is not None:
            break

    answers: dict[str, str | None] = {}
    truncated: list[str] = []
    judgments: dict[str, dict[str, int | None]] = {}
    if task is not None:
        answers, truncated = yield from _answers(index, task, settings)
        judgments = yield from _judgments(index, task, answers, settings)
    scores = contestant_scores(answers, judgments, standing.weights)
    after = advance(standing, scores, settings)
    return {
        "iteration": index,
        "generator": generator,
        "topic": topic,
        "difficulty": difficulty.label,
        "attempts": attempts,
        "task": task,
        "answers": answers,
        "judgments": judgments,
        "scores": scores,
        "cumulative": dict(after.scores),
        "weights": dict(after.weights),
        "truncated": truncated,
    }


def replay(records: Iterable[Mapping[str, Any]], settings: Settings) -> Standing:
    """Recompute scores and weights from the ratings of the journal, strictly in order.

    Scores and weights written in the records are not read. Raises ValueError where an iteration is
    missing or there twice.
    """
    standing = Standing.start(settings)
    for record in sorted(records, key=lambda record: record["iteration"]):
        if record["iteration"] != standing.iteration + 1:
            raise ValueError(
                f"the journal has iteration {record['iteration']} where {standing.iteration + 1} "
                "should stand: one is missing or there twice"
            )
        scores = contestant_scores(record["answers"], record["judgments"], standing.weights)
        standing = advance(standing, scores, settings)
    return standing


def accepted(ratings: Ratings, weights: Mapping[str, float], settings: Settings) -> bool:
    """Tell whether a task passes: weighted mean and median both exceed their thresholds."""
    mean, median = weighted_mean(ratings, weights), weighted_median(ratings, weights)
    if mean is None or median is None:
        return False
    return mean > settings.mean_threshold and median > settings.median_threshold


def _draw(difficulties: Sequence[Difficulty], rng: random.Random) -> Difficulty:
    return rng.choices(difficulties, [difficulty.probability for difficulty in difficulties])[0]


def _generators(settings: Settings, rng: random.Random) -> Sequence[str]:
    """Draw the generators in the order of trying, none twice while others wait."""
    wanted = settings.restarts + 1
    order: list[str] = []
    while len(order) < wanted:
        order += rng.sample(settings.models, len(settings.models))
    return order[:wanted]


def _attempt(
    key: str,
    generator: str,
    topic: str,
    difficulty: Difficulty,
    standing: Standing,
    settings: Settings,
) -> Generator[list[Ask], list[Reply], Record]:
    prompt = prompts.task(difficulty.label, difficulty.phrase, topic)
    (reply,) = yield [Ask("task", generator, prompt, f"{key}/task")]
    task = reply.text.strip() if reply.text is not None else None
    ratings: dict[str, int | None] = {}
    if task:
        rating_prompt = prompts.rate_task(task, difficulty.label, topic)
        replies = yield [
            Ask("task_rating", judge, rating_prompt, f"{key}/task_rating")
            for judge in settings.models
        ]
        ratings = {
            judge: _rank(reply) for judge, reply in zip(settings.models, replies, strict=True)
        }
    return {
        "generator": generator,
        "task": task,
        "ratings": ratings,
        "mean": weighted_mean(ratings, standing.weights),
        "median": weighted_median(ratings, standing.weights),
        "accepted": accepted(ratings, standing.weights, settings),
    }


def _answers(
    index: int, task: str, settings: Settings
) -> Generator[list[Ask], list[Reply], tuple[dict[str, str | None], list[str]]]:
    prompt = prompts.answer(task)
    replies = yield [Ask("answer", model, prompt, f"{index}/answer") for model in settings.models]
    by_model = dict(zip(settings.models, replies, strict=True))
    answers = {model: reply.text for model, reply in by_model.items()}
    return answers, [model for model, reply in by_model.items() if reply.truncated]


def _judgments(
    index: int, task: str, answers: Mapping[str, str | None], settings: Settings
) -> Generator[list[Ask], list[Reply], dict[str, dict[str, int | None]]]:
    # Contestants on the outside: the judges of one answer follow each other and share its prefix.
    pairs = [
        (judge, contestant)
        for contestant, answer in answers.items()
        if answer is not None and answer.strip()
        for judge in settings.models
    ]
    judgments: dict[str, dict[str, int | None]] = {
        judge: dict.fromkeys(settings.models) for judge in settings.models
    }
    if pairs:
        asks = [
            Ask(
                "answer_rating",
                judge,
                prompts.rate_answer(task, answers[contestant] or ""),
                f"{index}/answer_rating/{contestant}",
            )
            for judge, contestant in pairs
        ]
        replies = yield asks
        for (judge, contestant), reply in zip(pairs, replies, strict=True):
            judgments[judge][contestant] = _rank(reply)
    return judgments


def _rank(reply: Reply) -> int | None:
    return None if reply.text is None else prompts.parse_rank(reply.text)
