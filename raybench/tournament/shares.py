"""Shares of what came in matches: those that were drawn together are not independent."""

import numpy as np

from raybench.stats import grouped
from raybench.types import Estimate


class Share:
    """A share that is still being counted: in memory are its sums by what they were drawn with."""

    def __init__(self) -> None:
        self._sums: dict[str, tuple[float, int]] = {}

    def add(self, drawn_with: str, hits: float, count: int = 1) -> None:
        """Count so many hits of so many, in a match drawn with that; a half is half a hit."""
        before, of = self._sums.get(drawn_with, (0, 0))
        self._sums[drawn_with] = before + hits, of + count

    def estimate(self, over: str) -> Estimate:
        """Return the share; `over` names what it is one of."""
        hits, counts = np.array([*self._sums.values()], dtype=np.float64).reshape(-1, 2).T
        return grouped.share_of_sums(hits, counts, over=over, by="seed or start")
