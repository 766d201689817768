"""Peer assessments with models that are functions from an ask to a reply."""

from collections.abc import Callable
from dataclasses import replace

from raybench.autobench.course import Course
from raybench.autobench.records import Record
from raybench.autobench.settings import Settings
from raybench.autobench.standing import Standing
from raybench.autobench.steps import Ask, Reply

Answer = Callable[[Ask], Reply]


def play(
    answer: Answer, settings: Settings, index: int = 1, standing: Standing | None = None
) -> tuple[Record, list[list[Ask]]]:
    """Play one iteration; return its record and the asks, step by step."""
    before = replace(standing or Standing.start(settings), iteration=index - 1)
    course = Course(settings, before, index)
    waiting, asked = course.begin(), list[list[Ask]]()
    while True:
        (step,) = waiting
        asked.append(step.asks(settings))
        turn = course.take(step, [answer(ask) for ask in asked[-1]])
        if turn.finished:
            return turn.finished[0].record, asked
        waiting = turn.steps


def assess(answer: Answer, settings: Settings, iterations: int) -> list[Record]:
    """Play iterations one after the other; return their records."""
    course = Course(settings, Standing.start(settings), iterations)
    waiting, records = course.begin(), list[Record]()
    while waiting:
        step = waiting.pop()
        turn = course.take(step, [answer(ask) for ask in step.asks(settings)])
        records += [each.record for each in turn.finished]
        waiting += turn.steps
    return records


def question(model: str) -> str:
    """Return the question that a model asks."""
    return f"What would {model} ask the others about, and why?"


def obliging(ask: Ask) -> Reply:
    """Ask and answer something, rate everything 4."""
    if "rating" in ask.kind:
        return Reply(f"<rank>4</rank> says {ask.model}")
    return Reply(question(ask.model) if ask.kind == "task" else f"by {ask.model}")


def hash_of(ask: Ask) -> int:
    """Return a number that differs from ask to ask."""
    return sum(map(ord, ask.key + ask.model))


def various(ask: Ask) -> Reply:
    """Write something; give ratings that vary, one in six of which is none."""
    if "rating" not in ask.kind:
        return Reply(f"What would {ask.model} say to {ask.key}, and why?")
    return Reply(f"<rank>{1 + hash_of(ask) % 6}</rank>")
