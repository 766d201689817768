"""Replies to read: a few of each kind, with the question as it was asked."""

from bisect import insort
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from raybench import benchmarks
from raybench.pipeline import put
from raybench.pipeline.stages import Asking
from raybench.pipeline.units import unit_id, unit_seed
from raybench.statements import Statement
from raybench.tracking import addresses
from raybench.tracking.report import Item, Section
from raybench.tracking.text import clipped

Record = dict[str, Any]
Place = tuple[str, str, str]
"""A question: its benchmark, language and key."""
Kind = Literal["right", "wrong", "unparsed", "cut off"]

KINDS: tuple[Kind, ...] = ("right", "wrong", "unparsed", "cut off")
MOST = 12
"""Replies of each kind to each benchmark."""
_MOST_OF_ONE = 3
"""Of these, most of one model, where there are few."""


@dataclass(frozen=True, slots=True, order=True)
class _Drawn:
    rank: int
    """Of the asking, whichever the model: so that the models' replies are to the same questions."""
    unit: int
    record: Record = field(compare=False)


class Samples:
    """A few of the replies that pass by, the same ones in whatever order they come."""

    def __init__(self, models: int) -> None:
        """Keep as many of each model as there is room for all."""
        self._most = min(_MOST_OF_ONE, max(1, MOST // models))
        self._kept: dict[tuple[str, Kind, str], list[_Drawn]] = {}

    def enter(self, record: Record) -> None:
        """Keep a record, or let it pass."""
        if (kind := kind_of(record)) is None:
            return
        kept = self._kept.setdefault((record["benchmark"], kind, record["model"]), [])
        insort(kept, _Drawn(unit_seed(0, record), unit_id(record), record))
        del kept[self._most :]

    def chosen(self, asked: Sequence[str]) -> list[Record]:
        """Return the records to show: by benchmark and kind, replies to one asking together.

        The benchmarks are in the order in which they were asked for.
        """
        by_kind: dict[tuple[str, Kind], list[_Drawn]] = {}
        for (benchmark, kind, _), kept in self._kept.items():
            by_kind.setdefault((benchmark, kind), []).extend(kept)
        order = sorted(by_kind, key=lambda of: (asked.index(of[0]), KINDS.index(of[1])))
        return [drawn.record for of in order for drawn in sorted(by_kind[of])[:MOST]]


def kind_of(record: Mapping[str, Any]) -> Kind | None:
    """Return what became of a unit; None where there is no reply to read, or none that counts.

    What broke, `failures.jsonl` tells; questions that a model does not take it was not asked.
    """
    if record["finish"] in ("error", "unsupported") or record["judge_error"] is not None:
        return None
    if record["finish"] in ("length", "thinking"):
        return "cut off"
    if record["answer"] is None:
        return "unparsed"
    return "right" if record["correct"] else "wrong"


def place_of(record: Mapping[str, Any]) -> Place:
    """Return which question a unit asks."""
    return record["benchmark"], record["language"], str(record["key"])


def section(
    records: Sequence[Record],
    rows: Mapping[Place, Any],
    asking: Asking,
    withheld: Collection[str],
) -> Section:
    """Return the replies, by benchmark; those of benchmarks that are withheld are left out."""
    text = (
        "Replies drawn at random, to the same questions for all models where possible: right, "
        f"wrong, unparsed and cut off, at most {MOST} of each per benchmark. The journal has all."
    )
    names = [benchmarks.load(name).title for name in sorted(withheld)]
    if names:
        text += f" Not shown: {', '.join(names)}, whose authors ask not to publish the questions."
    shown = [record for record in records if record["benchmark"] not in withheld]
    return Section("Read them", text, items=list(_items(shown, rows, asking)))


def _items(records: Sequence[Record], rows: Mapping[Place, Any], asking: Asking) -> Iterator[Item]:
    counts: dict[str, Counter[str]] = {}
    for record in records:
        counts.setdefault(record["benchmark"], Counter())[str(kind_of(record))] += 1
    for record in records:
        name = record["benchmark"]
        told = ", ".join(f"{counts[name][kind]} {kind}" for kind in KINDS if counts[name][kind])
        texts = put.asked(record, rows[place_of(record)], asking) | replied(record)
        yield Item(
            _line(record),
            {label: clipped(text) for label, text in texts.items()},
            f"{benchmarks.load(name).title}: {told}",
            unit=addresses.sample(unit_id(record)),
        )


def _line(record: Record) -> str:
    kind, model = kind_of(record), record["model"]
    # A program is no line; it stands in the reply.
    told = record["answer"] is not None and not benchmarks.load(record["benchmark"]).sandboxed
    found = f"{model}, answer '{record['answer']}'" if told else model
    why = "" if record["reason"] == kind else f", {record['reason']}"
    return Statement(
        "sample.line",
        "{kind}: {found}{why}; question {key} ({language}), asking {asking}",
        kind=kind,
        found=found,
        why=why,
        key=record["key"],
        language=record["language"],
        asking=record["repeat"] + 1,
    )


def replied(record: Record) -> dict[str, str]:
    """Return what the model said, and what would have been right."""
    texts = {f"reply ({record['finish']})": record["response"]}
    if record["reasoning"]:
        texts = {"thinking": record["reasoning"], **texts}
    return texts | ({"right answer": record["truth"]} if "truth" in record else {})
