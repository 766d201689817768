"""The pairs whose results narrow the ratings most.

A match between two models tells of the difference of their strengths, most where either may win and
where little is known of it. For every pair the gain is known in advance: by how much its table
would lower the sum of the variances of all differences between two strengths (an A-optimal design).

Every draw takes the pair that gains most then, and counts on the information that its table is
expected to give before the next is drawn: so the pairs of a round differ, although all are drawn
from the same results. Tables that are drawn and not over yet count the same way. Every table is
played in all its seatings, so that seats stay balanced. As tables count on those before them, a
round may be as large as keeps everything busy, while it is a small part of all matches.

A larger table begins with that pair and takes in, one after the other, whoever gains most with
those who sit there. The order of k seats is worth k - 1 comparisons, so that each of its pairs is
weighed by 2 / k. Such a table need not be the best: among up to nine models it gains 0.99 of what
that does, on the average, and 0.75 at worst.

Each game has tables that narrow its own ratings most. The overall rating is no mean of these but
strengths that all games share (`stats/overall.py`), of which other games may have told what is new
to this one: what narrows it most may be another pair. In simulated tournaments of two games and of
four its variance was, within a twentieth, that of tables chosen for the overall strengths alone;
these left the games' own ratings up to 1.4 times the variance.
"""

import math
from collections import Counter
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
        self._together: Numbers = np.zeros((models, models))
        self._weight: Numbers = np.zeros((models, models))

    def learn(self, results: Sequence[Seated], to_come: Sequence[Table]) -> None:
        """Begin a round: judge the strengths anew, and count as expected what is still to come."""
        for table, scores in results:
            for i, a in enumerate(table):
                for j, b in enumerate(table):
                    if a != b:
                        self._won[a, b] += points(scores[i], scores[j]) * 2 / self._seats
        self._strengths = likeliest(self._won, self._strengths)
        wins = expected(self._strengths)
        self._together = covariance((self._won + self._won.T) * wins * (1 - wins))
        self._weight = self._worth()
        for members, count in Counter(tuple(sorted(it)) for it in to_come).items():
            self._expect(members, count / self._seats)

    def draw(self) -> Table:
        """Return the table that gains most now, and count on it.

        A pair takes 0.2 ms among a hundred models, and 50 ms among a thousand.
        """
        gains = self._gains()
        members = [*divmod(self._lot(gains), len(gains))]
        while len(members) < self._seats:
            members.append(self._lot(gains[members].sum(0)))
        self._rng.shuffle(members)
        table = tuple(members)
        self._expect(table)
        return table

    def _worth(self) -> Numbers:
        """Return the information that a table of each pair will give.

        It is p (1 - p) for each match, as expected while the difference itself is uncertain (the
        logistic curve by a normal one): else who has won all so far would never be met. A table is
        played in all its seatings, and each pair of it is weighed by 2 / seats. It holds for a
        round: worked out anew after every draw, it saved no matches.
        """
        flat = 1 / np.sqrt(1 + math.pi / 8 * spreads(self._together))
        wins = chances(flat * ahead(self._strengths))
        return np.asarray(2 * flat * wins * (1 - wins))

    def _gains(self) -> Numbers:
        """Return by how much each pair's table lowers the sum of the differences' variances.

        With u = covariance (e_a - e_b) and the weight w of the table, the covariance falls by
        u u' w / (1 + w var(a - b)), and the sum of all variances by that times n u'u. (And not by
        less: all of the covariance's columns have the same sum, so that those of u come to 0.)
        """
        reach = len(self._together) * spreads(self._together @ self._together)
        gains = self._weight / (1 + self._weight * spreads(self._together)) * reach
        np.fill_diagonal(gains, -math.inf)
        return np.asarray(gains)

    def _lot(self, gains: Numbers) -> int:
        """Return where the most is gained, counted row by row; of equal ones, one by lot."""
        most = gains.max()
        equal = np.flatnonzero(gains >= most - _EVEN * abs(most))
        return int(equal[self._rng.randrange(len(equal))])

    def _expect(self, table: Table, times: float = 1.0) -> None:
        """Lower the covariance by what the table will tell, played so many times: see `_gains`.

        It is played once in all its seatings: one of them is a part of that.
        """
        for a, b in met(table):
            along, weight = self._together[a] - self._together[b], times * self._weight[a, b]
            lower = weight / (1 + weight * (along[a] - along[b]))
            self._together -= lower * np.outer(along, along)
