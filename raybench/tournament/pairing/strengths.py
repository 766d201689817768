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


def ahead(strengths: Numbers) -> Numbers:
    """Return by how much each model is stronger than each other."""
    return np.asarray(strengths[:, None] - strengths[None, :])


def chances(differences: Numbers) -> Numbers:
    """Return the chance to win where somebody is so much stronger."""
    return np.asarray(0.5 + 0.5 * np.tanh(differences / 2))


def expected(strengths: Numbers) -> Numbers:
    """Return the chance of each model against each other."""
    return chances(ahead(strengths))


def likeliest(won: Numbers, start: Numbers, *, prior: float = PRIOR) -> Numbers:
    """Return the likeliest strengths, where `won[a, b]` are the points of a against b.

    Newton's steps from `start`, none longer than where the slope can be trusted.
    """
    strengths, matches = start.copy(), won + won.T
    for _ in range(_STEPS):
        wins = expected(strengths)
        slope = won.sum(1) - (matches * wins).sum(1) - strengths / prior**2
        step = np.linalg.solve(precision(matches * wins * (1 - wins), prior=prior), slope)
        longest = np.abs(step).max()
        strengths += step / max(1.0, longest)
        if longest < _CLOSE:
            break
    return strengths


def precision(information: Numbers, *, prior: float = PRIOR) -> Numbers:
    """Return the inverse of the strengths' covariance, from the information on each pair."""
    return np.asarray(np.diag(information.sum(1) + prior**-2) - information)


def covariance(information: Numbers, *, prior: float = PRIOR) -> Numbers:
    """Return the strengths' covariance, from the information on each pair."""
    return np.asarray(np.linalg.inv(precision(information, prior=prior)))


def spreads(together: Numbers) -> Numbers:
    """Return the variance of each difference between two strengths, from their covariance."""
    own = np.diag(together)
    return np.asarray(np.maximum(0.0, own[:, None] + own[None, :] - 2 * together))
