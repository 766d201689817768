"""The terminal: progress while a run goes, the leaderboard at its end, words to the person."""

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from types import TracebackType
from typing import Any, Self, TextIO

from raybench.tracking.leaderboard import (
    SIMULATED,
    Column,
    Row,
    counts_shown,
    methods,
    refusals,
    rows,
)
from raybench.tracking.text import one_line, printable

_WINDOW = 60.0
"""Tokens per second are those of the last minute: a load that took long does not blur them."""
_HEARTBEAT = 60.0
"""A quiet minute still gets a line, so that nobody takes a long wait for a hang."""

_active: "Progress | None" = None


class Progress:
    """Units done, tokens per second, errors and the time left: a live line, or plain ones in a log.

    Any thread may call its methods. Times are those of this session: a resumed run's earlier units
    count as done but say nothing about the speed of now.
    """

    def __init__(
        self,
        total: int,
        unit: str,
        done: int = 0,
        *,
        interval: float = 10.0,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Count `unit`s (a plural noun), `done` of `total` before this session."""
        self.total = total
        self.done = done
        self._unit = unit
        self._before = done
        self._interval = interval
        self._clock = clock
        self._began = clock()
        self._working: float | None = None
        self._phase = ""
        self._prompt = self._output = self._errors = self._swaps = 0
        self._recent: deque[tuple[float, int]] = deque()
        self._lock = threading.RLock()
        self._printed = float("-inf")
        self._fresh = False
        self._stop = threading.Event()
        self._beat: threading.Thread | None = None
        self._live: Any = None
        self._stream: TextIO = sys.stderr

    def __enter__(self) -> Self:
        """Start to show."""
        global _active
        self._stream = sys.stderr
        _active = self
        if _is_live(self._stream):
            self._live = _start_live(self)
        else:
            self._print()
            self._beat = threading.Thread(target=self._keep_printing, daemon=True)
            self._beat.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Show how far it came, and stop."""
        global _active
        _active = None
        self._stop.set()
        if self._live is not None:
            self._live.stop()
            self._live = None
        else:
            self._print()
        if self._beat is not None:
            self._beat.join(timeout=1.0)

    def phase(self, text: str) -> None:
        """Say what goes on now, or what is being waited for."""
        with self._lock:
            self._phase = one_line(text)
        self._changed()

    def advance(self) -> None:
        """Count a unit as finished."""
        with self._lock:
            self._work()
            self.done += 1
        self._changed()

    def count(
        self, *, prompt_tokens: int = 0, output_tokens: int = 0, errors: int = 0, swaps: int = 0
    ) -> None:
        """Add what was spent and what went wrong."""
        with self._lock:
            now = self._work()
            self._prompt += prompt_tokens
            self._output += output_tokens
            self._errors += errors
            self._swaps += swaps
            self._recent.append((now, output_tokens))
        self._changed()

    def say(self, text: str) -> None:
        """Print a line above the progress."""
        if self._live is not None:
            from rich.text import Text

            self._live.console.print(Text(printable(text)))
        else:
            self._write(printable(text))

    def eta(self) -> float | None:
        """Return the seconds left by the pace of this session, or None before its first unit."""
        units = self.done - self._before
        if units <= 0 or self._working is None or self.done >= self.total:
            return None
        # The work begins with the first sign of it: bringing engines up is no part of the pace.
        return (self._clock() - self._working) / units * (self.total - self.done)

    def rate(self) -> float | None:
        """Return the output tokens per second of the last minute, or None without any."""
        with self._lock:
            now = self._clock()
            while self._recent and self._recent[0][0] < now - _WINDOW:
                self._recent.popleft()
            tokens = sum(count for _, count in self._recent)
            begun = now if self._working is None else self._working
        span = min(_WINDOW, now - begun)
        return tokens / span if tokens and span >= 1.0 else None

    def facts(self) -> list[str]:
        """Return what there is to say beside the count of units, most important first."""
        facts = []
        eta, rate = self.eta(), self.rate()
        if eta is not None:
            facts.append(f"ETA {duration(eta)}")
        if self._errors:
            facts.append(f"{self._errors} error{'s' * (self._errors != 1)}")
        if rate is not None:
            facts.append(f"{short(rate)} tok/s")
        if self._output:
            facts.append(f"{short(self._prompt)} in {short(self._output)} out")
        if self._swaps:
            facts.append(f"{self._swaps} swap{'s' * (self._swaps != 1)}")
        if self._phase:
            facts.append(self._phase)
        return facts

    def line(self) -> str:
        """Return the whole state as one plain line."""
        share = f" ({self.done / self.total:.0%})" if self.total else ""
        counted = f"{self.done}/{self.total} {self._unit}{share}"
        return " · ".join(
            [counted, *self.facts(), f"{duration(self._clock() - self._began)} so far"]
        )

    def __rich__(self) -> Any:
        """Return the live line: rich asks for it some times a second."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        grid = Table.grid(padding=(0, 1), expand=True)
        grid.add_column(no_wrap=True)
        grid.add_column(width=12)
        grid.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        counted = Text(f"{self.done}/{self.total} {self._unit}", style="bold")
        bar = ProgressBar(total=max(self.total, 1), completed=self.done)
        facts = Text(" · ".join(self.facts()))
        if self._errors:
            facts.highlight_regex(r"\b\d+ errors?\b", "yellow")
        grid.add_row(counted, bar, facts)
        return grid

    def _work(self) -> float:
        now = self._clock()
        if self._working is None:
            self._working = now
        return now

    def _changed(self) -> None:
        """Print if the last line is old enough; the heartbeat brings what came too soon."""
        if self._live is not None or self._stop.is_set():
            return
        with self._lock:
            self._fresh = True
            if self._clock() - self._printed >= self._interval:
                self._print()

    def _keep_printing(self) -> None:
        while not self._stop.wait(min(self._interval, 5.0)):
            with self._lock:
                age = self._clock() - self._printed
                if age >= (self._interval if self._fresh else _HEARTBEAT):
                    self._print()

    def _print(self) -> None:
        with self._lock:
            self._printed = self._clock()
            self._fresh = False
            self._write(self.line())

    def _write(self, text: str) -> None:
        _write(self._stream, text)


def say(text: str) -> None:
    """Tell the person something, on stderr and above a progress line."""
    if _active is not None:
        _active.say(text)
    else:
        _write(sys.stderr, printable(text))


def warn(text: str) -> None:
    """Tell the person about something that may need them."""
    say(f"warning: {text}")


def show_leaderboard(
    results: Mapping[str, Any],
    columns: Sequence[Column],
    *,
    title: str = "",
    file: TextIO | None = None,
) -> None:
    """Print the final table on stdout: coloured on a terminal, plain and unbroken in a file."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    lines = rows(results, columns)
    console = Console(file=file or sys.stdout, highlight=False)
    tables = [_table(lines, columns, stacked=stacked) for stacked in (False, True)]
    widths = [console.measure(table).maximum for table in tables]
    if not console.is_terminal:
        console = Console(file=console.file, highlight=False, width=max(80, widths[0]))
    wide = widths[0] <= console.width
    if title:
        console.print(Text(one_line(title), style="bold"))
    if results.get("simulated"):
        console.print(Text(SIMULATED, style="bold yellow"))
    console.print(tables[0] if wide else tables[1])
    notes = [f"[{mark}] {one_line(reason)}" for reason, mark in refusals(lines).items()]
    for note in [*notes, *methods(lines, columns)]:
        console.print(Padding(Text(note, style="dim"), (0, 0, 0, 1)))


def short(number: float) -> str:
    """Return a count in few characters: 950, 12.3k, 4.5M."""
    for size, name in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.{1 if number < 100 * size else 0}f}{name}"
    return f"{number:.0f}"


