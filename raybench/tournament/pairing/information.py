"""The pairs whose results narrow the ratings most.

A match between two models tells of the difference of their strengths, most where either may win and
where little is known of it. For every pair the gain is known in advance: by how much its table
would lower the sum of the variances of all differences between two strengths (an A-optimal design).
The pair that gains most is drawn, the information it is expected to give is added, and the next
one is chosen: so the pairs of a round differ. Tables that are drawn and not over yet count the same
way. Every table is played in all its seatings, so that seats stay balanced.

A larger table begins with the best pair and takes in whoever gains most with those who sit there.
The order of k seats is worth k - 1 comparisons, so that each of its pairs is weighed by 2 / k.

Choosing takes time in the square of the number of models for each table, and in the cube for each
round: for hundreds of models choose `random`.
"""

import math
from collections.abc import Sequence
from random import Random

import numpy as np

from raybench.tournament.pairing.contract import Seated, Table
from raybench.tournament.pairing.seats import met, points
from raybench.tournament.pairing.strengths import (
    Numbers,
    expected,
    likeliest,
    precision,
    spreads,
)

_EVEN = 1e-9
"""Gains that differ by less, relatively, are equal, and lots are drawn: what another machine
rounds in another way changes no choice."""


class InformationGain:
    """Chooses the tables of which most can be learnt."""

    adaptive = True

    def __init__(self, models: int, seats: int, rng: Random) -> None:
        self._seats = seats
        self._rng = rng
        self._won = np.zeros((models, models))
        self._strengths = np.zeros(models)
        self._drawn: list[Table] = []
        self._covariance: Numbers = np.zeros((models, models))
        self._square: Numbers = np.zeros((models, models))
        self._weight: Numbers = np.zeros((models, models))

    def learn(self, results: Sequence[Seated]) -> None:
        """Begin a round: judge the strengths anew, and count the last round's tables as expected.

        Two rounds may be under way (`schedule.py`): of the last one, no results are here yet.
        """
        for table, scores in results:
            for i, a in enumerate(table):
                for j, b in enumerate(table):
                    if a != b:
                        self._won[a, b] += points(scores, i, j) * 2 / self._seats
        self._strengths = likeliest(self._won, self._strengths)
        chances = expected(self._strengths)
        known = (self._won + self._won.T) * chances * (1 - chances)
        self._look(known)
        pending, self._drawn = self._drawn, []
        for table in pending:
            self._expect(table)

    def draw(self) -> Table:
        """Return the table that gains most, and count on it."""
        gains = self._gains()
        table = list(self._best(gains))
        while len(table) < self._seats:
            joining = gains[table].sum(0)
            joining[table] = -math.inf
            table.append(self._lot(joining))
        self._rng.shuffle(table)
        self._drawn.append(tuple(table))
        self._expect(tuple(table))
        return tuple(table)

    def _look(self, known: Numbers) -> None:
        self._covariance = np.asarray(np.linalg.inv(precision(known)))
        self._square = self._covariance @ self._covariance
        # What a comparison tells, p (1 - p), as expected while the difference itself is uncertain
        # (the logistic curve by a normal one): else who has won all so far would never be met.
        flat = 1 / np.sqrt(1 + math.pi / 8 * spreads(self._covariance))
        chance = 1 / (1 + np.exp(-flat * (self._strengths[:, None] - self._strengths[None, :])))
        # All seatings of a table, each pair of it weighed by 2 / seats.
        self._weight = 2 * flat * chance * (1 - chance)

    def _gains(self) -> Numbers:
        """Return by how much each pair's table lowers the sum of the differences' variances.

        With u = covariance (e_a - e_b) and the weight w of the table, the covariance falls by
        u u' w / (1 + w var(a - b)), and the sum of all variances by that times n u'u - (1'u)².
        """
        weight = self._weight
        sums = self._covariance.sum(0)
        apart = (sums[:, None] - sums[None, :]) ** 2
        reach = len(sums) * spreads(self._square) - apart
        gains = weight / (1 + weight * spreads(self._covariance)) * reach
        np.fill_diagonal(gains, -math.inf)
        return np.asarray(gains)

    def _best(self, gains: Numbers) -> tuple[int, int]:
        a, b = divmod(self._lot(gains.ravel()), len(gains))
        return a, b

    def _lot(self, gains: Numbers) -> int:
        """Return where the most is gained; of equal ones, one by lot."""
        most = gains.max()
        equal = np.flatnonzero(gains >= most - _EVEN * abs(most))
        return int(equal[self._rng.randrange(len(equal))])

    def _expect(self, table: Table) -> None:
        """Add the information that a table will give: one update of rank one for each pair."""
        for a, b in met(table):
            u = self._covariance[a] - self._covariance[b]
            through = self._covariance @ u
            fall = self._weight[a, b] / (1 + self._weight[a, b] * (u[a] - u[b]))
            cross = np.outer(through, u)
            outer = np.outer(u, u)
            self._covariance -= fall * outer
            self._square += fall * (fall * (u @ u) * outer - cross - cross.T)
