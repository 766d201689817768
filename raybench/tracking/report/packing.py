"""Units in as little of a page as they take, written with as little memory as it takes.

The list of units is columns, their values written once. Bodies stand in chunks, each text of one
written once, compressed. Groups of units are dealt over layers by chance, of each stratum as many
to each layer: where a page has no room for all, the last layers go, and what stays is a sample that
is spread over all strata. Whole groups go, so that what models replied to the same can be compared.
"""

import base64
import gzip
import json
import random
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, groupby
from operator import attrgetter
from typing import Any

from raybench.statements import Statement
from raybench.tracking.report.units import Body, Facet, Of, Unit, Units
from raybench.types import several

BUDGET = 64 * 2**20
"""Bytes of bodies in a page."""
MOST = 200_000
"""Units in its list."""
LONGEST = 4 * 2**20
"""Characters of a body: a longer one stays in the journal."""
CHUNK = 2**19
"""Characters of bodies that are opened together: a reader waits for so many."""
LAYERS = 64


@dataclass(slots=True)
class _Row:
    """A unit in the list: nothing of its texts."""

    number: int
    key: str
    summary: str
    line: int
    group: str
    told: tuple[Any, ...]
    """Of each facet the number itself, or which of its values."""
    chunk: int = -1
    place: int = -1


@dataclass(slots=True)
class _Open:
    """Bodies that wait for a chunk to be full."""

    bodies: list[tuple[_Row, Body]] = field(default_factory=list)
    size: int = 0

    def is_full(self, row: _Row) -> bool:
        """Tell whether a unit belongs into the next chunk; groups are not torn apart."""
        last = self.bodies[-1][0].group if self.bodies else ""
        return self.size >= CHUNK and not (row.group and row.group == last)

    def add(self, row: _Row, body: Body) -> None:
        self.bodies.append((row, body))
        self.size += _size(body)


@dataclass(slots=True)
class _Written:
    """A chunk in the file aside."""

    layer: int
    offset: int
    length: int
    rows: list[_Row]


