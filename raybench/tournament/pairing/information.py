"""The pairs whose results narrow the ratings most.

A match between two models tells of the difference of their strengths, most where either may win and
where little is known of it. For every pair the gain is known in advance: by how much its table
would lower the sum of the variances of all differences between two strengths (an A-optimal design).

Tables are drawn in sweeps: in random order every model takes the partner with whom most is gained,
where that comes near the most that any pair gains, and both wait for the next sweep. Then the
information that the tables are expected to give is added, and the gains are worked out anew: so the
pairs of a round differ. Tables that are drawn and not over yet count the same way. Every table is
played in all its seatings, so that seats stay balanced. As tables count on those before them, a
round may be as large as keeps everything busy, while it is a small part of all matches. Within a
sweep they do not: a table gains nine tenths of what the best one would, on the average.

A larger table takes in, one after the other, whoever gains most with those who sit there. The order
of k seats is worth k - 1 comparisons, so that each of its pairs is weighed by 2 / k.
"""

import math
from collections.abc import Sequence
from random import Random

import numpy as np

from raybench.tournament.pairing.contract import Seated, Table
from raybench.tournament.pairing.seats import met, points
from raybench.tournament.pairing.strengths import (
    Numbers,
    ahead,
    chances,
    covariance,
    expected,
    likeliest,
    spreads,
)

_NEAR = 0.8
"""The part of the largest gain that a table needs."""
_EVEN = 1e-9
"""Gains that differ by less, relatively, are equal, and lots are drawn: what another machine
rounds in another way changes no choice."""


class InformationGain:
    """Chooses the tables of which most can be learnt."""

    adaptive = True

    def __init__(self, models: int, seats: int, rng: Random) -> None:
        self._seats, self._rng = seats, rng
        self._won: Numbers = np.zeros((models, models))
        self._strengths: Numbers = np.zeros(models)
        self._known: Numbers = np.zeros((models, models))
        self._weight: Numbers = np.zeros((models, models))
        self._drawn: list[Table] = []
        self._sweep: list[Table] = []

    def learn(self, results: Sequence[Seated]) -> None:
        """Begin a round: judge the strengths anew, and count the last round's tables as expected.

        Two rounds may be under way (`schedule.py`): of the last one, no results are here yet.
        """
        for table, scores in results:
            for i, a in enumerate(table):
                for j, b in enumerate(table):
                    if a != b:
                        self._won[a, b] += points(scores[i], scores[j]) * 2 / self._seats
        self._strengths = likeliest(self._won, self._strengths)
        wins = expected(self._strengths)
        self._known = (self._won + self._won.T) * wins * (1 - wins)
        self._weight = self._worth()
        for table in self._drawn:
            self._expect(table)
        self._drawn, self._sweep = [], []

    def draw(self) -> Table:
        """Return a table that gains about as much as any, and count on it."""
        if not self._sweep:
            self._sweep = self._swept()
        table = self._sweep.pop()
        self._drawn.append(table)
        self._expect(table)
        return table

    def _worth(self) -> Numbers:
        """Return the information that a table of each pair will give.

        It is p (1 - p) for each match, as expected while the difference itself is uncertain (the
        logistic curve by a normal one): else who has won all so far would never be met. A table is
        played in all its seatings, and each pair of it is weighed by 2 / seats.
        """
        flat = 1 / np.sqrt(1 + math.pi / 8 * spreads(covariance(self._known)))
        wins = chances(flat * ahead(self._strengths))
        return np.asarray(2 * flat * wins * (1 - wins))

    def _gains(self) -> Numbers:
        """Return by how much each pair's table lowers the sum of the differences' variances.

        With u = covariance (e_a - e_b) and the weight w of the table, the covariance falls by
        u u' w / (1 + w var(a - b)), and the sum of all variances by that times n u'u. (And not by
        less: all of the covariance's columns have the same sum, so that those of u come to 0.)
        """
        now = covariance(self._known)
        reach = len(now) * spreads(now @ now)
        gains = self._weight / (1 + self._weight * spreads(now)) * reach
        np.fill_diagonal(gains, -math.inf)
        return np.asarray(gains)

    def _swept(self) -> list[Table]:
        """Return tables that have nobody in common."""
        gains = self._gains()
        enough = _NEAR * gains.max()
        tables = []
        for model in self._rng.sample(range(len(gains)), len(gains)):
            if gains[model].max() < enough:
                continue  # it sits already, or more is to be learnt of others
            table = [model]
            while len(table) < self._seats:
                joining = gains[table].sum(0)
                if joining.max() == -math.inf:
                    break  # too few are left for a table of that size
                table.append(self._lot(joining))
            else:
                gains[table] = gains[:, table] = -math.inf
                self._rng.shuffle(table)
                tables.append(tuple(table))
        return tables

    def _lot(self, gains: Numbers) -> int:
        """Return where the most is gained; of equal ones, one by lot."""
        most = gains.max()
        equal = np.flatnonzero(gains >= most - _EVEN * abs(most))
        return int(equal[self._rng.randrange(len(equal))])

    def _expect(self, table: Table) -> None:
        """Add the information that a table will give."""
        for a, b in met(table):
            self._known[a, b] += self._weight[a, b]
            self._known[b, a] += self._weight[a, b]
