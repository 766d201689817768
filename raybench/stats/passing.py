"""pass@k: how likely at least one of k replies to a question is right.

The unbiased estimator of Chen et al. (https://arxiv.org/abs/2107.03374): of n replies of which c
are right, k drawn without putting back are all wrong with probability C(n−c, k)/C(n, k).
"""

import math

import numpy as np

from raybench.statements import Statement
from raybench.stats import clusters, repeats
from raybench.stats.asked import Asked
from raybench.stats.intervals import refuse_empty
from raybench.types import Estimate

KS = (5, 10)
"""What is told beside pass@1, the accuracy, where every question was asked that often."""


def one_of(n: int, right: int, k: int) -> float:
    """Return how likely one of k replies is right, drawn from n of which some are."""
    if not 0 <= right <= n or not 1 <= k <= n:
        raise ValueError(f"{k} of {n} replies, {right} right: there is no such draw")
    # In whole numbers: as a product of floats it loses digits where n is large.
    return 1 - math.comb(n - right, k) / math.comb(n, k)


def at(asked: Asked, k: int) -> Estimate:
    """Return pass@k, averaged over questions, with a standard error over questions.

    The interval is made as that of `repeats.accuracy`, and holds 0 and 1 off in the same way. A
    question that was asked fewer than k times has no estimate, and leaving it out would favour the
    questions that went well: then there is none at all.
    """
    asked = asked.dropped()
    if asked.n == 0:
        return refuse_empty("questions")
    if few := int(((asked.times > 0) & (asked.times < k)).sum()):
        method = Statement(
            "refused.asked_too_seldom",
            "not computed: {questions} {were} asked less than {times} times",
            questions=few,
            were="questions were" if few > 1 else "question was",
            times=k,
        )
        return Estimate(None, None, None, asked.n, method)
    scores = np.full(asked.times.shape, np.nan)
    for place in zip(*np.nonzero(asked.times), strict=True):
        scores[place] = one_of(int(asked.times[place]), int(asked.right[place]), k)
    found = clusters.mean(scores, asked.sources)
    # Disjoint draws of k are as many independent answers as there can be.
    interval = repeats.bounded(found, int(asked.times.sum()) / k)
    return Estimate(
        found.value,
        found.stderr,
        interval,
        asked.n,
        f"mean over questions of 1 − C(n−c, {k})/C(n, {k}); {repeats.BOUNDED}",
    )