def duration(seconds: float) -> str:
    """Return a time in the two units that matter: 45 s, 4 min 10 s, 2 h 5 min."""
    whole = round(max(seconds, 0))
    if whole < 60:
        return f"{whole} s"
    if whole < 600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 3600:
        return f"{whole // 60} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _table(lines: Sequence[Row], columns: Sequence[Column], *, stacked: bool) -> Any:
    """Return the rich table; stacked puts intervals below their values, for narrow terminals."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    marks, counts = refusals(lines), counts_shown(lines)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column("#", justify="right")
    table.add_column("model", overflow="fold")
    for column in columns:
        table.add_column(Text(one_line(column.title)), justify="right")
    for name in counts:
        table.add_column(Text(name.replace("_", " ")), justify="right")
    for row in lines:
        cells = []
        for place, (cell, column) in enumerate(zip(row.cells, columns, strict=True)):
            text = cell.text(column.digits)
            if cell.value is None:
                text += f" [{marks[cell.method]}]"
            value, _, interval = text.partition(" ")
            shown = Text(value, style="bold" if place == 0 else "")
            cells.append(
                shown.append(("\n" if stacked else " ") + interval, style="dim")
                if interval
                else shown
            )
        numbers = [
            Text(str(row.counts.get(name, 0)), style="yellow" if _bad(row, name) else "dim")
            for name in counts
        ]
        table.add_row(str(row.rank or "—"), Text(one_line(row.model)), *cells, *numbers)
    return table


def _bad(row: Row, name: str) -> bool:
    return name != "ok" and row.counts.get(name, 0) > 0


def _is_live(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM", "") not in ("", "dumb", "unknown")


def _start_live(progress: Progress) -> Any:
    from rich.console import Console
    from rich.live import Live

    live = Live(
        progress,
        console=Console(stderr=True),
        refresh_per_second=4,
        # What is piped elsewhere must stay there; rich would send it all to the terminal.
        redirect_stdout=sys.stdout.isatty(),
    )
    live.start()
    return live


def _write(stream: TextIO, text: str) -> None:
    """Write a line; a terminal that went away must not end the run."""
    try:
        stream.write(text + "\n")
        stream.flush()
    except (OSError, ValueError):
        pass
