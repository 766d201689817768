"""The items that flipped, in the terminal: a line each, with where both sides can be read."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from raybench.compare.found import Compared, Flip, Flips, Pair, Reply, Side
from raybench.compare.shown.words import listed_flips
from raybench.tracking.text import one_line, printable

_WIDEST = 200
"""Characters of a line before the addresses."""
_FEW = 3
"""Items of each direction of a pair, unless more are asked for."""


@dataclass(frozen=True, slots=True)
class _Told:
    """An item, and where among those of its kind it stands."""

    nth: int
    flips: Flips
    flip: Flip


def lines(compared: Compared, most: int | None) -> Iterator[str]:
    """Yield what flipped of a pair: the most telling items, or so many of each kind.

    Those of several benchmarks take turns.
    """
    there = [it for it in compared.flips if it.gained or it.lost]
    shown = [
        told
        for better in (True, False)
        for told in _of([it for it in _every(there) if _better(it) is better], most)
    ]
    if not shown:
        return
    yield f"{listed_flips(there)} (baseline → candidate; {len(shown):,} shown):"
    for it in shown:
        replies = it.flip.baseline, it.flip.candidate
        said = " → ".join(reply.said for reply in replies)
        told = one_line(f"{it.flips.title}, {it.flip.title}: {said}", _WIDEST)
        where = printable(_where(compared.pair, replies))
        yield f"  {'+' if _better(it) else '−'} {told}  {where}"


def _every(flips: Sequence[Flips]) -> Iterator[_Told]:
    for of in flips:
        for _, _, items in of.groups:
            yield from (_Told(nth, of, it) for nth, it in enumerate(items))


def _better(it: _Told) -> bool:
    return it.flips.better(it.flip.difference)


def _of(items: Sequence[_Told], most: int | None) -> list[_Told]:
    if most is None:
        return sorted(items, key=lambda it: it.nth)[:_FEW]
    return [it for it in items if it.nth < most]


def _where(pair: Pair, replies: tuple[Reply, Reply]) -> str:
    """Return where both can be read; once, where that is the same place."""
    each = [_place(*it) for it in zip((pair.baseline, pair.candidate), replies, strict=True)]
    return " → ".join(dict.fromkeys(each))


def _place(side: Side, reply: Reply) -> str:
    """Return the address in the run's report, or else the line of the journal."""
    if reply.unit and (report := side.report):
        return f"{_short(report)}#unit={reply.unit}"
    return f"{_short(reply.journal)}:{reply.line}"


def _short(path: Path) -> str:
    """Return a path as it is shortest: from where we are, if it is below."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith(os.pardir) else relative
