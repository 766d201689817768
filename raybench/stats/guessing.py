"""Where an accuracy stands beside guessing: above it, below it, or not distinguishable from it."""

import math
from typing import Literal

from raybench.types import Estimate

Against = Literal["above guessing", "not distinguishable from guessing", "below guessing"]
OPEN: Against = "not distinguishable from guessing"
EXPLAINED = (
    "Chance: what guessing among the options listed would score. Above or below guessing: the "
    "interval excludes chance, and guesses get so far in less than 1 of 40 runs."
)
"""What columns of tables mean that show both."""
_LEVEL = 0.025
"""Of one side, as the interval's ends are."""
_ROUNDING = 1e-9


def against(accuracy: Estimate, chance: float | None) -> Against | None:
    """Return where an accuracy stands beside guessing; None where that is unknown.

    Its interval and the exact binomial test have to agree: intervals of few questions, Wilson's
    too, may exclude what guesses score by luck. Where 1 guess in 6 is
    right, one right answer shows nothing.
    """
    if chance is None or accuracy.value is None or accuracy.ci95 is None:
        return None
    import numpy as np

    from raybench.stats.distributions import binomial_below

    (low, high), n = accuracy.ci95, accuracy.n
    right = accuracy.value * n
    # A share of a right answer, where questions were asked several times, counts as none.
    fewer, at_most = math.floor(right + _ROUNDING) - 1, math.ceil(right - _ROUNDING)
    below, up_to = binomial_below(np.array([fewer, at_most]), np.array([n, n]), chance)
    if low > chance and 1 - below < _LEVEL:
        return "above guessing"
    if high < chance and up_to < _LEVEL:
        return "below guessing"
    return OPEN
