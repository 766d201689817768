"""Progress on a terminal: a line for the whole run, below it one for each model that works."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from raybench.tracking.console.models import Row, busiest
from raybench.tracking.console.state import State
from raybench.tracking.console.streams import write
from raybench.tracking.console.words import clean, duration, short
from raybench.tracking.text import printable

_FRAMES_A_SECOND = 4
_NARROW = 60
"""Columns in which a bar would push out what it measures."""
_BAR = 12
_SEPARATOR = " · "
_AROUND = 5
"""Lines of the screen that are not for models: the whole's two, their head, stages, one free."""
_GAP = 2
_NAME = 10
"""A model's name keeps at least so many columns: beginnings tell models apart."""
_STYLES = {
    "awake": "green",
    "coming up": "cyan",
    "waiting": "yellow",
    "failed": "bold red",
    "done": "dim",
}


class Frame:
    """What is on the screen at one moment; rich draws it anew some times a second."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.last = False
        """It is what stays on the screen."""

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        """Yield the lines for a screen of this size."""
        from rich.text import Text

        yield from _whole(self._state, options.max_width)
        course = self._state.course()
        if not self.last:
            yield from _models(self._state, options.max_width, console.size.height - _AROUND)
        if course:
            yield Text(course, style="dim", no_wrap=not self.last, overflow="ellipsis")


class Live:
    """Keeps a frame on the screen; lines that are said go above it."""

    def __init__(self, state: State, stream: TextIO) -> None:
        self._frame = Frame(state)
        self._stream = stream
        self._live: Any = None

    def start(self) -> None:
        """Show it, or show it again after a pause."""
        from rich.console import Console
        from rich.live import Live as Screen

        self._live = Screen(
            self._frame,
            console=Console(file=self._stream),
            refresh_per_second=_FRAMES_A_SECOND,
            # What is piped elsewhere must stay there; rich would send it all to the terminal.
            redirect_stdout=sys.stdout.isatty(),
        )
        self._live.start()

    def pause(self) -> None:
        """Take it off the screen, until it goes on."""
        self._live.transient = True
        self._live.stop()
        self._live = None

    def stop(self) -> None:
        """Leave the line of the whole run on the screen, and end."""
        self._frame.last = True
        self._live.stop()
        self._live = None

    def changed(self) -> None:
        """Show news with the next frame."""

    def say(self, text: str) -> None:
        """Print a line above; while nothing is shown it stands by itself."""
        from rich.text import Text

        if (live := self._live) is None:
            write(self._stream, printable(text))
        else:
            live.console.print(Text(printable(text)))


def _whole(state: State, width: int) -> Iterator[Any]:
    """Yield the line of the whole run; what it has no room for stands on a second one."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    told = state.counted
    # A time that moves shows that a long wait is not a hang.
    elapsed = duration(state.elapsed())
    bar = _BAR + 1 if width >= _NARROW and state.total else 0
    left = width - _wide(told) - bar - _wide(elapsed) - 2
    facts = state.facts()
    fits = _wide(_SEPARATOR.join(facts)) <= left
    beside, below = (facts, []) if fits else (facts[:1], facts[1:])
    if _wide(_SEPARATOR.join(beside)) > left:
        beside, below = [], facts
    grid = Table.grid(padding=(0, 1))
    cells: list[Any] = []
    if told:
        grid.add_column(no_wrap=True, overflow="ellipsis")
        cells.append(Text(told, "bold"))
    if bar:
        grid.add_column(width=_BAR)
        cells.append(ProgressBar(total=max(state.total, 1), completed=min(state.done, state.total)))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True, overflow="ellipsis")
    grid.add_row(*cells, Text(elapsed, "dim"), _facts(beside))
    yield grid
    if below:
        yield _facts(below)


def _facts(facts: Sequence[str]) -> Any:
    from rich.text import Text

    text = Text(_SEPARATOR.join(facts), no_wrap=True, overflow="ellipsis")
    text.highlight_regex(r"\b[\d,]+ errors?\b", "yellow")
    return text


@dataclass(frozen=True)
class _Column:
    """A column of the models' table."""

    title: str
    cell: Callable[[Row], str]
    style: Callable[[Row], str] = lambda row: ""


def _columns(unit: str) -> list[_Column]:
    """Return the columns, those that are first given up on a narrow screen last."""
    return [
        _Column(unit, lambda row: _units(row)),
        _Column("state", lambda row: row.seen.state, lambda row: _STYLES.get(row.seen.state, "")),
        _Column("errors", lambda row: _number(row.seen.errors), lambda row: "yellow"),
        _Column("tok/s", lambda row: "" if row.rate is None else short(row.rate)),
        _Column("ETA", lambda row: "" if row.eta is None else duration(row.eta)),
        _Column("queue", lambda row: _number(row.seen.queued)),
        _Column("asked", lambda row: _number(row.seen.under_way)),
        _Column("replies", lambda row: _number(row.seen.replies), lambda row: "dim"),
    ]


_ORDER = ("state", "replies", "asked", "queue", "tok/s", "errors", "ETA")
"""How they stand, after the name and the units."""


def _models(state: State, width: int, most: int) -> Iterator[Any]:
    """Yield the table of the models, as many as there is room for."""
    from rich.table import Table
    from rich.text import Text

    rows = state.models()
    # 'and 7 more' takes a line too.
    if not (shown := rows if len(rows) <= most else busiest(rows, most - 1)):
        return
    names = [clean(row.seen.name) for row in shown]
    longest = max(map(_wide, names))
    columns = _fitting(_columns(state.unit), shown, longest, width)
    left = width - sum(wide + _GAP for wide in columns.values())
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
    table.add_column("model", no_wrap=True, overflow="ellipsis", width=min(longest, left))
    for column, wide in columns.items():
        left_hand = column.title == "state"
        table.add_column(
            column.title, no_wrap=True, justify="left" if left_hand else "right", width=wide
        )
    for name, row in zip(names, shown, strict=True):
        table.add_row(Text(name), *(Text(it.cell(row), it.style(row)) for it in columns))
    yield table
    if more := len(rows) - len(shown):
        yield Text(f"and {more} more", style="dim")


def _fitting(
    columns: Sequence[_Column], rows: Sequence[Row], name: int, width: int
) -> dict[_Column, int]:
    """Return the columns that say something and for which there is room, as they stand."""
    left = width - min(name, max(_NAME, width // 3))
    chosen = {}
    for column in columns:
        cells = [column.cell(row) for row in rows]
        wide = max(map(_wide, [column.title, *cells]))
        if any(cells) and wide + _GAP <= left:
            chosen[column] = wide
            left -= wide + _GAP
    order = {title: place for place, title in enumerate(_ORDER, start=1)}
    return dict(sorted(chosen.items(), key=lambda item: order.get(item[0].title, 0)))


def _units(row: Row) -> str:
    of = row.seen
    if of.total is not None:
        return f"{of.done:,}/{of.total:,}"
    return f"{of.done:,}" if of.done else ""


def _number(count: int) -> str:
    return f"{count:,}" if count else ""


def _wide(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)
