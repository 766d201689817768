"""What flipped: items with which two sides fared otherwise, and where each can be read.

An item is what both sides did: a question, a match of one deal, a task, a position, a candidate.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from raybench.compare.found import Flip, Flips, Reply, Side
from raybench.stats import intervals
from raybench.tracking.text import clipped

MOST = 50
"""Flipped items of each benchmark and direction that are kept, unless told otherwise."""
Item = TypeVar("Item", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Done:
    """What a side made of an item, and where its journal tells."""

    value: float
    line: int
    """Counted from 1."""
    offset: int
    """In bytes."""


def between(
    flips: Flips,
    sides: tuple[Mapping[Item, Done], Mapping[Item, Done]],
    flip: Callable[[Item, Done, Done], Flip],
    most: int,
) -> Flips:
    """Return flips with the items of both sides that differ, the largest differences first.

    How many there are in each direction is told in full, and so many of each are made by `flip`.
    """
    one, other = sides
    differ = [
        (difference, item)
        for item in one
        if item in other
        and (difference := intervals.difference(other[item].value, one[item].value))
    ]
    by = {way: [it for it in differ if flips.better(it[0]) is way] for way in (True, False)}
    items = [
        flip(item, one[item], other[item])
        for better in (True, False)
        for _, item in sorted(by[better], key=lambda it: -abs(it[0]))[:most]
    ]
    return replace(flips, gained=len(by[True]), lost=len(by[False]), items=items)


def reply(
    side: Side,
    journal: str,
    done: Done,
    unit: str,
    said: str,
    facts: Mapping[str, Any] | None = None,
    texts: Mapping[str, Any] | None = None,
) -> Reply:
    """Return one side's part in a flip; `unit` is its address in the run's report."""
    kept = {name: clipped(it) if isinstance(it, str) else it for name, it in (texts or {}).items()}
    return Reply(
        side.run.journal(journal), done.line, done.offset, unit, said, dict(facts or {}), kept
    )


def numbered(one: str, several: str, numbers: tuple[object, object]) -> str:
    """Return what an item is called by its numbers in both runs: 'match 3', 'matches 3 and 7'."""
    each = list(dict.fromkeys(map(str, numbers)))
    return f"{one if len(each) == 1 else several} {' and '.join(each)}"
