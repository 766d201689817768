"""The normal distribution, Student's t, the binomial and the noncentral F, out of scipy.special.

The same numbers as scipy.stats has, which takes longer to import than most runs calculate.
"""

import math
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Numbers = TypeVar("Numbers", float, Floats)


def normal_below(z: Numbers) -> Numbers:
    """Return the share of a normal distribution below z."""
    return cast(Numbers, _plain(special.ndtr(z)))


def normal_quantile(share: Numbers) -> Numbers:
    """Return below what the share of a normal distribution lies."""
    return cast(Numbers, _plain(special.ndtri(share)))


def normal_density(z: Floats) -> Floats:
    """Return how dense a normal distribution is at z."""
    return np.asarray(np.exp(-np.square(z) / 2) / math.sqrt(2 * math.pi))


def student_below(t: Numbers, degrees: Numbers) -> Numbers:
    """Return the share of Student's t below t."""
    return cast(Numbers, _plain(special.stdtr(degrees, t)))


def student_quantile(share: float, degrees: float) -> float:
    """Return below what the share of Student's t lies."""
    return float(special.stdtrit(degrees, share))


def two_sided(t: float, degrees: float) -> float:
    """Return how often Student's t lies as far from 0 or further, on either side."""
    return 2 * student_below(-abs(float(t)), degrees)


def heads(most: int, tosses: int) -> float:
    """Return how often a fair coin shows heads no more often than this."""
    return float(special.bdtr(most, tosses, 0.5))


def binomial(counts: Counts, tosses: int, share: float) -> Floats:
    """Return how often a coin that shows heads in this share of tosses does so just as often."""
    ways = special.gammaln(tosses + 1) - special.gammaln(counts + 1)
    ways = ways - special.gammaln(tosses - counts + 1)
    logs = ways + special.xlogy(counts, share) + special.xlog1py(tosses - counts, -share)
    return np.asarray(np.exp(logs))


def binomial_below(most: Counts, tosses: Counts, share: float) -> Floats:
    """Return how often such a coin shows heads no more often than this."""
    return np.asarray(special.bdtr(most, tosses, share))


def noncentral_f_below(ratio: float, above: float, below: float, shift: float) -> float:
    """Return the share of a noncentral F below a ratio, with degrees above and below the line."""
    return float(special.ncfdtr(above, below, shift, ratio))


def _plain(found: Any) -> Any:
    """Return one number as Python has it, and several as they are."""
    return float(found) if np.ndim(found) == 0 else found
