"""All samples of a run, for the report's reader: the models' replies to a question together."""

import json
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from raybench import benchmarks
from raybench.experiments.parts.questions.reading import (
    Place,
    Record,
    kind_of,
    place_of,
    replied,
)
from raybench.pipeline import put
from raybench.pipeline.datasets import Prepared
from raybench.pipeline.stages import Asking
from raybench.pipeline.units import unit_id
from raybench.tracking import addresses
from raybench.tracking.report import Body, Facet, Text, Unit, Units
from raybench.tracking.text import one_line

_LINE = 160
"""Characters of a unit's line in the list."""
_FACETS = (
    Facet("model"),
    Facet("benchmark"),
    Facet("outcome"),
    Facet("language"),
    Facet("subject", folds=True),
    Facet("repeat"),
    Facet("graded by", shown=False),
    Facet("flags", shown=False),
    Facet("tokens", number=True),
    Facet("seconds", number=True, shown=False),
)
HIDDEN = "Questions that are held out are not shown."
ABSENT = "(the question is not among those that this run asks)"


def units(
    data: Prepared,
    journal: Path,
    asking: Asking,
    withheld: Collection[str],
    hidden: Collection[str] = (),
) -> Units:
    """Return the samples. Of benchmarks `withheld` no texts, of questions `hidden` nothing at all.

    `hidden` are keys.
    """
    names = [benchmarks.load(name).title for name in sorted(withheld)]
    notes = []
    if names:
        notes.append(f"Without texts: {', '.join(names)}, {_WHY}.")
    if hidden:
        notes.append(HIDDEN)
    return Units(
        "sample",
        f"journal/{journal.name}",
        _FACETS,
        lambda: _each(data, journal, asking, withheld, hidden),
        notes=notes,
    )


_WHY = "whose authors ask not to publish the questions"


def _each(
    data: Prepared,
    journal: Path,
    asking: Asking,
    withheld: Collection[str],
    hidden: Collection[str],
) -> Iterator[Unit]:
    """Yield the units in the order of the questions, reading the journal by its lines."""
    offsets, places = _found(journal, hidden)
    order = {model: number for number, model in enumerate(asking.models)}

    def at(place: Place, row: Any) -> Iterator[Unit]:
        told = []
        for line in places.pop(place, ()):
            lines.seek(offsets[line])
            told.append((line + 1, json.loads(lines.readline())))
        told.sort(key=lambda it: (it[1]["repeat"], order.get(it[1]["model"], len(order))))
        for line, record in told:
            yield _unit(record, line, row, asking, shut=record["benchmark"] in withheld)

    with journal.open("rb") as lines:
        for part in data:
            benchmark = benchmarks.load(part.benchmark)
            for row in part.rows():
                place = (part.benchmark, benchmark.language(row), str(benchmark.key(row)))
                yield from at(place, row)
        for place in [*places]:
            yield from at(place, None)


def _found(
    journal: Path, hidden: Collection[str]
) -> tuple["array[int]", dict[Place, "array[int]"]]:
    """Return where each line of the journal begins, and which lines are of each question."""
    offsets, places = array("Q"), dict[Place, "array[int]"]()
    offset = 0
    with journal.open("rb") as lines:
        for number, line in enumerate(lines):
            offsets.append(offset)
            offset += len(line)
            place = place_of(json.loads(line))
            if place[2] not in hidden:
                places.setdefault(place, array("L")).append(number)
    return offsets, places


def _unit(record: Record, line: int, row: Any, asking: Asking, *, shut: bool) -> Unit:
    name, kind = record["benchmark"], _outcome(record)
    facets: dict[str, Any] = {
        "model": record["model"],
        "benchmark": benchmarks.load(name).title,
        "outcome": kind,
    }
    if not shut:
        facets |= {
            "language": record["language"],
            "subject": str(record["subject"] or "").replace("_", " ") or None,
            "repeat": str(record["repeat"] + 1),
            "graded by": record["by"],
            "flags": list(record.get("flags", ())) or None,
            "tokens": record["output_tokens"],
            "seconds": record.get("seconds"),
        }
    return Unit(
        key=addresses.sample(unit_id(record)),
        summary=one_line(f"{record['key']}" if shut else _summary(record, kind), _LINE),
        facets=facets,
        body=lambda: Body(_shut() if shut else [*_texts(record, row, asking, kind)]),
        line=line,
        group="/".join(place_of(record)),
        stratum=name,
    )


def _outcome(record: Mapping[str, Any]) -> str:
    if record["finish"] == "error":
        return "error"
    if record["finish"] == "unsupported":
        return "not asked"
    return kind_of(record) or "not graded"


def _summary(record: Record, kind: str) -> str:
    key = record["key"]
    if record["error"] or record["judge_error"]:
        return f"{key}: {record['error'] or record['judge_error']}"
    if record["answer"] is None or benchmarks.load(record["benchmark"]).sandboxed:
        return f"{key}: {record['reason'] or kind}"
    right = f", right is {record['truth']}" if record.get("truth") and kind == "wrong" else ""
    return f"{key}: answered {record['answer']}{right}"


def _shut() -> Sequence[Text]:
    return [Text("not shown", f"This is of a benchmark {_WHY}.")]


def _texts(record: Record, row: Any, asking: Asking, kind: str) -> Iterator[Text]:
    """Yield what was asked and replied, how it was read and graded, and what judges said."""
    for label, text in (
        put.asked(record, row, asking) if row is not None else {"asked": ABSENT}
    ).items():
        yield Text(label, text)
    for label, text in replied(record).items():
        yield Text(label, text, reply=label.startswith("reply"), folded=label == "thinking")
    if record["answer"] is not None:
        yield Text("read as the answer", record["answer"])
    by = f", by {record['by']}" if record["by"] else ""
    yield Text("grade", f"{kind}{by}" + _but(record["reason"], kind))
    for label, why in (("error", record["error"]), ("not graded", record["judge_error"])):
        if why:
            yield Text(label, why)
    for judge, told in record.get("judgements", {}).items():
        yield Text(f"judge {judge}", _judged(told))
    for label in ("parity", "details"):
        if told := record.get(label):
            yield Text(_BESIDE[label], _listed(told))


_BESIDE = {"parity": "by the methodology's own rules", "details": "noted beside"}


def _but(reason: str | None, kind: str) -> str:
    return f": {reason}" if reason and reason != kind else ""


def _judged(told: Mapping[str, Any]) -> str:
    """Return what a judge said, its verdict first."""
    if "error" in told:
        return f"no verdict: {told['error']}"
    verdict = "right" if told.get("correct") else "wrong"
    rest = {name: it for name, it in told.items() if name not in ("correct", "reasoning")}
    return "\n\n".join(filter(None, (verdict, str(told.get("reasoning") or ""), _listed(rest))))


def _listed(told: Mapping[str, Any]) -> str:
    return "\n".join(f"{name}: {'none' if it is None else it}" for name, it in told.items())
