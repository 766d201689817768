"""All iterations of a run, for the report's reader: task, answers, who gave what to each."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from raybench.autobench import tasks
from raybench.autobench.protocol import Record
from raybench.autobench.settings import Settings
from raybench.autobench.standing import is_empty
from raybench.experiments.autobench.report import reading
from raybench.experiments.autobench.report.texts import given
from raybench.tracking import addresses
from raybench.tracking.report import Body, Facet, Text, Unit, Units
from raybench.tracking.report.units import Of
from raybench.tracking.text import one_line

_LINE = 160
"""Characters of a unit's line in the list."""
_FACETS = (
    Facet("topic"),
    Facet("difficulty"),
    Facet("generator"),
    Facet("task"),
    Facet("best answer by"),
    Facet("shown for", shown=False),
    Facet("attempts", number=True),
    Facet("ratings missing", number=True),
    Facet("mean score", number=True),
)


@dataclass(frozen=True)
class Part:
    """One of the assessments of a run that has several."""

    name: str
    """Addresses of its iterations begin with it."""
    of: Mapping[str, Of]
    """What tells it apart from the others, by the facets that say so."""
    records: Sequence[Record]
    protocol: Settings
    lines: Sequence[int]
    """Where its iterations stand in the journal, counted from 1."""
    about: Sequence[Text] = field(default=())
    """What is to be known of it, above each of its iterations."""


def units(records: Sequence[Record], protocol: Settings) -> Units:
    """Return the iterations of a run that is one assessment."""
    alone = Part("", {}, records, protocol, range(1, len(records) + 1))
    return Units(
        "iteration",
        "journal/iterations.jsonl",
        _FACETS,
        lambda: _each([alone]),
        group="task",
    )


def side_by_side(
    several: Callable[[], Iterable[Sequence[Part]]], facets: Sequence[str], journal: str
) -> Units:
    """Return the iterations of several assessments, told apart by facets of these names.

    Parts that come together are followed through their iterations side by side: where one has the
    same task in several of them, what was made of it can be compared.
    """
    return Units(
        "iteration",
        journal,
        (*map(Facet, facets), *_FACETS),
        lambda: (unit for parts in several() for unit in _each(parts)),
        group="task",
    )


def _each(parts: Sequence[Part]) -> Iterator[Unit]:
    """Yield the iterations in their order, those of all parts that have the same task together."""
    told = [_told(part) for part in parts]
    of_tasks: dict[int, dict[str, list[tuple[int, int]]]] = {}
    for which, part in enumerate(parts):
        for at, record in enumerate(part.records):
            tasks_of = of_tasks.setdefault(record["iteration"], {})
            tasks_of.setdefault(record["task"] or "", []).append((which, at))
    for number in sorted(of_tasks):
        for nth, (task, those) in enumerate(of_tasks[number].items()):
            group = f"{parts[0].name}/{number}/{nth}" if task and len(those) > 1 else ""
            for which, at in those:
                yield _unit(parts[which], at, *told[which], group)


def _told(part: Part) -> tuple[Mapping[int, str], Mapping[int, Sequence[tasks.Attempt]]]:
    """Return for what iterations are shown, and what became of the tasks that were tried."""
    chosen = {record["iteration"]: why for record, why in reading.chosen(part.records)}
    fates: dict[int, list[tasks.Attempt]] = {}
    for attempt in tasks.attempts(part.records, part.protocol):
        fates.setdefault(attempt.iteration, []).append(attempt)
    return chosen, fates


def _unit(
    part: Part,
    at: int,
    chosen: Mapping[int, str],
    fates: Mapping[int, Sequence[tasks.Attempt]],
    group: str,
) -> Unit:
    record = part.records[at]
    number = record["iteration"]
    why, tried = chosen.get(number), fates.get(number, ())
    scores = [it for it in record["scores"].values() if it is not None]
    rows = record["judgments"].values()
    what = record["task"] if record["task"] is not None else "no task was accepted"
    return Unit(
        key=addresses.iteration(number, part.name),
        summary=one_line(f"{number}: {what}", _LINE),
        facets={
            **part.of,
            "topic": record["topic"] or None,
            "difficulty": record["difficulty"] or None,
            "generator": record["generator"] or None,
            "task": "accepted" if record["task"] is not None else "none",
            "best answer by": _best(record) or None,
            "shown for": why and ("its topic" if why.endswith("on its topic") else why),
            "attempts": len(record["attempts"]),
            "ratings missing": sum(it is None for row in rows for it in row.values()),
            "mean score": sum(scores) / len(scores) if scores else None,
        },
        body=lambda: Body([*part.about, *_texts(record, tried)]),
        line=part.lines[at],
        group=group,
        stratum=f"{part.name}/{record['topic'] or ''}",
        kept=why is not None,
    )


def _best(record: Record) -> list[str]:
    """Return whose answers scored highest."""
    scores = {model: it for model, it in record["scores"].items() if it is not None}
    best = max(scores.values(), default=None)
    return [model for model, it in scores.items() if it == best]


def _texts(record: Record, tried: Sequence[tasks.Attempt]) -> Iterator[Text]:
    """Yield the tasks that were tried, then the answers, the best first, with their ratings."""
    for number, attempt in enumerate(record["attempts"], start=1):
        fate = "accepted" if attempt["accepted"] else "turned down"
        why = tried[number - 1].why if len(tried) == len(record["attempts"]) else ""
        heading = f"Attempt {number}, by {attempt['generator']}: {fate}"
        yield Text("task", attempt["task"] or "(nothing)", heading)
        if why and not attempt["accepted"]:
            yield Text("why", why)
        if attempt["ratings"]:
            yield Text("ratings", _rated(attempt["ratings"]))
    if record["task"] is not None and all(
        it["task"] != record["task"] for it in record["attempts"]
    ):
        yield Text("task", record["task"], "The task, which was given")
    unanswered = {
        call["model"]: f"no answer ({call['finish']}: {call['why']})"
        for call in record.get("unanswered", ())
        if call["key"].endswith("/answer")
    }
    scores: Mapping[str, Any] = record["scores"]
    for model in sorted(record["answers"], key=lambda model: -(scores.get(model) or 0)):
        answer, score = record["answers"][model], scores.get(model)
        told = "no score" if score is None else f"{score:.2f}"
        text = "no reply" if answer is None else unanswered.get(model, answer)
        yield Text("answer", text, f"{model}: {told}", reply=True)
        got = {judge: row[model] for judge, row in record["judgments"].items() if model in row}
        if got and answer is not None and not is_empty(answer):
            yield Text("ratings", _rated(got), reply=True)
    if cut := record.get("truncated"):
        yield Text("cut off", ", ".join(map(str, cut)), "What went wrong")


def _rated(ratings: Mapping[str, int | None]) -> str:
    """Return who gave which rating, highest first, and how many gave each."""
    counts = Counter(ratings.values())
    every = ", ".join(
        f"{'none' if it is None else it} × {count}"
        for it, count in sorted(counts.items(), key=lambda each: -(each[0] or 0))
    )
    return f"{every}\n{given(ratings, chr(10))}"
