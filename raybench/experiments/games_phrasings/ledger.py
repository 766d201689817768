"""What there is of a run's tournaments, read from journals in which all of them stand."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from raybench.arena.pool import Lines
from raybench.errors import Problem, RunFailed
from raybench.experiments.games.ledger import Ledger
from raybench.experiments.games_phrasings.cells import CELL, Cell
from raybench.pipeline.journal import Journal
from raybench.tournament import records
from raybench.tournament.records import Match


class Ended(NamedTuple):
    """What stays in memory of a record."""

    cell: str
    match: Match


def kept(record: Mapping[str, Any]) -> Ended:
    """Return what stays in memory of a record."""
    return Ended(str(record[CELL]), records.kept(record))


def by_cell(ended: Iterable[Ended], cells: Sequence[Cell], where: object) -> dict[str, list[Match]]:
    """Return the matches of each tournament; `where` is the journal, for words.

    Raises RunFailed where it has matches of another one.
    """
    found: dict[str, list[Match]] = {cell.name: [] for cell in cells}
    for cell, match in ended:
        if cell not in found:
            raise RunFailed(
                Problem(
                    "journal.invalid",
                    f"{where} is not what a run leaves (a match of {cell!r})",
                    fix="Mend it, or start anew with resume=false",
                )
            )
        found[cell].append(match)
    return found


class Begun:
    """Reads the journal of turns: of each tournament, the matches that have not ended."""

    def __init__(self, ended: Mapping[str, Sequence[Match]]) -> None:
        self.of = {cell: Ledger([it.number for it in some]) for cell, some in ended.items()}

    def enter(self, line: Mapping[str, Any]) -> None:
        """Take a line of the journal."""
        self.of[line[CELL]].enter(line)

    def read(self) -> None:
        """Read nothing more: what is written from now on is not read back."""
        for ledger in self.of.values():
            ledger.reading = False


class Shelf:
    """A tournament's part of a journal."""

    def __init__(self, journal: Journal, cell: Cell) -> None:
        self._journal = journal
        self._cell = cell

    def extend(self, lines: Lines) -> None:
        """Keep lines, each with the tournament's name."""
        self._journal.extend(marked(lines, self._cell))


def marked(lines: Iterable[Mapping[str, Any]], cell: Cell) -> list[dict[str, Any]]:
    """Return lines with the name of their tournament."""
    return [{**line, CELL: cell.name} for line in lines]
