"""How strong models seem to be, well enough to choose who plays next: never to be published.

A Bradley-Terry model with a prior that draws strengths together, so that it has an answer from the
first match on, also for who has won everything. It knows no first move (tables are balanced) and
takes matches with the same seed for independent. Published ratings are those of `raybench.stats`.
"""

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
PRIOR = 2.0
"""Standard deviation of strengths, in units in which 1 is odds of e: 350 points."""
_STEPS = 50
_CLOSE = 1e-6


def expected(strengths: Numbers) -> Numbers:
    """Return the chance of each model against each other."""
    return np.asarray(0.5 + 0.5 * np.tanh((strengths[:, None] - strengths[None, :]) / 2))


def likeliest(won: Numbers, start: Numbers, *, prior: float = PRIOR) -> Numbers:
    """Return the likeliest strengths, where `won[a, b]` are the points of a against b.

    Newton's steps from `start`, none longer than where the slope can be trusted.
    """
    strengths, matches = start.copy(), won + won.T
    for _ in range(_STEPS):
        chances = expected(strengths)
        slope = won.sum(1) - (matches * chances).sum(1) - strengths / prior**2
        step = np.linalg.solve(precision(matches * chances * (1 - chances), prior=prior), slope)
        longest = np.abs(step).max()
        strengths += step / max(1.0, longest)
        if longest < _CLOSE:
            break
    return strengths


def precision(information: Numbers, *, prior: float = PRIOR) -> Numbers:
    """Return the inverse of the strengths' covariance, from the information on each pair."""
    return np.asarray(np.diag(information.sum(1) + prior**-2) - information)


def spreads(covariance: Numbers) -> Numbers:
    """Return the variance of each difference between two strengths."""
    own = np.diag(covariance)
    return np.asarray(np.maximum(0.0, own[:, None] + own[None, :] - 2 * covariance))
