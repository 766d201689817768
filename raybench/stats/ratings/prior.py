"""A stated prior: imaginary matches, half won, against an opponent of mean strength.

With these every likelihood has a maximum, however one-sided the matches were. What they move, and
by how much, anyone can say: one such match is one match. They are never played in silence: where
they were, the method's name says so.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from raybench.stats.ratings.design import Design, Floats, design


@dataclass(frozen=True, eq=False)
class Prior:
    """A design with a set more for each parameter: itself, and an opponent at 0."""

    design: Design
    chosen: Floats
    drawn: Floats

    @classmethod
    def of(cls, plain: Design, matches: float) -> "Prior":
        """Give every strength and every effect so many imaginary matches."""
        size, sides = plain.size, plain.rows.shape[0] - 1
        added = sparse.csr_array(sparse.eye_array(size))
        nobodies = sparse.csr_array((2, size))
        rows = sparse.vstack([plain.rows[:sides], added, nobodies], format="csr")
        sets = plain.listed
        sets += [(sides + own, sides + size) for own in range(size)]
        drawn = np.zeros(len(sets))
        drawn[-size:] = matches
        return cls(design(rows, sets), np.full(size, matches / 2), drawn)

    def sums(self, chosen: Floats, drawn: Floats) -> tuple[Floats, Floats]:
        """Return sums with those of the imaginary matches."""
        played = np.zeros((len(drawn), len(self.drawn)))
        played[:, : drawn.shape[1]] = drawn
        return chosen + self.chosen, played + self.drawn
