"""All matches of all tournaments, for the report's reader: the same deal in other words."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from raybench.config import Config
from raybench.experiments.games import setup as games
from raybench.experiments.games.recorded import Recorded
from raybench.experiments.games.units import Part, of_several
from raybench.experiments.games_phrasings.cells import Cell, cells
from raybench.experiments.games_phrasings.ledger import Ended
from raybench.tournament.records import Match
from raybench.tracking import addresses
from raybench.tracking.report import Units


def units(
    config: Config,
    played: Mapping[str, Sequence[Match]],
    ended: Sequence[Ended],
    journal: Path,
) -> Units:
    """Return the matches; `ended` is what was kept of the lines of their journal."""
    return of_several([*_parts(config, played, ended, journal)], ["phrasing", "stage"])


def _parts(
    config: Config,
    played: Mapping[str, Sequence[Match]],
    ended: Sequence[Ended],
    journal: Path,
) -> Iterator[Part]:
    rules = games.rules(config)
    for cell in cells(config):
        own = [it.match if it.cell == cell.name else None for it in ended]
        recorded = Recorded(journal, own)
        yield Part(addresses.tournament(cell.name), _told(cell), recorded, played[cell.name], rules)


def _told(cell: Cell) -> dict[str, str]:
    return {"phrasing": cell.label, "stage": f"{cell.stage} optimisation"}
