"""The AutoBench protocol: who is asked what, which tasks are accepted, how scores become weights.

Source: "AutoBench: Automating LLM Evaluation through Reciprocal Peer Assessment", section 3 and
algorithm 1. Nothing here talks to a model. `iteration` is a generator that yields batches of
questions (`Ask`) and is sent the replies; whoever drives it decides how the models are reached.
Scores and weights are a function of the journalled ratings alone, so `replay` recomputes them.

With w the weights at the start of iteration t, J the judgment matrix (judges by contestants):

    (1)  s_j = sum_i w_i J_ij               over the judges with a valid rating, w renormalised
    (2)  S_j = running mean of s_j          over the iterations in which j was scored
    (3)  w_i = S_i / sum_k S_k              the judging weights of iteration t + 1
"""

import math
import random
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from raybench.autobench import prompts

Record = dict[str, Any]
"""One line of journal/iterations.jsonl; its fields are listed in `iteration`."""

Ratings = Mapping[str, int | None]

FLOOR = 1.0
"""What an empty answer scores: the scale's 'Poor/off-topic'. Judges are not asked about nothing."""

TOPICS = (
    "math",
    "current news",
    "creative writing",
    "logic",
    "grammar",
    "coding",
    "history",
    "general culture",
    "science",
    "technology",
)


class Difficulty(NamedTuple):
    """A difficulty label, the noun phrase it has in the task prompt, and how often it is drawn."""

    label: str
    phrase: str
    probability: float


# The paper's phrases; it says that harder ones are favoured, its text lost the numbers: ours.
DIFFICULTIES = (
    Difficulty("very difficult", "a very difficult", 0.5),
    Difficulty("difficult", "a difficult", 0.3),
    Difficulty("standard", "a", 0.2),
)


@dataclass(frozen=True)
class Settings:
    """The protocol's own settings. The paper's text lost its numbers: the defaults are ours."""

    models: tuple[str, ...]
    topics: tuple[str, ...] = TOPICS
    difficulties: tuple[Difficulty, ...] = DIFFICULTIES
    mean_threshold: float = 2.5
    median_threshold: float = 2.0
    attempts: int = 3
    """Tries that one generator gets before the iteration restarts with another."""
    restarts: int = 2
    """New generators tried before the iteration ends without a task."""
    seed: int = 0


@dataclass(frozen=True)
class Standing:
    """Where the assessment stands after some iterations."""

    iteration: int
    scores: Mapping[str, float | None]
    """S of equation 2; None for a model that nobody could score yet."""
    scored: Mapping[str, int]
    """In how many iterations each model was scored."""
    weights: Mapping[str, float]
    """w of equation 3: the judging weights of the next iteration."""

    @classmethod
    def start(cls, models: Sequence[str]) -> "Standing":
        """Before the first iteration every judge weighs the same."""
        return cls(0, dict.fromkeys(models), dict.fromkeys(models, 0), _uniform(models))


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
    after = advance(standing, scores)
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
    standing = Standing.start(settings.models)
    for record in sorted(records, key=lambda record: record["iteration"]):
        if record["iteration"] != standing.iteration + 1:
            raise ValueError(
                f"the journal has iteration {record['iteration']} where {standing.iteration + 1} "
                "should stand: one is missing or there twice"
            )
        scores = contestant_scores(record["answers"], record["judgments"], standing.weights)
        standing = advance(standing, scores)
    return standing


def advance(standing: Standing, scores: Mapping[str, float | None]) -> Standing:
    """Equations 2 and 3: fold one iteration's scores into the standing."""
    totals: dict[str, float | None] = {}
    scored: dict[str, int] = {}
    for model, so_far in standing.scores.items():
        count = standing.scored[model]
        score = scores.get(model)
        if score is None:
            totals[model], scored[model] = so_far, count
        else:
            totals[model] = score if so_far is None else (count * so_far + score) / (count + 1)
            scored[model] = count + 1
    return Standing(standing.iteration + 1, totals, scored, judging_weights(totals))


def judging_weights(scores: Mapping[str, float | None]) -> dict[str, float]:
    """Equation 3. A model without a score yet weighs as much as the average scored one."""
    known = [score for score in scores.values() if score is not None]
    if not known:
        return _uniform(list(scores))
    average = math.fsum(known) / len(known)
    filled = {model: average if score is None else score for model, score in scores.items()}
    total = math.fsum(filled.values())
    return {model: score / total for model, score in filled.items()}


def contestant_scores(
    answers: Mapping[str, str | None],
    judgments: Mapping[str, Mapping[str, int | None]],
    weights: Mapping[str, float],
) -> dict[str, float | None]:
    """Equation 1 for every contestant; None where no judge gave a valid rating."""
    return {
        model: FLOOR
        if answer is not None and not answer.strip()
        else weighted_mean({judge: row.get(model) for judge, row in judgments.items()}, weights)
        for model, answer in answers.items()
    }


def accepted(ratings: Ratings, weights: Mapping[str, float], settings: Settings) -> bool:
    """Tell whether a task passes: weighted mean and median both exceed their thresholds."""
    mean, median = weighted_mean(ratings, weights), weighted_median(ratings, weights)
    if mean is None or median is None:
        return False
    return mean > settings.mean_threshold and median > settings.median_threshold


def weighted_mean(ratings: Ratings, weights: Mapping[str, float]) -> float | None:
    """Mean of the valid ratings, the judges' weights renormalised over those who gave one."""
    valid = [(weights[judge], rating) for judge, rating in ratings.items() if rating is not None]
    total = math.fsum(weight for weight, _ in valid)
    if not total:
        return None
    return math.fsum(weight * rating for weight, rating in valid) / total


def weighted_median(ratings: Ratings, weights: Mapping[str, float]) -> float | None:
    """The rating at which half of the judging weight is reached, going up.

    Where exactly half of the weight lies at or below a rating, the median is the middle between it
    and the next one, so that equal weights give the ordinary median.
    """
    valid = sorted(
        (rating, weights[judge]) for judge, rating in ratings.items() if rating is not None
    )
    total = math.fsum(weight for _, weight in valid)
    if not total:
        return None
    reached = 0.0
    for position, (rating, weight) in enumerate(valid):
        reached += weight
        if math.isclose(reached, total / 2, rel_tol=1e-9) and position + 1 < len(valid):
            return (rating + valid[position + 1][0]) / 2
        if reached > total / 2:
            return float(rating)
    return float(valid[-1][0])


def _uniform(models: Sequence[str]) -> dict[str, float]:
    return {model: 1 / len(models) for model in models}


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
