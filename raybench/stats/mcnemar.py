"""McNemar's exact test: two models on the same questions, each asked once, and what it can show.

It goes by the questions that only one model got right. Where these are few, it shows far less than
a standard error promises: at 5 % no five of them are enough, whatever they say.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from raybench.stats.distributions import (
    binomial,
    binomial_below,
    heads,
    normal_below,
    normal_quantile,
)
from raybench.stats.searching import least

_EXACT = 1000
"""Questions that differ on the average, up to which power is computed without approximation."""
_AROUND = 8.0
"""Standard deviations by which their number may be another."""
_HALVINGS = 20
_MOST = 1_000_000
"""Times the questions there are, that more of them are told."""


def chance(only_first: int, only_second: int) -> float:
    """Return the exact two-sided p-value from the questions that only one model got right."""
    fewer, n = min(only_first, only_second), only_first + only_second
    return min(1.0, 2 * heads(fewer, n))


def power(better: float, worse: float, n: int, level: float) -> float:
    """Return how often p is below a level, and says which of two models is better.

    That model alone gets so large a share of all questions right, and the other one alone that of
    `worse`; n of them are asked.
    """
    rate, difference = better + worse, better - worse
    differ = n * rate
    if differ > _EXACT:
        beyond = n * difference - 1 - normal_quantile(1 - level / 2) * math.sqrt(differ)
        return normal_below(beyond / math.sqrt(n * (rate - difference**2)))
    reach = _AROUND * (math.sqrt(differ) + _AROUND)
    numbers = np.arange(max(0, math.floor(differ - reach)), min(n, math.ceil(differ + reach)) + 1)
    allowed = np.array(_allowed(level))[numbers]
    numbers, allowed = numbers[allowed >= 0], allowed[allowed >= 0]
    shown = binomial(numbers, n, rate) * binomial_below(allowed, numbers, worse / rate)
    return math.fsum(shown)


@dataclass(frozen=True, slots=True)
class Seen:
    """How many questions only one of two models got right, and what that lets others hope for.

    Others are like these: as large a share of questions tells the two apart. Where that is not
    enough for a difference, more do, all for the better model, and no fewer than here against it.
    """

    gained: int
    lost: int
    n: int

    def detectable(self, level: float, wanted: float) -> float:
        """Return the smallest difference that so many questions show as often as is wanted.

        Where none could, as too few questions differ even if all do, it is beyond 1.
        """
        least = next(number for number, it in enumerate(_allowed(level)) if it >= 0)
        if self.n < least:
            return least / self.n
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if power(*self._shares(middle), self.n, level) < wanted:
                low = middle
            else:
                high = middle
        return high

    def needed(self, difference: float, level: float, wanted: float) -> int | None:
        """Return how many questions show a difference as often; None where nobody asks so many."""
        shares = self._shares(difference)
        return least(lambda n: power(*shares, n, level) >= wanted, 1, _MOST * self.n)

    def _shares(self, difference: float) -> tuple[float, float]:
        """Return what shares only the better, and only the worse model gets right."""
        against = min(self.gained, self.lost) / self.n
        rate = min(1.0, max((self.gained + self.lost) / self.n, difference + 2 * against))
        return (rate + difference) / 2, (rate - difference) / 2


@cache
def _allowed(level: float) -> Sequence[int]:
    """Return how many of 0, 1, 2 … that differ may speak against a model that is shown better.

    −1 where not one can be shown.
    """
    most, found = -1, []
    for number in range(math.ceil(_EXACT + _AROUND * (math.sqrt(_EXACT) + _AROUND)) + 1):
        most += chance(most + 1, number - most - 1) < level
        found.append(most)
    return found
