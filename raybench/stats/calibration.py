"""Calibration: does what a model states about its answers' being right come true as often?

The root mean square error is that of the code published with HLE: items are sorted by confidence
and cut into bins of 100, and the difference between a bin's mean confidence and its share of right
answers counts by the bin's size. That code adds up all bins but the last, and divides by all items
nevertheless: 'official' does as it does, 'all' takes every bin.

Confidence is between 0 and 1. Ties keep the order in which they are given, and where a bin ends
within a tie that order makes the value: hand items in the order of the questions, never in the one
in which replies came.
"""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from raybench.statements import Statement
from raybench.stats.gaps import Edges, Gaps, Numbers
from raybench.types import Estimate

Bins = Literal["official", "all"]

BIN_SIZE = 100

_INTERVAL = (
    "95 % interval of the error without what chance adds, by inverting a bootstrap of questions"
)


def rms_error(
    confidence: Sequence[float],
    correct: Sequence[float],
    *,
    bin_size: int = BIN_SIZE,
    bins: Bins = "official",
) -> float:
    """Return the root mean square calibration error, as HLE's code has it or of all bins.

    Fewer items than a bin holds are a ValueError. With less than two bins' worth of items the
    official error is 0 whatever the answers are: it looks at no bin.
    """
    stated, right, _ = _sorted(confidence, correct)
    edges, counted = _edges(len(stated), bin_size, bins)
    return math.sqrt(sum(_squares(stated, right, edges)[:counted]))


def estimate(
    confidence: Sequence[float],
    correct: Sequence[float],
    questions: Sequence[int] | None = None,
    *,
    bins: Bins = "official",
    draws: int = 1000,
    seed: int = 0,
) -> Estimate:
    """Return `rms_error` with a 95 % interval of the model's own error, or why there is none.

    Chance makes the value of a well calibrated model too large (`chance` says how large it makes
    that of a perfect one), so that it may lie above all errors that the data allow. The interval
    then reaches up to it, and the method says so; `without_chance` has the narrower one.

    `questions` numbers each item's question, where some have several: the questions are drawn
    anew, each with all its items. Other questions of the same kind are meant, as in `accuracy`.
    """
    found = _gaps(confidence, correct, questions, bins, draws, seed)
    if isinstance(found, Statement):
        return Estimate(None, None, None, len(confidence), found)
    value = rms_error(confidence, correct, bins=bins)
    low, high = found.interval()
    method = f"{_named(bins)}; {_INTERVAL}"
    if value > high:
        method = Statement(
            "method.drawn_out",
            "{method} ({low:.3f} to {high:.3f}), drawn out to the value",
            method=method,
            low=low,
            high=high,
        )
    interval = min(low, value), max(high, value)
    return Estimate(value, _stderr(found), interval, len(confidence), method)


def without_chance(
    confidence: Sequence[float],
    correct: Sequence[float],
    questions: Sequence[int] | None = None,
    *,
    bins: Bins = "official",
    draws: int = 1000,
    seed: int = 0,
) -> Estimate:
    """Return the error less what chance adds to its square, with its 95 % interval.

    It is 0 where chance alone explains what was found. Refused where `estimate` is.
    """
    found = _gaps(confidence, correct, questions, bins, draws, seed)
    if isinstance(found, Statement):
        return Estimate(None, None, None, len(confidence), found)
    low, high = found.interval()
    value = min(max(low, math.sqrt(max(0.0, found.squares - found.chance()))), high)
    method = f"{_named(bins)}, its square less what chance adds; {_INTERVAL}"
    return Estimate(value, _stderr(found), (low, high), len(confidence), method)


def chance(
    confidence: Sequence[float], *, bin_size: int = BIN_SIZE, bins: Bins = "official"
) -> float:
    """Return the error that chance makes for a perfectly calibrated model so confident.

    √ of the mean square over all ways in which its answers may turn out, each question asked once.
    """
    stated, _, _ = _sorted(confidence, np.zeros(len(confidence)))
    edges, counted = _edges(len(stated), bin_size, bins)
    sums = np.add.reduceat(stated * (1 - stated), edges[:-1])
    return math.sqrt(float(sum((sums / np.diff(edges))[:counted])) / len(stated))


