"""How far the order agrees with tables from elsewhere: for results.json and the terminal."""

from collections.abc import Iterator

from raybench.autobench.analysis.variants import FULL
from raybench.autobench.analysis.whole import Analysed
from raybench.tracking.leaderboard import Board, Column
from raybench.types import Estimate

_COLUMNS = (Column("kendall_tau", "Kendall's τ"), Column("spearman_rho", "Spearman's ρ"))


def by_table(analysed: Analysed) -> dict[str, dict[str, Estimate]]:
    """Return the correlations of the scores, as run, with those of each table."""
    return {
        found.table: {
            "kendall_tau": found.kendall.iterations,
            "spearman_rho": found.spearman.iterations,
        }
        for found in analysed.compared
        if found.variant == FULL
    }


def boards(analysed: Analysed) -> Iterator[Board]:
    """Yield them as lines of a leaderboard, where there are tables."""
    if lines := by_table(analysed):
        yield Board("Agreement with other tables", lines, _COLUMNS, of="table")
