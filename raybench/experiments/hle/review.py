"""Responses for people to judge: where judges differ first, then of either verdict alike."""

import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raybench.benchmarks.parts.hle.exam import Exam, Item
from raybench.experiments.parts.questions.reading import Place
from raybench.statements import Statement

FILE, KEY = "review.jsonl", "review_key.jsonl"
"""In the run's folder: what people fill in where it says null, and what they had better not know
before: the judges' verdicts and why each response was drawn."""
_DIFFER = "judges differ"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A response that somebody is to judge."""

    model: str
    key: str
    repeat: int
    stratum: str
    """Why it is here: 'judges differ', or 'right' or 'wrong', as the judge says."""
    share: float
    """How much of its stratum was drawn: what people find weighs 1/share of it in all responses."""


def drawn(exam: Exam, judges: Sequence[str], count: int, seed: int) -> list[Drawn]:
    """Draw so many responses with a verdict, at most half where judges differ.

    The others are drawn from right ones and wrong ones alike, for few are right.
    """
    strata: dict[str, list[tuple[str, Item]]] = {_DIFFER: [], "right": [], "wrong": []}
    for model in sorted(exam.models()):
        for item in exam.judged(model):
            strata[_stratum(item, judges)].append((model, item))
    room = {_DIFFER: min(len(strata[_DIFFER]), (count + 1) // 2)}
    left = count - room[_DIFFER]
    room["right"] = min(len(strata["right"]), max((left + 1) // 2, left - len(strata["wrong"])))
    room["wrong"] = min(len(strata["wrong"]), left - room["right"])
    rng = random.Random(f"review {seed}")
    return [
        Drawn(model, item.key, item.repeat, name, room[name] / len(strata[name]))
        for name, there in strata.items()
        for model, item in rng.sample(there, room[name])
    ]


def _stratum(item: Item, judges: Sequence[str]) -> str:
    if len({item.verdicts[name] for name in judges if name in item.verdicts}) > 1:
        return _DIFFER
    return "right" if item.correct else "wrong"


def files(
    wanted: Sequence[Drawn], journal: Path, rows: Mapping[Place, Any]
) -> dict[str, list[dict[str, Any]]]:
    """Return the sheet and its key, in an order that tells nothing; the texts are the journal's."""
    found = _records(sorted(wanted, key=lambda it: (it.key, it.model, it.repeat)), journal)
    return {
        FILE: [_line(place, record, rows["hle", "en", place.key]) for place, record in found],
        KEY: [_told(place, record) for place, record in found],
    }


def _records(wanted: Sequence[Drawn], journal: Path) -> list[tuple[Drawn, dict[str, Any]]]:
    by_unit = {(it.model, it.key, it.repeat): it for it in wanted}
    found: dict[Drawn, dict[str, Any]] = {}
    with journal.open("rb") as lines:
        for line in lines:
            record = json.loads(line)
            unit = (record["model"], str(record["key"]), record["repeat"])
            if record["benchmark"] == "hle" and (place := by_unit.get(unit)):
                found[place] = record
    return [(place, found[place]) for place in wanted]


def _named(place: Drawn) -> dict[str, Any]:
    return {"model": place.model, "id": place.key, "repeat": place.repeat}


def _line(place: Drawn, record: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    return _named(place) | {
        "question": row["question"],
        "has_image": bool(row["image"]),
        "answer": row["answer"],
        "response": record["response"],
        "your_verdict": None,
        "your_confidence_read": None,
        "your_comment": None,
    }


def _told(place: Drawn, record: Mapping[str, Any]) -> dict[str, Any]:
    return _named(place) | {
        "drawn_as": place.stratum,
        "share_of_these": round(place.share, 6),
        "judgements": record["judgements"],
    }


def note(wanted: Sequence[Drawn]) -> str:
    """Say what the sheet holds."""
    counts = Counter(it.stratum for it in wanted)
    told = ", ".join(f"{count} {name}" for name, count in counts.items())
    return Statement(
        "review.note",
        "{responses} responses to judge by hand in {file} ({told}): fill in your_verdict; {key} "
        "has the judges'",
        responses=len(wanted),
        file=FILE,
        told=told,
        key=KEY,
        drawn=dict(counts),
    )
