"""How far the closest of judges that share no taste go together: by chance, and by rounding."""

import numpy as np

from raybench.autobench.analysis.ballots import Floats
from raybench.autobench.analysis.shared import correlations, factor, levelled, shared
from raybench.autobench.standing import SCALE
from raybench.stats.distributions import normal_density, normal_quantile

_SHUFFLES = 100
_PANELS = 60
_KEPT = 0.1
"""Rounding to five ratings hides no more than this leaves, but of judges that use hardly two."""
_TAIL = 1e-6
"""Shares of ratings nearer to 0 or 1 have their normal score at its distance."""
_NEARLY = 0.99
"""No judge follows the truth more closely: then all that is left would be rounding."""


def chance(ratings: Floats, rng: np.random.Generator) -> float:
    """Return what the closest pair of judges reaches in 19 of 20 panels without shared taste."""
    own, seen = levelled(ratings)
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
            correlations(tastes[each, rows, columns], seen[each, rows, columns])[pairs].max()
        )
    return float(np.quantile(closest, 0.95))


def rounding(ratings: Floats, rng: np.random.Generator) -> float:
    """Return what the closest pair reaches in 19 of 20 panels that see one truth and nothing else.

    Judges that are severe alike round alike, and end at the same end of the scale: a second thing
    that they have in common, and no taste. Such panels are drawn: one normal truth, which each
    judge follows as closely as the ratings show, rounded so that each says 1 to 5 as often as it
    does.
    """
    by_judge = ratings.transpose(1, 0, 2)
    known = ~np.isnan(by_judge)
    said = by_judge[:, None] == np.arange(SCALE[0], SCALE[1] + 1)[None, :, None, None]
    counts = said.sum(axis=(2, 3))
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    upto = np.cumsum(shares, axis=1)
    ends = normal_quantile(np.clip(upto[:, :-1], _TAIL, 1 - _TAIL))
    normal = normal_quantile(np.clip(upto - shares / 2, _TAIL, 1 - _TAIL))
    scored = np.einsum("jr,jrtc->tjc", normal, said)
    scored[~known.transpose(1, 0, 2)] = np.nan
    loadings = factor(correlations(*levelled(scored)))
    # Rounding hides some of how closely a judge follows.
    loadings = np.clip(loadings / _kept(normal, shares, ends), -_NEARLY, _NEARLY)
    own = np.sqrt(1 - np.square(loadings))[:, None, None]
    pairs = np.triu_indices(len(by_judge), 1)
    closest = []
    for _ in range(_PANELS):
        truth = rng.standard_normal(by_judge.shape[1:])
        seen = loadings[:, None, None] * truth + own * rng.standard_normal(by_judge.shape)
        rated = (seen[:, None] > ends[:, :, None, None]).sum(axis=1) + SCALE[0]
        drawn = np.where(known, rated, np.nan).transpose(1, 0, 2)
        closest.append(shared(drawn)[pairs].max())
    return float(np.quantile(closest, 0.95))


def _kept(normal: Floats, shares: Floats, ends: Floats) -> Floats:
    """Return how closely normal scores of rounded ratings follow what was rounded."""
    edge = np.zeros((len(ends), 1))
    density = np.concatenate([edge, normal_density(ends), edge], axis=1)
    together = (normal * -np.diff(density, axis=1)).sum(axis=1)
    mean = (shares * normal).sum(axis=1)
    spread = np.sqrt((shares * np.square(normal)).sum(axis=1) - np.square(mean))
    out = np.ones(len(ends))
    np.divide(together, spread, out=out, where=spread > _TAIL)
    return np.maximum(out, _KEPT)
