"""The bootstrap over iterations: the whole assessment, weights and all, on tasks drawn anew.

A draw takes as many tasks as there were, with replacement, and replays equations 1 to 3 along it
from equal weights on. So replicates carry what a mean over iterations does not: that scores set
the weights, and weights the scores. A task that has several iterations is drawn with all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raybench.autobench.analysis.ballots import Ballots, Flags, Floats
from raybench.autobench.settings import Weights
from raybench.autobench.sources import Sources
from raybench.autobench.standing import FLOOR

Draws = NDArray[np.int32]
"""Draws by tasks: which tasks are replayed, in order. Where it is NONE, nothing is."""

NONE = -1
"""An iteration that found no task is drawn, too, where assessments are drawn side by side; and of
tasks that repeat, some have an iteration more than others."""

DRAWS = 1000
_CHUNK = 64
"""Draws replayed side by side: what they read of one step stays within a processor's cache."""


@dataclass(frozen=True, eq=False)
class Replayed:
    """Where each draw ends: its scores (NaN: never scored) and the weights that follow."""

    scores: Floats
    """Draws by contestants."""
    weights: Floats
    """Draws by judges."""


@dataclass(frozen=True, eq=False)
class Resampled:
    """An assessment as it was, and as it might have been with other tasks."""

    ballots: Ballots
    rule: Weights
    actual: Replayed
    """A single draw: every task once, in order."""
    drawn: Replayed

    @property
    def scores(self) -> Floats:
        """The contestants' scores as they were."""
        return np.asarray(self.actual.scores[0])

    @property
    def weights(self) -> Floats:
        """The judges' weights as they were."""
        return np.asarray(self.actual.weights[0])


def draws_of(ballots: Ballots, count: int = DRAWS, *, seed: int = 0) -> Draws:
    """Draw an assessment's tasks with replacement, each with all its iterations."""
    return iterations_of(draw(ballots.distinct, count, seed=seed), ballots.sources)


def iterations_of(draws: Draws, sources: Sources) -> Draws:
    """Return draws of tasks as draws of their iterations.

    In laps, as a list of tasks is gone through: the first iterations of all, then the second ones.
    """
    if sources.shared is None:
        return draws
    times = np.bincount(sources.shared)
    laps = np.full((len(times), times.max()), NONE, dtype=np.int32)
    for task, several in enumerate(times):
        laps[task, :several] = np.flatnonzero(sources.shared == task)
    return laps[draws].transpose(0, 2, 1).reshape(len(draws), -1)


def draw(tasks: int, count: int = DRAWS, *, seed: int | Sequence[int] = 0) -> Draws:
    """Draw tasks with replacement, `count` times as many as there are."""
    places = np.random.default_rng(seed).integers(0, max(tasks, 1), (count, tasks))
    return places.astype(np.int32)


def resampled(ballots: Ballots, rule: Weights, draws: Draws) -> Resampled:
    """Replay an assessment as it was and along the draws."""
    once = np.arange(ballots.tasks, dtype=np.int32)[None]
    return Resampled(ballots, rule, replay(ballots, rule, once), replay(ballots, rule, draws))


def replay(ballots: Ballots, rule: Weights, draws: Draws) -> Replayed:
    """Replay equations 1 to 3 along each draw; the same as `protocol.replay` but for rounding."""
    table = _table(ballots)
    if rule == "uniform" or len(ballots.judges) == 1:
        return _unchanging(table, len(ballots.judges), draws)
    places = ballots.places
    parts = [
        _replay(table, places, draws[start : start + _CHUNK])
        for start in range(0, len(draws), _CHUNK)
    ]
    return Replayed(
        np.concatenate([part.scores for part in parts]),
        np.concatenate([part.weights for part in parts]),
    )


def _table(ballots: Ballots) -> Floats:
    """Return ratings, and beside them 1 where there is one: what weights are summed over.

    An empty answer is one that every judge gave FLOOR. The last row has nothing in it: NONE.
    """
    ratings = np.where(ballots.empty[:, None], FLOOR, ballots.ratings.astype(np.float64))
    seen = ~np.isnan(ratings)
    table = np.concatenate([np.where(seen, ratings, 0.0), seen.astype(np.float64)], axis=2)
    return np.concatenate([table, np.zeros((1, *table.shape[1:]))])


def _replay(table: Floats, places: NDArray[np.int64], draws: Draws) -> Replayed:
    count, contestants = len(draws), table.shape[2] // 2
    scores, times = np.zeros((count, contestants)), np.zeros((count, contestants))
    weights = np.full((count, len(places)), 1 / len(places))
    for step in range(draws.shape[1]):
        sums = np.matmul(weights[:, None], table[draws[:, step]])[:, 0]
        total, weight = sums[:, :contestants], sums[:, contestants:]
        seen = weight > 0
        score = np.divide(total, weight, out=scores.copy(), where=seen)
        scores = np.where(seen, (times * scores + score) / (times + 1), scores)
        times += seen
        weights = _weights(scores, times > 0, places)
    return Replayed(np.where(times > 0, scores, np.nan), weights)


def _weights(scores: Floats, scored: Flags, places: NDArray[np.int64]) -> Floats:
    """Return equation 3: judges without a score weigh as much as the average of the others."""
    known = scored[:, places] & (places >= 0)
    own = np.where(known, scores[:, places], 0.0)
    many = known.sum(axis=1, keepdims=True)
    # Where nobody has a score, any number gives all the same weight.
    average = np.where(many > 0, own.sum(axis=1, keepdims=True) / np.maximum(many, 1), 1.0)
    filled = np.where(known, own, average)
    return np.asarray(filled / filled.sum(axis=1, keepdims=True))


def _unchanging(table: Floats, judges: int, draws: Draws) -> Replayed:
    """Replay where weights never change: then a draw's score is a mean, however it is ordered."""
    contestants = table.shape[2] // 2
    sums = table.sum(axis=1)
    total, given = sums[:, :contestants], sums[:, contestants:]
    seen = given > 0
    each = np.divide(total, given, out=np.zeros_like(total), where=seen)
    times = np.stack([np.bincount(drawn % len(table), minlength=len(table)) for drawn in draws])
    many = (times @ seen).astype(np.float64)
    scores = np.divide(times @ each, many, out=np.full_like(many, np.nan), where=many > 0)
    return Replayed(scores, np.full((len(draws), judges), 1 / judges))