class Packed:
    """The units of a run as a page has them: the list, and the chunks that it names."""

    def __init__(
        self, units: Units, *, seed: int = 0, budget: int = BUDGET, most: int = MOST
    ) -> None:
        self.units = units
        self._budget, self._most = budget, most
        self._rng = random.Random(seed)
        self._aside = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as this)
        self._values: list[dict[Any, int]] = [{} for _ in units.facets]
        self._rows: dict[int, list[_Row]] = {}
        self._open: dict[int, _Open] = {}
        self._written: dict[int, _Written] = {}
        self._numbers = count()
        self._listed = self._bodied = LAYERS  # layers below these have room
        self._decks: dict[str, list[int]] = {}
        self.count = 0
        """Of all units."""
        self.shown = 0
        """How many of them the list has."""
        self.too_long = 0
        self._size = 0
        self._take()

    @property
    def readable(self) -> int:
        """Return how many of these have their texts in the page."""
        return sum(row.chunk >= 0 for rows in self._rows.values() for row in rows)

    def told(self) -> Iterator[str]:
        """Yield what has to be said of what is not in the page."""
        name, journal = several(self.units.name), self.units.journal
        if self.shown < self.count:
            yield Statement(
                "units.listed",
                "The list has {listed:,} of {all:,} {name}, drawn by chance: a page of more would "
                "not open. All are in {journal}.",
                listed=self.shown,
                all=self.count,
                name=name,
                journal=journal,
            )
        without = self.shown - self.readable
        if without > self.too_long:
            yield Statement(
                "units.readable",
                "{readable:,} of the {listed:,} {name} listed have their texts in this page, "
                "drawn by chance; of the others it says at which line of {journal} they stand.",
                readable=self.readable,
                listed=self.shown,
                name=name,
                journal=journal,
            )
        elif without:
            yield Statement(
                "units.too_long",
                "{units:,} of the {name} are too long for this page; it says at which line of "
                "{journal} they stand.",
                units=without,
                name=name,
                journal=journal,
            )
        yield from self.units.notes

    def index(self) -> bytes:
        """Return the list, as `encoded` leaves it."""
        rows = sorted(
            (row for rows in self._rows.values() for row in rows), key=lambda row: row.number
        )
        groups: dict[str, int] = {}
        for row in rows:
            groups.setdefault(row.group, len(groups))
        return encoded(
            {
                "name": self.units.name,
                "names": several(self.units.name),
                "group": self.units.group,
                "journal": self.units.journal,
                "count": self.count,
                "facets": [
                    _column(facet, [row.told[place] for row in rows], list(self._values[place]))
                    for place, facet in enumerate(self.units.facets)
                ],
                "groups": list(groups),
                "grouped": [groups[row.group] for row in rows],
                "keys": [row.key for row in rows],
                "summaries": [row.summary for row in rows],
                "lines": [row.line for row in rows],
                "chunks": [row.chunk for row in rows],
                "places": [row.place for row in rows],
            }
        )

    def chunks(self) -> Iterator[tuple[int, bytes]]:
        """Yield every chunk with its number, as `encoded` leaves it."""
        for number, chunk in self._written.items():
            self._aside.seek(chunk.offset)
            yield number, self._aside.read(chunk.length)

    def close(self) -> None:
        """Leave the file aside to the system."""
        self._aside.close()

    def _take(self) -> None:
        for units in _together(self.units.each()):
            layer = 0 if any(unit.kept for unit in units) else self._layer(units[0].stratum)
            for unit in units:
                self._list(layer, unit)
        self._flush()

    def _list(self, layer: int, unit: Unit) -> None:
        self.count += 1
        if layer >= self._listed:
            return
        row = _Row(self.count, unit.key, unit.summary, unit.line, unit.group, self._told(unit))
        self._rows.setdefault(layer, []).append(row)
        self.shown += 1
        while self._listed > 1 and self.shown > self._most:
            self._listed -= 1
            self.shown -= len(self._rows.pop(self._listed, ()))
            self._leave_out(self._listed)
        if layer < self._bodied:
            self._add(layer, row, unit.body())

    def _layer(self, stratum: str) -> int:
        """Deal a group to a layer: of 64 that follow one another in a stratum each to another.

        It is of the stratum of its first unit: whatever else tells its units apart (who replied,
        under what) does not part them.
        """
        if stratum not in self._decks:
            # The first one of a stratum stays: it is never without any.
            self._decks[stratum] = [*self._rng.sample(range(1, LAYERS), LAYERS - 1), 0]
        deck = self._decks[stratum]
        if not deck:
            deck += self._rng.sample(range(LAYERS), LAYERS)
        return deck.pop()

    def _told(self, unit: Unit) -> tuple[Any, ...]:
        return tuple(
            unit.facets.get(facet.name)
            if facet.number
            else values.setdefault(_value(unit.facets.get(facet.name)), len(values))
            for facet, values in zip(self.units.facets, self._values, strict=True)
        )

    def _add(self, layer: int, row: _Row, body: Body) -> None:
        if _size(body) > LONGEST:
            self.too_long += 1
            return
        if (filled := self._open.get(layer)) is not None and filled.is_full(row):
            self._write(layer, self._open.pop(layer).bodies)
        if layer < self._bodied:  # that may have been too much
            self._open.setdefault(layer, _Open()).add(row, body)

    def _flush(self) -> None:
        """Write what is left of all layers: of a small run it is all that there is.

        It goes together, in the order of the units; where there may be no room for all of it, layer
        by layer, what is kept first.
        """
        left = [(layer, *it) for layer, of in sorted(self._open.items()) for it in of.bodies]
        room = self._budget - self._size
        fits = 4 / 3 * sum(of.size for of in self._open.values()) <= room
        if fits:
            left.sort(key=lambda it: it[1].number)
        self._open.clear()
        filled, last = _Open(), 0
        for layer, row, body in left:
            if filled.bodies and (filled.is_full(row) or not (fits or layer == last)):
                self._write(last, filled.bodies)
                filled, last = _Open(), 0
            if layer >= self._bodied:
                break
            filled.add(row, body)
            last = max(last, layer)
        if filled.bodies:
            self._write(last, filled.bodies)

    def _write(self, layer: int, bodies: Sequence[tuple[_Row, Body]]) -> None:
        number, packed = next(self._numbers), encoded(_chunk([body for _, body in bodies]))
        for place, (row, _) in enumerate(bodies):
            row.chunk, row.place = number, place
        offset = self._aside.seek(0, 2)
        self._aside.write(packed)
        rows = [row for row, _ in bodies]
        self._written[number] = _Written(layer, offset, len(packed), rows)
        self._size += len(packed)
        while self._bodied > 1 and self._size > self._budget:
            self._leave_out(self._bodied - 1)

    def _leave_out(self, layer: int) -> None:
        """Leave out the bodies of a layer and those after it."""
        self._bodied = min(self._bodied, layer)
        for number in [number for number, it in self._written.items() if it.layer >= layer]:
            gone = self._written.pop(number)
            self._size -= gone.length
            for row in gone.rows:
                row.chunk = row.place = -1
        for each in [each for each in self._open if each >= layer]:
            del self._open[each]


