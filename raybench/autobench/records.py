"""The journal's record of an iteration: what came back, and what the assessment made of it."""

from collections.abc import Iterator, Mapping, Sequence
from types import NoneType
from typing import Any

from raybench.autobench.play import Path, Play, Proposal
from raybench.autobench.settings import Settings
from raybench.autobench.standing import (
    Standing,
    advance,
    contestant_scores,
    weighted_mean,
    weighted_median,
)
from raybench.autobench.steps import Reply
from raybench.statements import Statement

Record = dict[str, Any]
"""One line of journal/iterations.jsonl."""
_ANSWERED = ("stop", "length")
_FIELDS: Mapping[str, type | tuple[type, ...]] = {
    "iteration": int,
    "generator": str,
    "topic": str,
    "difficulty": str,
    "attempts": list,
    "task": (str, NoneType),
    "answers": dict,
    "judgments": dict,
    "scores": dict,
    "cumulative": dict,
    "weights": dict,
    "seconds": (float, int),  # who plays it adds when it was
    "ended_ms": int,
}
_ATTEMPT: Mapping[str, type | tuple[type, ...]] = {
    "generator": str,
    "task": (str, NoneType),
    "ratings": dict,
    "mean": (float, int, NoneType),
    "median": (float, int, NoneType),
    "accepted": bool,
}


def record(
    play: Play, path: Path, standing: Standing, repeats: Sequence[int | None]
) -> tuple[Record, Standing, int]:
    """Return a finished iteration's record, where the assessment stands after it, and its calls.

    `repeats` are the iterations whose tasks the proposals of the path repeat. The record holds
    `iteration, generator, topic, difficulty, attempts, task, answers, judgments, scores,
    cumulative, weights` as the design page describes them; `truncated`, the models whose answers
    were cut; `errors`, the calls that broke; `unanswered`, those to which the model had no answer,
    and how they ended; and `tokens`, of prompts and replies, by model. Where no task was accepted,
    `task` is None and nobody is scored.
    """
    settings, draw, contest = play.settings, play.draw, path.contest
    answers: dict[str, str | None] = {}
    truncated: list[str] = []
    judgments: dict[str, dict[str, int | None]] = {}
    if contest is not None:
        answers = {model: reply.text for model, reply in contest.answers.items()}
        truncated = [model for model, reply in contest.answers.items() if reply.truncated]
        judgments = {
            judge: {model: None for model in settings.models if judge in settings.judges_of(model)}
            for judge in settings.panel
        }
        for (judge, model), reply in (contest.judgments or {}).items():
            judgments[judge][model] = reply.rank
    scores = contestant_scores(answers, judgments, standing.weights)
    after = advance(standing, scores, settings)
    calls = list(_calls(play, path))
    last = path.proposals[-1] if path.proposals else None
    made = {
        "iteration": draw.iteration,
        "generator": last.generator if last else "",
        "topic": draw.topic,
        "difficulty": draw.difficulty.label,
        "attempts": [
            _attempt(it, of, standing, passed=path.accepted and it is last)
            for it, of in zip(path.proposals, repeats, strict=True)
        ],
        "task": (last.task if last else draw.given) if path.accepted else None,
        "answers": answers,
        "judgments": judgments,
        "scores": scores,
        "cumulative": dict(after.scores),
        "weights": dict(after.weights),
        "truncated": truncated,
        "errors": [
            {"model": model, "key": key, "error": reply.why}
            for model, key, reply in calls
            if reply.finish == "error"
        ],
        "unanswered": [
            {"model": model, "key": key, "finish": reply.finish, "why": reply.why}
            for model, key, reply in calls
            if reply.finish not in (*_ANSWERED, "error")
        ],
        "tokens": _tokens(calls, settings),
    }
    return made, after, len(calls)


def checked(record: Record) -> Record:
    """Return a record of the journal as it is; raise ValueError where it is none of ours.

    What older journals lack is not asked for.
    """
    _check(record, _FIELDS)
    for attempt in record["attempts"]:
        _check(attempt, _ATTEMPT)
    for row in record["judgments"].values():
        if not isinstance(row, dict):
            raise ValueError("its judgments are not by judge and contestant")
    return record


def _check(record: Record, fields: Mapping[str, type | tuple[type, ...]]) -> None:
    for name, kind in fields.items():
        if name not in record:
            raise ValueError(f"it lacks '{name}'")
        if not isinstance(record[name], kind):
            raise ValueError(f"its '{name}' is {record[name]!r:.40}")


def _attempt(
    proposal: Proposal, repeats: int | None, standing: Standing, *, passed: bool
) -> Record:
    ranks = proposal.ranks
    found = list(proposal.faults)
    if repeats is not None:
        fault = Statement(
            "fault.repeated", "it repeats the task of iteration {iteration}", iteration=repeats
        )
        found.append(fault)
    return {
        "generator": proposal.generator,
        "task": proposal.task,
        "ratings": dict(ranks),
        "mean": weighted_mean(ranks, standing.weights),
        "median": weighted_median(ranks, standing.weights),
        "accepted": passed,
        "faults": found,
    }


def _calls(play: Play, path: Path) -> Iterator[tuple[str, str, Reply]]:
    """Yield the calls that led here, in the order of the protocol: model, key, reply."""
    index = play.draw.iteration
    for proposal in path.proposals:
        yield proposal.generator, f"{index}/{proposal.number}/task", proposal.said
        for judge, reply in (proposal.ratings or {}).items():
            yield judge, f"{index}/{proposal.number}/task_rating", reply
    if path.contest is not None:
        for model, reply in path.contest.answers.items():
            yield model, f"{index}/answer", reply
        for (judge, model), reply in (path.contest.judgments or {}).items():
            yield judge, f"{index}/answer_rating/{model}", reply


def _tokens(calls: Sequence[tuple[str, str, Reply]], settings: Settings) -> dict[str, list[int]]:
    tokens = {model: [0, 0] for model in settings.everybody}
    for model, _, reply in calls:
        tokens[model][0] += reply.prompt_tokens
        tokens[model][1] += reply.output_tokens
    return tokens
