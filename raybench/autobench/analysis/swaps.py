"""Contestants that change places where some judges are left out, and how sure that is."""

from collections.abc import Iterator
from dataclasses import dataclass

from raybench.autobench.analysis import estimates
from raybench.autobench.analysis.ballots import Floats
from raybench.autobench.analysis.resample import Resampled

LIKELY = 0.9
"""How sure both orders of a pair have to be for a warning to name it: one minus a one-sided p."""


@dataclass(frozen=True)
class Swap:
    """Two contestants that change places where some judges are left out."""

    up: str
    """Above with all judges, below without those."""
    down: str
    before: float | None
    """How sure `up` stands above with all judges; None from too few iterations."""
    after: float | None
    """How sure it stands below without those."""

    @property
    def surety(self) -> float:
        """How sure the less sure of the two orders is, 0 where that is not known."""
        return min(self.before or 0.0, self.after or 0.0)

    @property
    def likely(self) -> bool:
        """Tell whether both orders are sure enough: else it may be chance."""
        return self.surety >= LIKELY


def swaps(found: Resampled, without: Resampled) -> tuple[Swap, ...]:
    """Return the pairs that change places, the surest first."""
    pairs = list(_changed(found.scores, without.scores))
    if not pairs:
        return ()
    before, after = estimates.above(found), estimates.above(without)
    models = found.ballots.contestants
    changed = [
        Swap(up, down, before[up][down], after[down][up])
        for up, down in ((models[i], models[j]) for i, j in pairs)
    ]
    return tuple(sorted(changed, key=lambda swap: -swap.surety))


def _changed(before: Floats, after: Floats) -> Iterator[tuple[int, int]]:
    """Yield the pairs of which the first is above before and below after."""
    for up in range(len(before)):
        for down in range(len(before)):
            if before[up] > before[down] + 1e-9 and after[up] < after[down] - 1e-9:
                yield up, down
