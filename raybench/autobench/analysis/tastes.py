"""Which judges share a taste: clusters of those that err alike about the same answers.

Good judges agree because they see the same truth. So what one common factor explains of their
correlations is taken out first: it stands for that truth, and each judge's loading for how well the
judge follows it. (Taking out each answer's mean over judges instead makes clusters of good judges,
which all see more of the truth than the mean does, and of judges at random, which all see less.)
What is left between two judges is shared taste; more of it than chance makes is a cluster.

In simulation (4, 8 and 12 judges, 10 to 200 iterations) panels without shared taste, judges at
random among them or not, had no cluster in 85 to 100 % of cases, and three planted judges of 8 or
12 were found exactly in 80 % and more. Of 4 judges few are ever found, and of a family that does
nothing but favour its own members few among 8 contestants, all among 12. Two caveats: a large
cluster pulls the common factor towards itself, and a judge that uses only the middle of the scale
(rounding does the rest) bends it: either may show as a second cluster of the others.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from raybench.autobench.analysis.ballots import Ballots, Floats

FEWEST_JUDGES = 4
"""A common factor explains whatever three judges say."""
FEWEST_TASKS = 5
_SMALLEST = 0.15
"""Correlations below are no chamber, however sure: ratings end at 1 and 5 for all judges alike."""
_LEAST = 0.1
"""Least share of a judge's ratings that counts as its own: of nearly perfect judges little else is
left than how ratings are rounded, which they share."""
_SHUFFLES = 100
_MOST = 200
"""Tasks that are looked at, evenly spread: chance is small there already, and more take long."""
_STEPS = 100


def refusal(ballots: Ballots) -> str:
    """Return why these ratings show no clusters, or ''."""
    if len(ballots.judges) < FEWEST_JUDGES:
        return f"refused: clusters take {FEWEST_JUDGES} judges, there are {len(ballots.judges)}"
    if ballots.tasks < FEWEST_TASKS:
        return f"refused: clusters take {FEWEST_TASKS} iterations with a task, not {ballots.tasks}"
    return ""


def clusters(ballots: Ballots, *, seed: int = 0) -> tuple[tuple[str, ...], ...]:
    """Return the judges that share a taste, each cluster of two or more, the largest first.

    Clusters grow by average linkage while the mean correlation between them is above what chance
    makes of the closest pair in 19 of 20 panels without any shared taste. Such panels are made by
    shuffling: each judge's tastes keep what they are, per task and per contestant, and are put to
    other tasks and contestants than the others'. So that a judge which likes some models, itself
    for one, is not taken for another that likes other models, however often it says so.
    """
    ratings = _some(ballots.ratings).astype(np.float64)
    least = max(_SMALLEST, chance(ratings, np.random.default_rng(seed)))
    distances = 1 - shared(ratings)
    np.fill_diagonal(distances, 0.0)
    tree = linkage(squareform(distances, checks=False), "average")
    labels = fcluster(tree, 1 - least, "distance")
    found: dict[int, list[str]] = {}
    for judge, label in zip(ballots.judges, labels.tolist(), strict=True):
        found.setdefault(label, []).append(judge)
    several = [tuple(judges) for judges in found.values() if len(judges) > 1]
    return tuple(sorted(several, key=lambda judges: -len(judges)))


def shared(ratings: Floats) -> Floats:
    """Return how far judges' tastes go together: what one factor leaves of their correlations.

    As a share of what it leaves of each judge's ratings, within -1 and 1.
    """
    found = _correlations(*_levelled(ratings))
    loadings = _factor(found)
    left = np.maximum(1 - np.square(loadings), _LEAST)
    rest = (found - np.outer(loadings, loadings)) / np.sqrt(np.outer(left, left))
    return np.asarray(np.clip(rest, -1, 1))


def chance(ratings: Floats, rng: np.random.Generator) -> float:
    """Return what the closest pair of judges reaches in 19 of 20 panels without shared taste."""
    own, seen = _levelled(ratings)
    # The panel's mean is truth enough here: shuffled, nothing of it is shared any more.
    mean = own.sum(axis=0) / np.maximum(seen.sum(axis=0), 1) * seen
    slope = (own * mean).sum(axis=(1, 2)) / np.maximum(np.square(mean).sum(axis=(1, 2)), 1e-9)
    tastes = own - slope[:, None, None] * mean
    judges, tasks, contestants = tastes.shape
    pairs = np.triu_indices(judges, 1)
    closest = []
    for _ in range(_SHUFFLES):
        rows = np.argsort(rng.random((judges, tasks)), axis=1)[:, :, None]
        columns = np.argsort(rng.random((judges, contestants)), axis=1)[:, None, :]
        each = np.arange(judges)[:, None, None]
        closest.append(
            _correlations(tastes[each, rows, columns], seen[each, rows, columns])[pairs].max()
        )
    return float(np.quantile(closest, 0.95))


def _levelled(ratings: Floats) -> tuple[Floats, Floats]:
    """Return judges' ratings less their own mean, 0 where there is none, and 1 where there is one.

    Judges by tasks by contestants.
    """
    by_judge = ratings.transpose(1, 0, 2)
    seen = (~np.isnan(by_judge)).astype(np.float64)
    known = np.nan_to_num(by_judge)
    many = np.maximum(seen.sum(axis=(1, 2), keepdims=True), 1)
    return (known - known.sum(axis=(1, 2), keepdims=True) / many) * seen, seen


def _correlations(values: Floats, seen: Floats) -> Floats:
    """Return how far judges go together, over the answers that both have rated.

    A judge that says the same of every answer goes with nobody.
    """
    flat, both = (array.reshape(len(array), -1) for array in (values, seen))
    squares = np.square(flat) @ both.T
    scale = np.sqrt(squares * squares.T)
    product = flat @ flat.T
    out = np.zeros_like(product)
    np.divide(product, scale, out=out, where=scale > 1e-9)
    return out


def _factor(correlations: Floats) -> Floats:
    """Return each judge's loading on the one factor that explains most (principal axes)."""
    common = np.full(len(correlations), 0.5)
    loadings = np.zeros(len(correlations))
    for _ in range(_STEPS):
        reduced = correlations.copy()
        np.fill_diagonal(reduced, common)
        values, vectors = np.linalg.eigh(reduced)
        loadings = np.sqrt(max(float(values[-1]), 0.0)) * vectors[:, -1]
        common = np.minimum(np.square(loadings), 1.0)
    return np.asarray(loadings)


def _some(ratings: NDArray[np.float32]) -> NDArray[np.float32]:
    if len(ratings) <= _MOST:
        return ratings
    return np.asarray(ratings[np.linspace(0, len(ratings) - 1, _MOST).astype(int)])
