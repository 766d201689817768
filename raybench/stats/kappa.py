"""How far two judges agree on the same answers, and how far beyond what chance would make them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raybench.statements import Statement
from raybench.stats import repeats
from raybench.stats.asked import Asked
from raybench.stats.intervals import refuse_empty, share
from raybench.types import Estimate

_BESIDE = 0.25
"""One verdict more, spread over yes/yes, yes/no, no/yes and no/no. In simulation (100 to 2,500
answers, 3 to 50 % yes) this covered best near κ = 1, where few disagreements are seen: a half in
each cell fell to 86 %, a whole one far below."""

_METHOD = "Cohen's κ, Bayesian bootstrap of questions with one verdict more"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two judges' agreement on the same answers."""

    kappa: Estimate
    """Agreement beyond chance, as a share of what chance leaves: 1 is full, 0 none beyond it."""
    share: Estimate
    """On how many answers they say the same."""


def agreement(
    first: Sequence[bool],
    second: Sequence[bool],
    questions: Sequence[int] | None = None,
    *,
    draws: int = 2000,
    seed: int = 0,
) -> Agreement:
    """Return how far two judges agree who said yes or no to the same answers.

    `questions` numbers each answer's question, where some have several: the questions are weighed
    anew, each with all its answers.
    """
    one, other = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    if one.shape != other.shape or one.ndim != 1:
        raise ValueError(f"two judges of the same answers, not of {one.size} and {other.size}")
    if questions is not None and len(questions) != len(one):
        raise ValueError(f"{len(one)} answers, but the questions of {len(questions)}")
    same = one == other
    if questions is None:
        numbers = np.arange(len(one))
        agreed = share(int(same.sum()), len(one), over="verdicts")
    else:
        numbers = np.unique(np.asarray(questions), return_inverse=True)[1]
        pairs = zip(np.bincount(numbers, same), np.bincount(numbers), strict=True)
        agreed = repeats.accuracy(Asked.of([(int(k), int(n)) for k, n in pairs]))
    return Agreement(_kappa(one, other, numbers, draws, seed), agreed)


def _kappa(
    one: NDArray[np.bool_],
    other: NDArray[np.bool_],
    numbers: NDArray[np.int64],
    draws: int,
    seed: int,
) -> Estimate:
    n = len(one)
    if n == 0:
        return refuse_empty("verdicts")
    if one.min() == one.max() and other.min() == other.max():
        why = Statement(
            "refused.verdicts_equal",
            "not computed: one judge says {one} to all, the other {other} to all: agreement beyond "
            "chance needs verdicts that vary",
            one="yes" if one[0] else "no",
            other="yes" if other[0] else "no",
        )
        return Estimate(None, None, None, n, why)
    cells = np.zeros((int(numbers.max()) + 1, 4))
    np.add.at(cells, (numbers, 2 * one + other), 1)
    value = float(_beyond_chance(cells.sum(axis=0)))
    generator = np.random.default_rng(seed)
    # Weights of one exponential each are Rubin's bootstrap; sums of a like cell's are gamma, so
    # that the verdict beside them makes the draws those of a Dirichlet distribution.
    drawn = np.stack([generator.standard_exponential(len(cells)) @ cells for _ in range(draws)])
    drawn += generator.standard_gamma(_BESIDE, size=drawn.shape)
    kappas = _beyond_chance(drawn)
    low, high = (float(bound) for bound in np.quantile(kappas, [0.025, 0.975]))
    # Without one disagreement all draws lie below 1, which is what was seen.
    return Estimate(
        value, float(np.std(kappas, ddof=1)), (min(low, value), max(high, value)), n, _METHOD
    )


def _beyond_chance(cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return kappa of each table no/no, no/yes, yes/no, yes/yes."""
    table = cells / cells.sum(axis=-1, keepdims=True)
    first, second = table[..., 2] + table[..., 3], table[..., 1] + table[..., 3]
    expected = first * second + (1 - first) * (1 - second)
    found: NDArray[np.float64] = (table[..., 0] + table[..., 3] - expected) / (1 - expected)
    return found
