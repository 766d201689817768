"""The report: one page that explains a run by itself, anywhere, without a network or a script."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from raybench.tracking.leaderboard import (
    COUNT_MEANINGS,
    SIMULATED,
    Column,
    counts_shown,
    methods,
    refusals,
    rows,
)
from raybench.tracking.text import printable

Value = str | int | float | None


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows to show. Numbers stand to the right, None shows as '—'."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]
    caption: str = ""
    digits: int = 3


@dataclass(frozen=True, slots=True)
class Item:
    """Something to unfold: a line that says what it is, and labelled texts, shown as they are."""

    summary: str
    body: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the report. The figure must be trusted SVG; all else is escaped."""

    title: str
    text: str = ""
    figure: str | None = None
    table: Table | None = None
    items: Sequence[Item] = ()


def render(
    *,
    title: str,
    subtitle: str,
    results: Mapping[str, Any],
    columns: Sequence[Column],
    sections: Sequence[Section],
    run: Mapping[str, str],
) -> str:
    """Return the page's HTML."""
    from jinja2 import Environment, StrictUndefined

    source = files("raybench.tracking").joinpath("report.html.j2").read_text(encoding="utf-8")
    # What models wrote stands on this page: everything is escaped unless it says otherwise.
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["cell"] = _shown
    environment.filters["numeric"] = _numeric
    environment.filters["printable"] = printable
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
        methods=methods(lines, columns),
        simulated=SIMULATED if results.get("simulated") else "",
        sections=sections,
        run=run,
    )


def _shown(value: Value, digits: int) -> str:
    if value is None:
        return "—"
    if isinstance(value, float):
        return f"{value:z.{digits}f}"
    return printable(str(value))


def _numeric(table: Table) -> list[bool]:
    """Return which columns hold numbers only, and so stand to the right."""
    return [
        all(row[place] is None or isinstance(row[place], int | float) for row in table.rows)
        for place in range(len(table.columns))
    ]
