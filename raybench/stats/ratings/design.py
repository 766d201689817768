"""Sides as rows of parameters, and the sets from which they are chosen, ready to multiply with."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Sparse = Any
"""A scipy.sparse.csr_array, which carries no types."""


@dataclass(frozen=True, eq=False)
class Design:
    """Which sides there are, as rows of parameters, and the sets from which they are chosen."""

    rows: Sparse
    """Sides by parameters; the last side is nobody, with no strength: it fills up small sets."""
    sets: Integers
    """Places by sets: the sides in each set."""
    there: NDArray[np.bool_]
    """Where a set's place is taken by a side of it."""
    members: Sparse
    """The rows of all sets' sides, as columns: parameters by places and sets."""
    products: Sparse
    """Pairs of parameters by pairs of places and sets: differences of rows, times themselves."""

    @property
    def size(self) -> int:
        """Return how many parameters there are."""
        return int(self.rows.shape[1])

    @property
    def listed(self) -> list[tuple[int, ...]]:
        """Return the sets, each as its sides."""
        both = zip(self.sets.T, self.there.T, strict=True)
        return [tuple(them[there].tolist()) for them, there in both]


def design(rows: Sparse, sets: Sequence[tuple[int, ...]]) -> Design:
    """Prepare what every step of a fit multiplies with."""
    most = max((len(them) for them in sets), default=2)
    nobody = rows.shape[0] - 1
    placed = np.array(
        [them + (nobody,) * (most - len(them)) for them in sets], dtype=np.int64
    ).reshape(len(sets), most)
    pairs = np.array([*combinations(range(most), 2)])
    one, other = placed.T[pairs[:, 0]].ravel(), placed.T[pairs[:, 1]].ravel()
    return Design(
        rows=rows,
        sets=placed.T.copy(),
        there=(placed != nobody).T.copy(),
        members=rows[placed.T.ravel()].T,
        products=_squares(rows[one] - rows[other]).T,
    )


def _squares(differences: Sparse) -> Sparse:
    """Return each row times itself, as a row of products."""
    count, size = differences.shape
    each = np.diff(differences.indptr)
    # Every number of a row beside every number of the same row.
    start = np.repeat(differences.indptr[:-1], each)
    many = np.repeat(each, each)
    left = np.repeat(np.arange(len(differences.data)), many)
    offset = np.arange(len(left)) - np.repeat(np.cumsum(many) - many, many)
    right = np.repeat(start, many) + offset
    rows = np.repeat(np.repeat(np.arange(count), each), many)
    columns = differences.indices[left].astype(np.int64) * size + differences.indices[right]
    values = differences.data[left] * differences.data[right]
    return made(rows, columns, values, (count, size * size))


def made(rows: Any, cols: Any, values: Any, shape: tuple[int, int]) -> Sparse:
    """Return a sparse matrix; what is given twice is added."""
    at = (np.asarray(rows, dtype=np.int64), np.asarray(cols, dtype=np.int64))
    found = sparse.csr_array((np.asarray(values, dtype=np.float64), at), shape=shape)
    found.sum_duplicates()
    found.eliminate_zeros()
    return found
