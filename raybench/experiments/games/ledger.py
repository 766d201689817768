"""What earlier sessions of a run left of matches that had not ended."""

from collections.abc import Collection, Mapping
from typing import Any

from raybench.tournament import records
from raybench.tournament.records import Unfinished


class Ledger:
    """Reads the journal of turns; of matches that ended, nothing stays in memory."""

    def __init__(self, ended: Collection[int]) -> None:
        self._ended = frozenset(ended)
        self.unfinished: dict[int, Unfinished] = {}
        self.reading = True
        """What is written from now on is not read back."""

    def enter(self, line: Mapping[str, Any]) -> None:
        """Take a line of the journal."""
        if self.reading and line["match"] not in self._ended:
            records.enter(self.unfinished, line)
