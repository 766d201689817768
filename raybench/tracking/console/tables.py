"""The final tables: leaderboards as a terminal, or a file, has room for them."""

import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

from raybench.tracking.console import modes
from raybench.tracking.console.streams import is_logged, is_terminal, write
from raybench.tracking.leaderboard import (
    Column,
    Row,
    alarms,
    counts_shown,
    measured,
    notes,
    refusals,
    rows,
    told_reason,
)
from raybench.tracking.text import one_line, printable

_NAME = 16
"""A model's name has at least so many columns of a compact table, and goes on below."""
_PROSE = 100
"""Columns of a footnote in a file; the table has as many as it needs."""


def show_leaderboard(
    results: Mapping[str, Any],
    columns: Sequence[Column],
    *,
    title: str = "",
    of: str = "model",
    file: TextIO | None = None,
) -> None:
    """Print the final table on stdout: coloured on a terminal, plain and unbroken in a file.

    On a narrow terminal intervals and counts go to second lines, and columns for which there is no
    room then to further tables below, whose lines are in the same order. Columns without a number
    for any model make it no wider: why there is none is said below.
    """
    from rich.console import Console
    from rich.text import Text

    out = file or sys.stdout
    columns, none = measured(results, columns, of)
    lines = rows(results, columns)
    styled = modes.resolved(out) == "live" or "FORCE_COLOR" in os.environ
    console = Console(file=out, highlight=False, force_terminal=None if styled else False)
    wide = _table(lines, columns, of)
    room = Console(file=out, width=10_000).measure(wide).maximum
    if not (seen := is_terminal(out) and not is_logged()):
        # A file has room for every column, and whoever searches it wants unbroken rows.
        console.width = room
    fits = room <= console.width
    with console.capture() as capture:
        if title:
            console.print(Text(one_line(title), style="bold"), soft_wrap=True)
        for alarm in alarms(results):
            console.print(Text(alarm, style="bold yellow"), soft_wrap=not seen)
        if lines:
            for table in [wide] if fits else _bands(lines, columns, of, console.width):
                console.print(table)
        reasons = [
            f"[{mark}] {one_line(told_reason(reason))}" for reason, mark in refusals(lines).items()
        ]
        for note in [*reasons, *none, *notes(lines, columns, of)]:
            for line in [note] if seen else _wrapped(note):
                console.print(Text(line, style="dim"), soft_wrap=not seen)
    write(out, "\n".join(line.rstrip() for line in capture.get().splitlines()))


def show_note(name: str, text: str, file: TextIO | None = None) -> None:
    """Print what is to be said of a run below its table, in lines that keep words whole.

    What follows the first line of the text is a command, which stays on a line, to be copied.
    """
    out = file or sys.stdout
    seen = is_terminal(out) and not is_logged()
    width = shutil.get_terminal_size().columns if seen else _PROSE
    line, *commands = f"{name:<11} {text}".split("\n")
    write(out, printable("\n".join([*_wrapped(line, width, hang=12), *commands])))


def _wrapped(text: str, width: int = _PROSE, hang: int = 0) -> list[str]:
    """Return the text in lines of that width; a longer word, as a path, has a line of its own."""
    return textwrap.wrap(
        text,
        width,
        subsequent_indent=" " * hang,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _bands(lines: Sequence[Row], columns: Sequence[Column], of: str, width: int) -> Iterator[Any]:
    """Yield compact tables that are no wider than that; the first has the counts."""
    from rich.console import Console

    endless, left = Console(width=10_000), list(range(len(columns)))
    first, names = True, max(_NAME, width // 3)

    def of_columns(places: Sequence[int]) -> Any:
        return _table(lines, columns, of, names=names, only=places, counted=first)

    while left or first:
        taken = left[:1]
        for place in left[1:]:
            if endless.measure(of_columns([*taken, place])).maximum > width:
                break
            taken.append(place)
        yield of_columns(taken)
        left, first = left[len(taken) :], False


def _table(
    lines: Sequence[Row],
    columns: Sequence[Column],
    of: str,
    *,
    names: int = 0,
    only: Sequence[int] | None = None,
    counted: bool = True,
) -> Any:
    """Return the rich table.

    One in which names have only so much room is compact: intervals and counts stand on second
    lines. `only` are the places of the columns that it has, where that is not all.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    marks, counts = refusals(lines), counts_shown(lines) if counted else []
    chosen, compact = range(len(columns)) if only is None else only, names > 0
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column(of, overflow="fold", no_wrap=not compact, max_width=names or None)
    for place in chosen:
        title = Text(one_line(columns[place].title))
        table.add_column(title, justify="right", no_wrap=True)
    for name in [] if compact else counts:
        table.add_column(Text(name.replace("_", " ")), justify="right", no_wrap=True)
    for row in lines:
        cells: list[Text] = []
        for place in chosen:
            cell, column = row.cells[place], columns[place]
            value = cell.number(column.digits, column.mark(cell))
            interval = cell.interval(column.digits)
            gap = " " if interval else ""
            if cell.value is None:
                value += f" [{marks[cell.method]}]"
            shown = Text().append(value, "" if place else "bold")
            cells.append(shown.append("\n" if compact and gap else gap).append(interval, "dim"))
        numbers = [
            Text(str(row.counts.get(name, 0)), style="yellow" if _bad(row, name) else "dim")
            for name in counts
        ]
        model = Text(one_line(row.model))
        if compact:
            for name, number in zip(counts, numbers, strict=True):
                if name == "ok" or number.plain != "0":
                    model.append("\n" if name == counts[0] else ", ").append_text(number)
                    model.append(f" {name.replace('_', ' ')}", "dim")
            table.add_row(row.place, model, *cells)
        else:
            table.add_row(row.place, model, *cells, *numbers)
    return table


def _bad(row: Row, name: str) -> bool:
    return name != "ok" and row.counts.get(name, 0) > 0
