"""How far what was stated lies from what came true, and what of that chance alone makes.

The squares of gaps between stated confidence and the share of right answers are too large on the
average: chance moves each bin's share, and squares forget the direction. So the value of a
perfectly calibrated model is above 0, more so in small bins, and an interval around the value, or
a percentile interval of resampled values, misses the truth more often than it says.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raybench.types import Interval

Numbers = NDArray[np.float64]
Edges = NDArray[np.integer[Any]]

_TAIL = 0.025
_HALVINGS = 24
"""To one in ten million, and an error is told to one in a thousand."""
_AT_ONCE = 1 << 14
"""Of how many items, each with what was drawn of it, sums are made in one go: cached memory."""
_REACH = 3.0
"""Standard errors by which a bin's mean confidence may be another in truth."""


@dataclass(frozen=True, eq=False)
class Gaps:
    """What bins stated and what came true in them, and how both vary from draw to draw."""

    stated: Numbers
    """The mean confidence of each bin."""
    right: Numbers
    """The share of right answers in each bin."""
    weights: Numbers
    """The share of all items in each bin."""
    questions: Numbers
    """How many questions each bin has answers to."""
    stated_noise: Numbers
    right_noise: Numbers
    """What resampling adds to both: rows are draws, columns bins, means are 0."""

    @classmethod
    def resampled(
        cls,
        confidence: Numbers,
        correct: Numbers,
        questions: NDArray[np.int64],
        edges: Edges,
        *,
        bins: int,
        draws: int,
        generator: np.random.Generator,
    ) -> "Gaps":
        """Draw questions, with all their items, and bin each draw anew; the first bins count.

        Items come in the order of their bins, questions numbered from 0. A draw whose questions
        have more items than another's has larger bins, not more of them.
        """
        both = np.stack([confidence, correct])
        sizes = np.diff(edges)
        means = np.add.reduceat(both, edges[:-1], axis=1)[:, :bins] / sizes[:bins]
        counted = edges[: bins + 1] / edges[-1]
        drawn = _drawn(questions, draws, generator)
        noise = np.concatenate([_binned(both, times, counted) for times in drawn])
        distinct = np.array(
            [len(np.unique(part)) for part in np.split(questions, edges[1:-1])[:bins]], dtype=float
        )
        # Draws from a sample vary less than samples do.
        noise = (noise - noise.mean(axis=0)) * np.sqrt(distinct / np.maximum(distinct - 1, 1))
        # Where (next to) all answers are alike, resampling shows (next to) no noise.
        hidden = np.maximum(_variance(means[1], distinct) - means[1] * (1 - means[1]), 0) / distinct
        stated_noise, right_noise = noise[:, 0], noise[:, 1]
        right_noise = right_noise + generator.standard_normal((draws, bins)) * np.sqrt(hidden)
        weights = sizes[:bins] / edges[-1]
        return cls(means[0], means[1], weights, distinct, stated_noise, right_noise)

    @property
    def squares(self) -> float:
        """Return the weighted sum of the squared gaps, as they were found."""
        return float(self.weights @ np.square(self.stated - self.right))

    def chance(self) -> float:
        """Return what chance adds to the squares on the average."""
        return float(np.mean(np.square(self.stated_noise - self.right_noise) @ self.weights))

    def draws(self, apart: float) -> tuple[float, Numbers]:
        """Return the true error of a model so far from calibrated, and squares it would show.

        The true gaps have the directions of those found, and no share lies beyond 0 and 1: where
        it would, what is stated on the average is another than was found, as far as chance moves
        that. Chance moves shares as much as it does at the true ones, as in Wilson's interval.
        """
        size = math.sqrt(self.squares)
        towards = np.where(self.stated < 0.5, -1.0, 1.0)
        if size > 0:
            towards = (self.stated - self.right) / size
        right = np.clip(self.stated - apart * towards, 0, 1)
        # What shares cannot make up for, as none is below 0, other confidences may.
        beyond = apart * towards - (self.stated - right)
        moved = np.clip(beyond, -self._reach, self._reach)
        gaps = np.clip(self.stated + moved, 0, 1) - right
        scale = np.sqrt(_variance(right, self.questions) / self._found_variance)
        shown = np.square(gaps + self.stated_noise - scale * self.right_noise) @ self.weights
        return math.sqrt(float(self.weights @ np.square(gaps))), shown

    @cached_property
    def _reach(self) -> Numbers:
        """How far what is stated in a bin on the average may be from what was found."""
        reach: Numbers = _REACH * np.std(self.stated_noise, axis=0)
        return reach

    @cached_property
    def _found_variance(self) -> Numbers:
        """The variance of an answer in each bin, as it was found."""
        return _variance(self.right, self.questions)

    def interval(self) -> Interval:
        """Return the true errors under which what was found is no rarity: 95 % hold the truth.

        Under the lower end chance shows as much, or more, in 1 of 40 draws; under the upper one so
        little. What is less than a perfectly calibrated model shows in half of its draws was luck,
        and rules out no error that this half would not rule out.
        """
        found = self.squares
        perfect = self.draws(0.0)[1]
        high = self._reached(max(found, float(np.median(perfect))), _TAIL)
        by_chance = float(np.mean(perfect >= found)) >= _TAIL
        return 0.0 if by_chance else self._reached(found, 1 - _TAIL), high

    def _reached(self, found: float, share: float) -> float:
        """Return the error under which so many draws show no more than was found."""
        # Those found, multiplied by this, would have a gap of 1 or more among them.
        low, high = 0.0, 1 / math.sqrt(float(self.weights.min()))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if float(np.mean(self.draws(middle)[1] <= found)) > share:
                low = middle
            else:
                high = middle
        return self.draws((low + high) / 2)[0]


def _drawn(
    questions: NDArray[np.int64], draws: int, generator: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    """Yield how often each item is drawn, some draws at a time: rows are draws."""
    number = int(questions.max()) + 1
    rows = max(1, _AT_ONCE // len(questions))
    for begin in range(0, draws, rows):
        size = (min(rows, draws - begin), number)
        places = generator.integers(number, size=size) + np.arange(size[0])[:, None] * number
        yield np.bincount(places.ravel(), minlength=size[0] * number).reshape(size)[:, questions]


def _binned(values: Numbers, times: NDArray[np.int64], edges: Numbers) -> Numbers:
    """Return the means of values in the bins of each draw: draws, values, bins.

    Edges are shares of a draw's items. One that is within an item cuts it: each bin has its part.
    """
    draws, items = times.shape
    below = np.cumsum(times, axis=1)
    ends = edges * below[:, -1:]
    # The item in which a bin ends: draws follow one another, none has more items than `apart`.
    apart = np.arange(draws)[:, None] * (below[:, -1].max() + 1)
    at = np.searchsorted((below + apart).ravel(), (ends + apart).ravel(), side="right")
    at = np.minimum(at.reshape(ends.shape) - np.arange(draws)[:, None] * items, items - 1)
    rows = np.arange(draws)[:, None]
    inside = ends - (below[rows, at] - times[rows, at])
    sums = np.stack(
        [
            np.cumsum(times * value, axis=1)[rows, at] + (inside - times[rows, at]) * value[at]
            for value in values
        ],
        axis=1,
    )
    return np.diff(sums, axis=2) / np.diff(ends)[:, None]


def _variance(share: Numbers, questions: Numbers) -> Numbers:
    """Return p(1 − p) as if one more question had been answered half right: above 0."""
    held_off = (share * questions + 0.5) / (questions + 1)
    return held_off * (1 - held_off)
