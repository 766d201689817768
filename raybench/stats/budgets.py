"""Accuracy against how many tokens a reply took, and whether it peaks within the data."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raybench.statements import Statement
from raybench.stats.intervals import share
from raybench.types import Estimate

ENOUGH = 30
"""Replies from which on a bin may be compared with others."""

_SURE = 0.975
"""In how many draws a bin must be the highest. Where two lengths are equally good and all others
worse, one of the two is named a peak in 1 of 20 runs; where all are equal, in far fewer."""
_DRAWS = 4000


@dataclass(frozen=True, slots=True)
class Budget:
    """Replies of at least `low` and less than `high` tokens: from a power of two to the next."""

    low: int
    high: int
    n: int
    right: int
    accuracy: Estimate
    """With Wilson's interval; refused where no reply is that long."""


@dataclass(frozen=True, slots=True)
class Peak:
    """The budget with the highest accuracy, where the data carry one."""

    budget: Budget | None
    why: str
    """A sentence: where the peak is and how sure, or why none is named."""


def bins(tokens: Sequence[int], correct: Sequence[float]) -> list[Budget]:
    """Return the replies by the power of two that their tokens reach, short ones first.

    Lengths between the shortest and the longest that no reply has are there, with n = 0. Replies
    of 0 tokens, of which nothing was said or counted, stand before the others in a bin of their
    own: 0 to 1. Each reply counts for itself, also where a question has several.
    """
    lengths, right = np.asarray(tokens), np.asarray(correct, dtype=float)
    if lengths.shape != right.shape or lengths.ndim != 1:
        raise ValueError(f"{lengths.size} lengths, but {right.size} verdicts")
    if not ((right == 0) | (right == 1)).all():
        raise ValueError("an answer is right, 1, or not, 0")
    if len(lengths) == 0:
        return []
    if not np.issubdtype(lengths.dtype, np.integer) or lengths.min() < 0:
        raise ValueError("tokens are counted in whole numbers from 0 on")
    # Exact where logarithms are not: 2^k has k + 1 binary digits.
    digits = np.array([int(length).bit_length() for length in lengths])
    found = [_budget(0, digits == 0, right)] if (digits == 0).any() else []
    said = digits[digits > 0]
    if len(said):
        places = range(int(said.min()), int(said.max()) + 1)
        found += [_budget(place, digits == place, right) for place in places]
    return found


def peak(budgets: Sequence[Budget], *, seed: int = 0) -> Peak:
    """Name the budget of the highest accuracy, or say why the data do not carry one.

    Bins of 30 replies or more are compared. One is named if it is the highest in 97.5 % of draws
    from what the data leave open (Jeffreys' posteriors), and neither the shortest nor the longest
    of them: beyond these nobody has looked.
    """
    compared = [budget for budget in budgets if budget.low > 0 and budget.n >= ENOUGH]
    if len(compared) < 3:
        why = Statement(
            "peak.few",
            "no peak named: it takes three lengths with {least} replies or more, and there {are} "
            "{lengths}",
            least=ENOUGH,
            are="is" if len(compared) == 1 else "are",
            lengths=len(compared) or "none",
        )
        return Peak(None, why)
    generator = np.random.default_rng(seed)
    right = np.array([budget.right for budget in compared])
    n = np.array([budget.n for budget in compared])
    drawn = generator.beta(right + 0.5, n - right + 0.5, size=(_DRAWS, len(compared)))
    highest = np.bincount(drawn.argmax(axis=1), minlength=len(compared)) / _DRAWS
    place = int(highest.argmax())
    if highest[place] < _SURE:
        why = Statement(
            "peak.unsure",
            "no peak named: {range} is the likeliest to be the highest, at {sure:.0%}, and "
            "{least:.1%} is asked for",
            range=_range(compared[place]),
            sure=highest[place],
            least=_SURE,
        )
        return Peak(None, why)
    if place in (0, len(compared) - 1):
        end, still = ("shortest", "falls") if place == 0 else ("longest", "rises")
        why = Statement(
            "peak.at_end",
            "no peak within the data: accuracy is highest at the {end} lengths compared, {range}, "
            "and still {still} there",
            end=end,
            range=_range(compared[place]),
            still=still,
        )
        return Peak(None, why)
    why = Statement(
        "peak.named",
        "accuracy peaks at {range}, the highest of {lengths} lengths in {sure:.1%} of draws",
        range=_range(compared[place]),
        lengths=len(compared),
        sure=highest[place],
    )
    return Peak(compared[place], why)


def _budget(digits: int, here: NDArray[np.bool_], right: NDArray[np.float64]) -> Budget:
    n, hits = int(here.sum()), int(right[here].sum())
    low = 1 << (digits - 1) if digits else 0
    return Budget(low, 1 << digits, n, hits, share(hits, n, over="replies"))


def _range(budget: Budget) -> str:
    return f"{budget.low:,} to {budget.high - 1:,} tokens"
