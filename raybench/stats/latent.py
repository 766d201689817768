"""What two noisy sets of scores may truly be: scores without noise, drawn as both sides allow.

Models are taken for a sample of some population, in which the true scores of the two sides are
normal and correlated; how far they lie apart on each side, and how closely the two go together, is
not known and is summed over a grid, each spread up to some times what was seen and each correlation
from -1 to 1 being as likely before. What is drawn are true scores given what was measured: closer
together than measured scores where these are noisy, and without the noise that makes two orders
agree less than they do.
"""

import numpy as np

from raybench.stats.joint import Joint
from raybench.stats.ranks import Floats

_CORRELATIONS = np.linspace(-0.98, 0.98, 15)
_SPREADS = np.linspace(0.1, 1.9, 7)
"""In standard deviations of the measured scores."""
_MANY = 60
"""More models have a coarser grid: they tell more of it, and it takes longer."""
_CELLS = 2_000_000
"""Numbers worked on at once."""
_ROUNDING = 1e-12
_SETTLED = 9
"""Digits by which scores differ that are not equal but for rounding, likewise."""


def drawn(one: Joint, other: Joint, count: int, *, seed: int = 0) -> tuple[Floats, Floats]:
    """Draw true scores of both sides, of the same models: draws by models.

    There are two models at least, and on neither side all are equal.
    """
    apart = _contrasts(len(one.models))
    sides = [one, other]
    scale = [float(np.sqrt(np.mean((apart @ it.values) ** 2))) for it in sides]
    seen = np.concatenate([apart @ it.values / size for it, size in zip(sides, scale, strict=True)])
    n = len(apart)
    noise = np.zeros((2 * n, 2 * n))
    for place, (it, size) in enumerate(zip(sides, scale, strict=True)):
        own = slice(place * n, (place + 1) * n)
        noise[own, own] = apart @ it.covariance @ apart.T / size**2
    spreads = _SPREADS[:: 2 if len(one.models) > _MANY else 1]
    grid = np.array([(a, b, r) for a in spreads for b in spreads for r in _CORRELATIONS])
    likely = _likelihoods(seen, noise, grid)
    chances = np.exp(likely - likely.max())
    rng = np.random.default_rng((seed, 7))
    times = rng.multinomial(count, chances / chances.sum())
    found = np.concatenate(
        [_posterior(seen, noise, grid[at], int(times[at]), rng) for at in np.flatnonzero(times)]
    )
    return np.round(found[:, :n] @ apart, _SETTLED), np.round(found[:, n:] @ apart, _SETTLED)


def _contrasts(models: int) -> Floats:
    """Return orthonormal differences of models: how high scores lie as a whole ranks nobody."""
    rows = np.eye(models) - 1 / models
    _, _, axes = np.linalg.svd(rows)
    return np.asarray(axes[: models - 1])


def _prior(size: int, grid: Floats) -> Floats:
    """Return the covariance of true scores at each place of the grid."""
    one, other, correlation = grid.T
    shared = correlation * one * other
    sides = np.moveaxis(np.array([[one**2, shared], [shared, other**2]]), 2, 0)
    return np.asarray(np.kron(sides, np.eye(size)))


def _likelihoods(seen: Floats, noise: Floats, grid: Floats) -> Floats:
    """Return the logarithm of how likely what was seen is, at each place of the grid."""
    found = []
    for some in np.array_split(grid, max(1, len(grid) * noise.size // _CELLS)):
        roots = np.linalg.cholesky(_prior(len(noise) // 2, some) + noise)
        pulled = np.linalg.solve(roots, np.broadcast_to(seen[:, None], (len(some), len(seen), 1)))
        logs = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
        found.append(-0.5 * (pulled[..., 0] ** 2).sum(axis=1) - logs)
    return np.concatenate(found)


def _posterior(
    seen: Floats, noise: Floats, at: Floats, count: int, rng: np.random.Generator
) -> Floats:
    prior = _prior(len(noise) // 2, at[None])[0]
    gain = np.linalg.solve(prior + noise, prior).T
    covariance = prior - gain @ prior
    sizes, axes = np.linalg.eigh((covariance + covariance.T) / 2)
    # What was measured without noise is as it is: equals stay equal.
    root = axes * np.sqrt(np.where(sizes > _ROUNDING, sizes, 0.0))
    return np.asarray(gain @ seen + rng.standard_normal((count, len(seen))) @ root.T)
