"""How time grows with size: which no slow or busy machine decides."""

import math
import time
from collections.abc import Callable

_TIMES = 8
_SLACK = 3
_RUNS = 5


def linear(work: Callable[[int], object], size: int) -> bool:
    """Tell whether the time that work takes grows with its size and no faster.

    Eight times the size may take three times eight times as long; in a quadratic it takes 64 times.
    Only processor time counts, and the quickest of several runs.
    """
    work(size // _TIMES)  # what it keeps for the next time is no part of it
    few = many = math.inf
    for _ in range(_RUNS):
        few = min(few, _taken(work, size // _TIMES))
        many = min(many, _taken(work, size))
        if many <= _SLACK * _TIMES * few:
            return True
    return False


def _taken(work: Callable[[int], object], size: int) -> float:
    begun = time.process_time()
    work(size)
    return time.process_time() - begun