def _gaps(
    confidence: Sequence[float],
    correct: Sequence[float],
    questions: Sequence[int] | None,
    bins: Bins,
    draws: int,
    seed: int,
) -> Gaps | Statement:
    """Return the bins' gaps with their noise, or why that would be no number."""
    stated, right, order = _sorted(confidence, correct)
    n = len(stated)
    if questions is not None and len(questions) != n:
        raise ValueError(f"{n} items, but the questions of {len(questions)}")
    if draws < 2:
        raise ValueError(f"{draws} draws are too few for an interval")
    if bins not in ("official", "all"):
        raise ValueError(_unknown(bins))
    if n < BIN_SIZE:
        return Statement(
            "refused.less_than_a_bin",
            "not computed: fewer than {size} items with a confidence, which is what a bin holds",
            size=BIN_SIZE,
        )
    if bins == "official" and n < 2 * BIN_SIZE:
        return Statement(
            "refused.one_bin",
            "not computed: below {least} items there is one bin, and the official code, which "
            "leaves out the last, would say 0 whatever the answers are; 'all' takes every bin",
            least=2 * BIN_SIZE,
        )
    edges, counted = _edges(n, BIN_SIZE, bins)
    numbers = np.arange(n)
    if questions is not None:
        # Numbered as they come in the bins: what the caller calls them decides nothing.
        _, first, names = np.unique(
            np.asarray(questions)[order], return_index=True, return_inverse=True
        )
        numbers = np.argsort(np.argsort(first))[names]
    if numbers.max() == 0:
        return Statement(
            "refused.one_question",
            "not computed: all items are of one question: nothing says how another would differ",
        )
    return Gaps.resampled(
        stated, right, numbers, edges,
        bins=counted, draws=draws, generator=np.random.default_rng(seed),
    )  # fmt: skip


def _sorted(
    confidence: Sequence[float], correct: Sequence[float] | Numbers
) -> tuple[Numbers, Numbers, NDArray[np.int64]]:
    """Return both by rising confidence, ties as they came, and that order."""
    stated, right = np.asarray(confidence, dtype=float), np.asarray(correct, dtype=float)
    if stated.ndim != 1 or stated.shape != right.shape:
        raise ValueError(
            f"every item needs a confidence and whether it is right: "
            f"{stated.size} confidences, {right.size} verdicts"
        )
    # NaN is in no range.
    if not ((stated >= 0) & (stated <= 1)).all():
        raise ValueError("a confidence must be between 0 and 1")
    if not ((right == 0) | (right == 1)).all():
        raise ValueError("an answer is right, 1, or not, 0")
    order = np.argsort(stated, kind="stable")
    return stated[order], right[order], order


def _edges(n: int, bin_size: int, bins: Bins) -> tuple[Edges, int]:
    """Return where bins begin and the last one ends, and how many of them count."""
    if bins not in ("official", "all"):
        raise ValueError(_unknown(bins))
    if bin_size < 1:
        raise ValueError(f"a bin must hold at least one item, not {bin_size}")
    if n < bin_size:
        raise ValueError(f"{n} items do not fill one bin of {bin_size}: no calibration error")
    whole = n // bin_size
    edges = np.append(np.arange(whole) * bin_size, n)
    return edges, whole - 1 if bins == "official" else whole


def _squares(stated: Numbers, right: Numbers, edges: Edges) -> list[float]:
    """Return what each bin adds to the square of the error."""
    n = len(stated)
    parts = zip(np.split(stated, edges[1:-1]), np.split(right, edges[1:-1]), strict=True)
    return [
        len(said) / n * ((math.fsum(said) - math.fsum(came)) / len(said)) ** 2
        for said, came in parts
    ]


def _stderr(found: Gaps) -> float:
    """Return how much the value varies, drawn anew from a model with the error less chance."""
    apart = math.sqrt(max(0.0, found.squares - found.chance()))
    return float(np.std(np.sqrt(found.draws(apart)[1]), ddof=1))


def _named(bins: Bins) -> str:
    which = "all but the last, as HLE's code" if bins == "official" else "all"
    return f"RMS over bins of {BIN_SIZE} ({which})"


def _unknown(bins: str) -> str:
    return f"bins are 'official' or 'all', not {bins!r}"
