"""Iterations side by side make the very records that they make one after the other."""

import random
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from raybench.autobench.acceptance import accepted
from raybench.autobench.course import Course, Finished
from raybench.autobench.earlier import Earlier
from raybench.autobench.faults import found
from raybench.autobench.protocol import replay
from raybench.autobench.records import Record
from raybench.autobench.settings import Settings, Task
from raybench.autobench.standing import Standing, advance, contestant_scores
from raybench.autobench.steps import Ask, Kind, Reply, Step, drawn

Answer = Callable[[Ask], Reply]
MODELS = ("a", "b", "c", "d")
THINGS = ["boat", "clock", "river", "sonnet", "proof", "engine", "market", "comet"]


def people(seed: int, *, broken: float = 0.05, things: int = 8) -> Answer:
    """Models that say the same to the same ask, and something of every kind to many."""

    def answer(ask: Ask) -> Reply:
        rng = random.Random(f"{seed}/{ask.model}/{ask.key}/{ask.prompt}")
        if rng.random() < broken:
            return Reply(None, "error", "the line is dead")
        if rng.random() < broken:
            return Reply("", rng.choice(["empty", "thinking", "refusal"]), "so it is")
        spent: dict[str, Any] = {"prompt_tokens": rng.randrange(50)}
        spent["output_tokens"] = rng.randrange(50)
        match ask.kind:
            case "task":
                thing = rng.choice(THINGS[:things])
                return Reply(f"How would you describe a {thing} to somebody else?", **spent)
            case "answer":
                cut = rng.random() < 0.1
                text = f"As {ask.model} sees it, {rng.random()}"
                return Reply(text, "length" if cut else "stop", **spent)
            case _:
                shift = MODELS.index(ask.model) % 2
                rank = min(5, max(1, round(rng.gauss(2.4 + shift, 1))))
                return Reply("hm" if rng.random() < broken else f"<rank>{rank}</rank>", **spent)

    return answer


def one_after_the_other(settings: Settings, last: int, answer: Answer) -> list[dict[str, Any]]:
    """Algorithm 1 as it is written, and nothing more: what counts of each iteration."""
    standing, earlier, records = Standing.start(settings), Earlier(), []

    def ask(draw: Any, number: int, kind: Kind, **more: Any) -> list[tuple[Ask, Reply]]:
        asks = Step(draw, number, kind, **more).asks(settings)
        return [(it, answer(it)) for it in asks]

    for iteration in range(1, last + 1):
        draw = drawn(iteration, settings)
        attempts: list[dict[str, Any]] = []
        task = draw.given
        for generator in draw.generators:
            for _ in range(settings.attempts):
                number = len(attempts) + 1
                ((_, said),) = ask(draw, number, "task", author=generator)
                text = None if said.text is None else said.text.strip()
                faults = found(text) if text else []
                ratings = {}
                if text and not (faults and settings.faulty == "reject"):
                    rated = ask(draw, number, "task_rating", author=generator, task=text)
                    ratings = {it.model: reply.rank for it, reply in rated}
                like = earlier.like(text, before=iteration) if text else None
                passes = accepted(ratings, standing.weights, settings)
                if like is not None and settings.faulty == "reject":
                    passes = False
                attempts.append({"task": text, "ratings": ratings, "accepted": passes})
                if passes or text is None:
                    break
            if attempts[-1]["accepted"]:
                task = attempts[-1]["task"]
                earlier.put(iteration, task)
                break
        answers: dict[str, str | None] = {}
        judgments: dict[str, dict[str, int | None]] = {}
        if task is not None:
            said_by = ask(draw, 0, "answer", task=task)
            answers = {it.model: reply.text for it, reply in said_by}
            there = {model: text for model, text in answers.items() if text and text.strip()}
            judged = ask(draw, 0, "answer_rating", task=task, answers=there) if there else []
            for it, reply in judged:
                contestant = it.key.split("/")[-1]
                judgments.setdefault(it.model, {})[contestant] = reply.rank
        scores = contestant_scores(answers, judgments, standing.weights)
        standing = advance(standing, scores, settings)
        records.append(
            {
                "iteration": iteration,
                "task": task,
                "attempts": attempts,
                "answers": answers,
                "scores": scores,
                "cumulative": dict(standing.scores),
                "weights": dict(standing.weights),
            }
        )
    return records


def played(
    settings: Settings,
    last: int,
    answer: Answer,
    *,
    order: random.Random | None = None,
    at_once: int = 1,
    budget: float = 0.0,
) -> tuple[list[Record], int]:
    """Play a course, replies coming in any order; return also how many calls were discarded."""
    course = Course(settings, Standing.start(settings), last, at_once=at_once, budget=budget)
    waiting, finished, calls = course.begin(), list[Finished](), 0
    while waiting:
        step = waiting.pop(order.randrange(len(waiting)) if order else 0)
        asks = step.asks(settings)
        calls += len(asks)
        turn = course.take(step, [answer(ask) for ask in asks])
        finished += turn.finished
        waiting += turn.steps
    assert sum(it.calls for it in finished) == calls
    discarded = sum(it.discarded for it in finished)
    assert discarded == course.discarded
    return [it.record for it in finished], discarded


kinds = st.builds(
    Settings,
    models=st.sampled_from([MODELS[:2], MODELS]),
    judges=st.sampled_from([(), ("a",), ("b", "d"), ("a", "b", "c")]),
    self_judgement=st.booleans(),
    weights=st.sampled_from(["consensus", "uniform"]),
    tasks=st.sampled_from([(), (), (), (Task("What is a boat?"), Task("Why?", "logic"))]),
    mean_threshold=st.sampled_from([1.5, 2.5, 3.0]),
    median_threshold=st.sampled_from([1.0, 2.0, 2.5]),
    attempts=st.integers(1, 3),
    restarts=st.integers(0, 2),
    faulty=st.sampled_from(["reject", "flag"]),
    seed=st.integers(0, 50),
)


@given(
    kinds, st.integers(0, 1000), st.integers(1, 12), st.integers(1, 12),
    st.sampled_from([0, 5, 20, 60, 10_000]), st.randoms(use_true_random=False),
)  # fmt: skip
def test_side_by_side_is_one_after_the_other(
    settings: Settings, seed: int, last: int, at_once: int, budget: int, order: random.Random
) -> None:
    answer = people(seed)
    sequential, discarded = played(settings, last, answer)
    assert discarded == 0
    parallel, discarded = played(
        settings, last, answer, order=order, at_once=at_once, budget=budget
    )
    assert parallel == sequential
    assert 0 <= discarded <= budget
    oracle = one_after_the_other(settings, last, answer)
    for made, by_hand in zip(parallel, oracle, strict=True):
        for name in ("iteration", "task", "answers", "scores", "cumulative", "weights"):
            assert made[name] == by_hand[name], name
        shown = [{n: it[n] for n in ("task", "ratings", "accepted")} for it in made["attempts"]]
        assert shown == by_hand["attempts"]
    assert replay(parallel, settings).weights == parallel[-1]["weights"]
