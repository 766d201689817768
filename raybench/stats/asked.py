"""What a model made of a benchmark's questions: how often each was asked, and answered right."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raybench.stats.clusters import Scores, Sources

Tally = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Two tables of counts. Rows are parts that weigh the same (languages), columns questions.

    A question in several languages is one column, so that what is known of it in one is not taken
    for news in another. `sources` numbers the columns' sources where questions share one.
    """

    right: Tally
    times: Tally
    sources: Sources | None = None

    def __post_init__(self) -> None:
        if self.right.ndim != 2 or self.right.shape != self.times.shape:
            raise ValueError("right and times must be tables of one shape")
        if self.sources is not None and self.sources.shape != self.right.shape[1:]:
            raise ValueError("every column needs its source's number")
        if (self.right < 0).any() or (self.right > self.times).any():
            raise ValueError("nothing is answered right more often than it was asked")

    @classmethod
    def of(cls, *parts: Sequence[tuple[int, int]], sources: Sequence[int] | None = None) -> "Asked":
        """Return the tables of rows of pairs: how often right, how often asked."""
        table = np.array(parts, dtype=np.int64).reshape(len(parts), -1, 2)
        numbers = None if sources is None else np.array(sources, dtype=np.int64)
        return cls(table[..., 0], table[..., 1], numbers)

    @property
    def n(self) -> int:
        """Return how many questions were asked, each language's counted."""
        return int((self.times > 0).sum())

    @property
    def plain(self) -> bool:
        """Tell whether every question is a source of its own."""
        return self.sources is None and len(self.times) == 1

    @property
    def once(self) -> bool:
        """Tell whether no question was asked more than once."""
        return bool((self.times <= 1).all())

    def scores(self) -> Scores:
        """Return every question's share of right answers; NaN where it was not asked."""
        with np.errstate(invalid="ignore"):
            return np.where(self.times > 0, self.right / self.times, np.nan)

    def dropped(self) -> "Asked":
        """Return the same without the parts in which nothing was asked."""
        kept = (self.times > 0).any(axis=1)
        return Asked(self.right[kept], self.times[kept], self.sources)
