"""The report: one page that explains a run by itself, anywhere, without a network or a script."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby
from typing import Any

from raybench.tracking.leaderboard import (
    COUNT_MEANINGS,
    Cell,
    Column,
    alarms,
    counts_shown,
    measured,
    notes,
    refusals,
    rows,
)
from raybench.tracking.text import printable
from raybench.types import Estimate

_BESIDE = 5

Value = str | int | float | Estimate | None


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows to show. Numbers stand to the right, None shows as '—'.

    An estimate shows with its interval; a refused one as '—', with a footnote that says why.
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


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the report. The figure must be trusted SVG; all else is escaped."""

    title: str
    text: str = ""
    figure: str | None = None
    table: Table | None = None
    items: Sequence[Item] = ()
    folded: str = ""
    """A long table is folded away under this line; '' shows it."""


def render(
    *,
    title: str,
    subtitle: str,
    results: Mapping[str, Any],
    columns: Sequence[Column],
    sections: Sequence[Section],
    run: Mapping[str, str],
    of: str = "model",
) -> str:
    """Return the page's HTML. Why a column has no number for any model is said below the table.

    `of` is what the leaderboard's lines are.
    """
    from jinja2 import Environment, StrictUndefined

    source = files("raybench.tracking").joinpath("report.html.j2").read_text(encoding="utf-8")
    # What models wrote stands on this page: everything is escaped unless it says otherwise.
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["cell"] = _shown
    environment.filters["crowded"] = _crowded
    environment.filters["estimate"] = _estimate
    environment.filters["groups"] = _groups
    environment.filters["named"] = _named
    environment.filters["numeric"] = _numeric
    environment.filters["printable"] = printable
    environment.filters["refusals"] = _refusals
    columns, none = measured(results, columns, of)
    lines = rows(results, columns)
    shown = counts_shown(lines)
    return environment.from_string(source).render(
        title=title,
        subtitle=subtitle,
        columns=columns,
        rows=lines,
        counts=shown,
        meanings={name: COUNT_MEANINGS.get(name, "") for name in shown},
        marks=refusals(lines),
        notes=[*none, *notes(lines, columns, of)],
        of=of,
        alarms=alarms(results),
        sections=dict(_addressed(sections)),
        run=run,
        beside=_BESIDE,
    )


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


def _estimate(value: Value) -> Cell | None:
    return Cell.of(value) if isinstance(value, Estimate) else None


def _crowded(table: Table) -> bool:
    """Tell whether a row has so many estimates that intervals go below them, not beside."""
    found = (sum(isinstance(value, Estimate) for value in row) for row in table.rows)
    return max(found, default=0) > _BESIDE


def _refusals(table: Table) -> dict[str, int]:
    """Return why estimates were refused, each reason with the number of its footnote."""
    reasons = (
        value.method
        for row in table.rows
        for value in row
        if isinstance(value, Estimate) and value.value is None
    )
    return {reason: mark for mark, reason in enumerate(dict.fromkeys(reasons), start=1)}


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
