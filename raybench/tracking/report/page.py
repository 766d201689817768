"""The page: whole without a script, which sorts its tables and opens its units."""

import base64
import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import groupby
from types import MappingProxyType
from typing import Any

from raybench.tracking.leaderboard import (
    COUNT_MEANINGS,
    Cell,
    Column,
    Row,
    alarms,
    counts_shown,
    measured,
    notes,
    refusals,
    remarked,
    rows,
)
from raybench.tracking.report.packing import Packed
from raybench.tracking.report.units import Units
from raybench.tracking.text import printable
from raybench.types import Estimate, several

_BESIDE = 5
_READER = ("board.js", "reader.js")

AS_ABOVE = "The columns are those of the table above."
"""The caption of a table whose columns have been explained."""

Value = str | int | float | Estimate | None


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows to show. Numbers stand to the right, None shows as '—'.

    An estimate shows with its interval; one that was not computed as '—', with a footnote.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]
    caption: str = ""
    digits: int = 3


@dataclass(frozen=True, slots=True)
class Item:
    """Something to unfold: a line that says what it is, and labelled texts, shown as they are."""

    summary: str
    body: Mapping[str, str]
    group: str = ""
    """Items of one group that follow one another are folded away together, under its name."""
    unit: str = ""
    """The key of the unit of which this is a part, where the page has it."""


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the report. The figure must be trusted SVG; all else is escaped."""

    title: str
    text: str = ""
    figure: str | None = None
    table: Table | None = None
    items: Sequence[Item] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    """What else there is to open, and where it lies from here."""
    folded: str = ""
    """A long table is folded away under this line; '' shows it."""
    commands: Mapping[str, str] = field(default_factory=dict)
    """What somebody can type, each below what is said of it."""


def parts(
    *,
    title: str,
    subtitle: str,
    results: Mapping[str, Any],
    columns: Sequence[Column],
    sections: Sequence[Section],
    run: Mapping[str, str],
    of: str = "model",
    units: Units | None = None,
    answer: str = "",
    conditions: Mapping[str, str] = MappingProxyType({}),
    remarks: Mapping[str, str] = MappingProxyType({}),
    back: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[str]:
    """Yield the page's HTML in parts, which need not be in memory together.

    Why a column has no number for any model is said below the table. `of` is what the leaderboard's
    lines are, `answer` what is said before it, `conditions` who judged and how the run deviates,
    by short names: one that is a section's title is a link to it.
    `remarks` are further footnotes, by short names, as leaderboard.md has them. `back` are the
    pages that this one is a part of, and where they lie from here. `units` can be opened one by
    one: their list stands before their bodies, so that it can be used before these are read.
    """
    columns, none = measured(results, columns, of)
    lines = rows(results, columns)
    shown = counts_shown(lines)
    told = {
        "title": title,
        "subtitle": subtitle,
        "columns": columns,
        "rows": lines,
        "counts": shown,
        "meanings": {name: COUNT_MEANINGS.get(name, "") for name in shown},
        "notes": [*none, *notes(lines, columns, of), *remarked(remarks)],
        "of": of,
        "alarms": alarms(results),
        "answer": answer,
        "conditions": conditions,
        "back": back,
        "sections": (addressed := dict(_addressed(sections))),
        "addresses": {section.title: address for address, section in addressed.items()},
        "run": run,
        "beside": _BESIDE,
    }
    if units is None:
        yield _filled(told, None)
    else:
        with closing(Packed(units)) as packed:
            yield _filled(told, packed if packed.count else None)
            for number, letters in packed.chunks():
                yield (
                    f'<script type="application/octet-stream" id="chunk-{number}">'
                    f"{letters.decode()}</script>\n"
                )
    yield "</body>\n</html>\n"


def _filled(told: Mapping[str, Any], packed: Packed | None) -> str:
    """Return the page as far as the bodies of its units."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    # What models wrote stands on this page: everything is escaped unless it says otherwise.
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["cell"] = _shown
    environment.filters["crowded"] = _crowded
    environment.filters["estimate"] = _estimate
    environment.filters["groups"] = _groups
    environment.filters["head"] = _head
    environment.filters["named"] = _named
    environment.filters["numeric"] = _numeric
    environment.filters["printable"] = printable
    environment.filters["footnotes"] = _Footnotes().of
    environment.filters["sorted_by"] = _sorted_by
    script = "".join(map(_beside_us, ("tables.js", *(_READER if packed else ()))))
    return environment.from_string(_beside_us("page.html.j2")).render(
        **told,
        style=Markup(_beside_us("page.css")),
        script=Markup(script),
        allowed=Markup(_allowed(script)),
        units=None if packed is None else _Reader.of(packed),
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    """What the page says of its units."""

    title: str
    names: str
    journal: str
    count: int
    notes: Sequence[str]
    index: str

    @classmethod
    def of(cls, packed: Packed) -> "_Reader":
        names = several(packed.units.name)
        return cls(
            f"Every {packed.units.name}",
            names,
            packed.units.journal,
            packed.count,
            list(packed.told()),
            packed.index().decode(),
        )


def _beside_us(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _allowed(script: str) -> str:
    """Return how a browser is told which script may run."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _sorted_by(value: object) -> str:
    """Return the attribute by which a cell is sorted, where its text has less than all digits.

    What is only known to be above or below something is sorted beside that.
    """
    from markupsafe import Markup

    if isinstance(value, Estimate):
        value = Cell.of(value)
    if isinstance(value, Cell):
        low, high = value.ends
        if value.value is not None:
            value = value.value
        elif low is not None and high is None:
            value = math.nextafter(low, math.inf)
        elif high is not None and low is None:
            value = math.nextafter(high, -math.inf)
    return Markup(f' data-value="{float(value)!r}"') if isinstance(value, float) else ""


def _addressed(sections: Sequence[Section]) -> Iterator[tuple[str, Section]]:
    """Yield the sections, each with the address that a link to it ends in."""
    taken: set[str] = set()
    for number, section in enumerate(sections, start=1):
        address = re.sub(r"[^a-z0-9]+", "-", section.title.lower()).strip("-")
        if not address or address in taken:
            address = f"{address or 'section'}-{number}"
        taken.add(address)
        yield address, section


def _shown(value: Value, digits: int) -> str:
    if value is None:
        return "—"
    if isinstance(value, float):
        return f"{value:z.{digits}f}"
    if isinstance(value, int):
        return f"{value:,}"
    return printable(str(value))


def _head(title: str) -> str:
    """Return a column's title, which may break between its words: 'LiveCodeBench' has three."""
    from markupsafe import Markup, escape

    words = re.split(r"(?<=[a-z])(?=[A-Z])", printable(title))
    return Markup("<wbr>").join(map(escape, words))


def _estimate(value: Value) -> Cell | None:
    return Cell.of(value) if isinstance(value, Estimate) else None


def _crowded(table: Table) -> bool:
    """Tell whether a row has so many estimates that intervals go below them, not beside."""
    found = (sum(isinstance(value, Estimate) for value in row) for row in table.rows)
    return max(found, default=0) > _BESIDE


class _Footnotes:
    """Why estimates were not computed: each reason has one number and one footnote on the page."""

    def __init__(self) -> None:
        self._marks: dict[str, int] = {}

    def of(self, shown: Table | Sequence[Row]) -> dict[str, Any]:
        """Return the number of each reason in a table, and the reasons that are new on the page."""
        marks, known = self._marks, len(self._marks)
        for reason in _refused(shown) if isinstance(shown, Table) else refusals(shown):
            marks.setdefault(reason, len(marks) + 1)
        new = {reason: mark for reason, mark in marks.items() if mark > known}
        return {"marks": marks, "new": new}


def _refused(table: Table) -> Iterator[str]:
    """Yield why estimates of a table were not computed."""
    for row in table.rows:
        for value in row:
            if isinstance(value, Estimate) and value.value is None:
                yield value.method


def _numeric(table: Table) -> list[bool]:
    """Return which columns hold numbers only, and so stand to the right."""
    return [
        all(_is_number(row[place]) for row in table.rows) for place in range(len(table.columns))
    ]


def _is_number(value: Value) -> bool:
    """Tell whether a value is a number, or is written as one: '15–17', '< 0.001', '±2.8 %'."""
    if isinstance(value, str):
        return any(map(str.isdigit, value)) and not any(map(str.isalpha, value))
    return True


def _named(table: Table) -> bool:
    """Tell whether the first column names the rows."""
    return not _numeric(table)[0] if table.columns else False


def _groups(items: Sequence[Item]) -> list[tuple[str, list[Item]]]:
    return [(name, list(of)) for name, of in groupby(items, key=lambda item: item.group)]
