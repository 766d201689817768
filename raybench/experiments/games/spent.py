"""What a run has spent in all its sessions, as budgets are compared with it."""

import time
from collections.abc import Callable, Mapping
from typing import Any

JOURNAL = "spent"
"""What each session has spent by now, noted every few seconds: the last line of each counts."""
NOTED_S = 5.0
"""A session that is killed loses so much of its account at most."""


class Spent:
    """Counts the seconds of a session and the tokens that were written in it, by jurors too."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._tokens = 0
        self._earlier: dict[int, tuple[float, int]] = {}
        self._session = 0
        self.reading = True
        """What is written from now on is not read back."""

    def enter(self, line: Mapping[str, Any]) -> None:
        """Take a line of the journal."""
        if self.reading:
            session = int(line["session"])
            self._earlier[session] = float(line["seconds"]), int(line["tokens"])
            self._session = max(self._session, session + 1)

    def count(self, tokens: int) -> None:
        """Take tokens that were written."""
        self._tokens += tokens

    def line(self) -> dict[str, Any]:
        """Return what the journal is told now."""
        seconds = round(self._clock() - self._began, 3)
        return {"session": self._session, "seconds": seconds, "tokens": self._tokens}

    @property
    def told(self) -> dict[str, Callable[[], float]]:
        """Return what says how much has been spent, by its unit."""
        seconds = sum(it for it, _ in self._earlier.values())
        tokens = sum(it for _, it in self._earlier.values())
        return {
            "tokens": lambda: float(tokens + self._tokens),
            "seconds": lambda: seconds + self._clock() - self._began,
        }
