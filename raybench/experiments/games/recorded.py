"""Whole records of matches, read from the journal where one is wanted."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from raybench.pipeline import rows
from raybench.tournament.records import Match


class Recorded:
    """The journal of matches: all of them are too much for the memory, and few are wanted."""

    def __init__(self, journal: Path, matches: Sequence[Match | None]) -> None:
        """`matches` are what was kept of the journal's lines, in their order.

        A line that is of another tournament has None there.
        """
        self._journal = str(journal)
        self._lines = {match.number: at for at, match in enumerate(matches) if match is not None}

    def of(self, match: Match) -> dict[str, Any]:
        """Return the record of a match, with all its texts."""
        found: dict[str, Any] = rows.at((self._journal, self._lines[match.number]))
        return found

    def line(self, match: Match) -> int:
        """Return where a match stands in the journal, counted from 1."""
        return self._lines[match.number] + 1
