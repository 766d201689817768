"""The progress of a run as it is shown: which way, and whose where runs lie within runs."""

import sys
from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import Protocol, Self, TextIO

from raybench.tracking.console import modes
from raybench.tracking.console.events import Events
from raybench.tracking.console.live import Live
from raybench.tracking.console.plain import Plain
from raybench.tracking.console.state import State

_open: list["Progress"] = []
"""Those that are open; the last one is shown, the others wait for it."""


class View(Protocol):
    """A way to show a state."""

    def start(self) -> None:
        """Show it, or show it again after a pause."""
        ...

    def pause(self) -> None:
        """Show nothing until it goes on."""
        ...

    def stop(self) -> None:
        """Show how far it came, and end."""
        ...

    def changed(self) -> None:
        """Take note of news."""
        ...

    def say(self, text: str) -> None:
        """Tell a person something beside it."""
        ...


class Progress(State):
    """A state that is shown while it is open: in a table, lines or events, or not at all."""

    def __init__(
        self,
        total: int,
        unit: str,
        done: int = 0,
        *,
        title: str = "",
        interval: float = 10.0,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Count `unit`s (a plural noun), `done` of `total` before this session."""
        super().__init__(total, unit, done, title=title, clock=clock)
        self._interval = interval
        self._view: View | None = None

    def __enter__(self) -> Self:
        """Start to show."""
        self.nested = bool(_open)
        if _open and (outer := _open[-1]._view) is not None:
            outer.pause()
        self._view = self._chosen(sys.stderr)
        _open.append(self)
        if self._view is not None:
            self._view.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Show how far it came, and stop."""
        _open.remove(self)
        if error is None:  # else it stays what was going on
            self.end()
        if self._view is not None:
            self._view.stop()
            self._view = None
        if _open and (outer := _open[-1]._view) is not None:
            outer.start()

    def say(self, text: str) -> None:
        """Tell a person something beside the progress."""
        if (view := self._view) is not None:  # another thread's word may come as it ends
            view.say(text)

    def _chosen(self, stream: TextIO) -> View | None:
        match modes.resolved(stream):
            case "quiet":
                return None
            case "json":
                return Events(self, stream, interval=self._interval, clock=self._clock)
            case "live":
                return Live(self, stream)
            case _:
                return Plain(self, stream, interval=self._interval, clock=self._clock)

    def _changed(self) -> None:
        if self._view is not None:
            self._view.changed()


def shown() -> Progress | None:
    """Return the progress that is shown now."""
    return _open[-1] if _open else None
