"""How often two orders that have nothing to do with each other agree, or contradict, so far.

Exactly, by how many of all permutations of the models leave so few pairs the other way round. That
is another question than how sure the two orders are of these models: of five, one order in 60 is
the same or the opposite of another by chance alone, however precisely both are measured.
"""

import math

import numpy as np

from raybench.stats.ranks import Floats


def p(ours: Floats, theirs: Floats) -> float:
    """Return the two-sided p of two orders; pairs that a side has equal speak for neither side.

    They are counted as if they spoke against what is tested: that raises p, and never lowers it.
    """
    models = len(ours)
    pairs = models * (models - 1) // 2
    alike, opposed = (int((way * ours * theirs > 0).sum()) // 2 for way in (1, -1))
    return min(1.0, 2 * _as_few(pairs - max(alike, opposed), models))


def _as_few(discordant: int, models: int) -> float:
    """Return the share of all orders of so many models with so few pairs the other way round."""
    # The k-th model stands above 0 to k-1 of those before it, each as likely.
    shares = np.ones(1)
    for before in range(2, models + 1):
        shares = np.convolve(shares, np.full(before, 1 / before))
    return float(math.fsum(shares[: discordant + 1]))