def _together(units: Iterable[Unit]) -> Iterator[list[Unit]]:
    """Yield the units of each group; who is of none stands alone."""
    for group, of in groupby(units, key=attrgetter("group")):
        if group:
            yield list(of)
        else:
            yield from ([unit] for unit in of)


def _size(body: Body) -> int:
    return sum(len(text.text) for text in body.texts)


def _chunk(bodies: Sequence[Body]) -> dict[str, Any]:
    """Return bodies as they are opened together: every text stands there once."""
    texts: dict[str, int] = {}

    def at(text: str) -> int:
        return texts.setdefault(text, len(texts))

    told = [
        {
            "texts": [
                [at(it.label), at(it.text), at(it.heading), it.folded + 2 * it.reply]
                for it in body.texts
            ],
            "plies": [
                [at(it.fen), it.said, at(it.by), list(it.squares), it.turn] for it in body.plies
            ],
            "ending": body.ending,
        }
        for body in bodies
    ]
    return {"texts": list(texts), "bodies": told}


def _value(of: Of) -> tuple[str, ...]:
    if of is None:
        return ()
    return (
        (of,) if isinstance(of, str) else tuple(map(str, of if isinstance(of, Sequence) else [of]))
    )


def _column(
    facet: Facet, told: Sequence[Any], values: Sequence[tuple[str, ...]]
) -> Mapping[str, Any]:
    of = {"name": facet.name, "number": facet.number, "shown": facet.shown}
    if facet.number:
        return of | {"values": told}
    if facet.folds:
        values = _folded(values)
        first = {value: code for code, value in reversed([*enumerate(values)])}
        told = [first[values[code]] for code in told]
    used = {code: place for place, code in enumerate(dict.fromkeys(told))}
    return of | {"values": [values[code] for code in used], "codes": [used[code] for code in told]}


def _folded(values: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return values with what differs in capitals alone written in one way, with capitals."""
    # Capitals come first in the order of letters.
    every = sorted({each for value in values for each in value}, reverse=True)
    written = {each.casefold(): each for each in every}
    return [tuple(dict.fromkeys(written[each.casefold()] for each in it)) for it in values]


def encoded(value: Any) -> bytes:
    """Return a value as a page holds it: JSON, compressed, in letters that no markup has."""
    text = json.dumps(
        value, separators=(",", ":"), allow_nan=False
    )  # ASCII: any half character is kept
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0))


def decoded(letters: bytes) -> Any:
    """Return what `encoded` was given."""
    return json.loads(gzip.decompress(base64.b64decode(letters)))
