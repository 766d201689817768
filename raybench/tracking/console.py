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
    Column,
    Row,
    alarms,
    counts_shown,
    measured,
    notes,
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
        self._began = self._working = clock()
        self._phase = ""
        self._prompt = self._output = self._errors = self._swaps = 0
        self._swap_share = 0.0
        self._share: float | None = None
        self._arriving: tuple[str, ...] = ()
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
        if self._beat is not None:
            self._beat.join(timeout=1.0)
            self._print()

    def start(self) -> None:
        """Mark the preparation as over: the pace is measured from here, not from the beginning."""
        with self._lock:
            self._working = self._clock()

    def phase(self, text: str) -> None:
        """Say what goes on now, or what is being waited for."""
        with self._lock:
            self._phase = one_line(text)
        self._changed()

    def advance(self, units: int = 1) -> None:
        """Count units as finished."""
        with self._lock:
            self.done += units
        self._changed()

    def count(self, *, prompt_tokens: int = 0, output_tokens: int = 0, errors: int = 0) -> None:
        """Add what was spent and what went wrong."""
        with self._lock:
            self._prompt += prompt_tokens
            self._output += output_tokens
            self._errors += errors
            self._recent.append((self._clock(), output_tokens))
        self._changed()

    def swapped(self, swaps: int, share: float, arriving: Sequence[str] = ()) -> None:
        """Note the swaps so far, the share of the time that they took, and who comes in now."""
        with self._lock:
            news = (self._swaps, self._arriving) != (swaps, tuple(arriving))
            self._swaps, self._swap_share, self._arriving = swaps, share, tuple(arriving)
        if news:
            self._changed()

    def reached(self, share: float) -> None:
        """Note how far the work of this session has come, where units come all at the end."""
        with self._lock:
            self._share = min(1.0, share)

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
        if self.done >= self.total:
            return None
        if self._share is not None:
            spent = self._clock() - self._working
            # What was guessed to be all of it was not: how much more there is, nobody knows.
            return spent / self._share * (1 - self._share) if 0 < self._share < 1 else None
        if units <= 0:
            return None
        return (self._clock() - self._working) / units * (self.total - self.done)

    def rate(self) -> float | None:
        """Return the output tokens per second of the last minute, or None without any."""
        with self._lock:
            now = self._clock()
            while self._recent and self._recent[0][0] < now - _WINDOW:
                self._recent.popleft()
            tokens = sum(count for _, count in self._recent)
            span = min(_WINDOW, now - self._working)
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
            swaps = f"{self._swaps} swap{'s' * (self._swaps != 1)}"
            facts.append(f"{swaps} ({self._swap_share:.0%} of the time)")
        if self._arriving:
            facts.append(f"bringing in {one_line(', '.join(self._arriving))}")
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
        grid.add_column(no_wrap=True)
        grid.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        counted = Text(f"{self.done}/{self.total} {self._unit}", style="bold")
        bar = ProgressBar(total=max(self.total, 1), completed=self.done)
        facts = Text(" · ".join(self.facts()))
        if self._errors:
            facts.highlight_regex(r"\b\d+ errors?\b", "yellow")
        # A time that moves shows that a long wait is not a hang.
        elapsed = Text(duration(self._clock() - self._began), style="dim")
        grid.add_row(counted, bar, elapsed, facts)
        return grid

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
    of: str = "model",
    file: TextIO | None = None,
) -> None:
    """Print the final table on stdout: coloured on a terminal, plain and unbroken in a file.

    Columns without a number for any model make it no wider: why there is none is said below.
    """
    from rich.console import Console
    from rich.text import Text

    out = file or sys.stdout
    columns, none = measured(results, columns, of)
    lines = rows(results, columns)
    console = Console(file=out, highlight=False)
    wide = _table(lines, columns, of, compact=False)
    room = Console(file=out, width=10_000).measure(wide).maximum
    if not console.is_terminal:
        # A file has room for everything, and whoever searches it wants unbroken lines.
        console = Console(file=out, highlight=False, width=room)
    fits = room <= console.width
    with console.capture() as capture:
        if title:
            console.print(Text(one_line(title), style="bold"), soft_wrap=True)
        for alarm in alarms(results):
            console.print(Text(alarm, style="bold yellow"), soft_wrap=not console.is_terminal)
        if lines:
            console.print(wide if fits else _table(lines, columns, of, compact=True))
        reasons = [f"[{mark}] {one_line(reason)}" for reason, mark in refusals(lines).items()]
        for note in [*reasons, *none, *notes(lines, columns, of)]:
            console.print(Text(note, style="dim"), soft_wrap=not console.is_terminal)
    _write(out, "\n".join(line.rstrip() for line in capture.get().splitlines()))


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


def _table(lines: Sequence[Row], columns: Sequence[Column], of: str, *, compact: bool) -> Any:
    """Return the rich table; a compact one puts intervals and counts on second lines."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    marks, counts = refusals(lines), counts_shown(lines)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column(of, overflow="fold", no_wrap=not compact)
    for column in columns:
        table.add_column(Text(one_line(column.title)), justify="right", no_wrap=True)
    for name in [] if compact else counts:
        table.add_column(Text(name.replace("_", " ")), justify="right", no_wrap=True)
    for row in lines:
        cells: list[Text] = []
        for place, (cell, column) in enumerate(zip(row.cells, columns, strict=True)):
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


def _is_live(stream: TextIO) -> bool:
    able = os.environ.get("TERM", "") not in ("", "dumb", "unknown")
    return able and stream.isatty() and _encoding(stream).startswith("utf")


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
    encoding = _encoding(stream)
    try:
        stream.write(text.encode(encoding, "replace").decode(encoding) + "\n")
        stream.flush()
    except (OSError, ValueError):
        pass


def _encoding(stream: TextIO) -> str:
    """Return what the stream can carry: a name in letters that it lacks must not end the run."""
    return (getattr(stream, "encoding", None) or "utf-8").lower()
