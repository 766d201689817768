"""How far estimates vary from draw to draw: the sandwich, and the bootstrap."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from raybench.stats.ratings.design import Floats
from raybench.stats.ratings.fitting import Fitted
from raybench.stats.ratings.newton import chances, maximise
from raybench.stats.ratings.prior import Prior
from raybench.stats.ratings.tally import Tally

_CELLS = 1_000_000
"""Numbers worked on at once: a processor's cache is faster than its memory."""
_REPLICATE_STEPS = 25
"""A replicate starts near its maximum, if it has one."""


def scores(tally: Tally, at: Floats) -> Floats:
    """Return by how much each kind of bundle pulls at each parameter: kinds by parameters.

    Less what a bundle of its game pulls on the average, which is 0 but where games share strengths
    that differ between them: how many matches a game has is given.
    """
    odds = chances(tally.design, at[None])[0]
    means = _by_set(tally, odds)
    pull = np.asarray(tally.chosen.toarray() - tally.drawn_from @ means)
    pull *= tally.share[tally.game][:, None]
    for game in range(len(tally.share)):
        own = tally.game == game
        if own.any():
            pull[own] -= np.average(pull[own], axis=0, weights=tally.times[own])
    return pull


def _by_set(tally: Tally, odds: Floats) -> Floats:
    """Return the expected choice from each set."""
    rows = tally.design.rows
    return np.asarray(sum(rows[sides].multiply(p[:, None]).toarray() for sides, p in
                          zip(tally.design.sets, odds, strict=True)))  # fmt: skip


def sandwich(fitted: Fitted) -> Floats:
    """Return the covariance that does not take the model's word for how results vary.

    Ties make results vary less than wins and losses would, matches of a cluster together more.
    There is one for each game, and their sum is the whole: a game of few matches that weighs as
    much as one of many has a spread of its own, known from these few.
    """
    tally = fitted.tally
    pull = scores(tally, fitted.at)
    bread = np.linalg.inv(fitted.curved)
    telling = np.diff(tally.drawn_from.indptr) > 0
    parts = []
    for game, degrees in enumerate(fitted.degrees):
        own = tally.game == game
        few = max(tally.times[own & telling].sum(), 1) / max(degrees, 1.0)
        filling = (pull[own] * tally.times[own][:, None]).T @ pull[own]
        parts.append(few * bread @ filling @ bread)
    return np.asarray(parts)


@dataclass(frozen=True, eq=False)
class Replicates:
    """What other matches might have given."""

    at: Floats
    """Replicates by parameters."""
    without: int
    """How many have no maximum, and were given one match of the prior instead."""


def bootstrap(fitted: Fitted, count: int, generator: np.random.Generator) -> Replicates:
    """Fit again to bundles drawn with replacement, of each game as many as there were.

    Not within each pair of models: a pair that met once would never vary, and intervals after a
    round or two would be far too narrow. A replicate without a maximum, as those in which a strong
    model loses nothing, is kept: to leave it out would cut off the ends. It is fitted with one
    match of the prior for every parameter.
    """
    tally, prior, ground, at = fitted.tally, fitted.prior, fitted.ground, fitted.at
    rescue = Prior.of(tally.design, 1.0)
    parts, without = [], 0
    for counts in _counts(tally, count, generator):
        chosen, drawn = tally.sums(counts)
        if prior is not None:
            sums = prior.sums(chosen, drawn)
            parts.append(maximise(prior.design, *sums, ground, start=at).at)
            continue
        found = maximise(tally.design, chosen, drawn, ground, start=at, steps=_REPLICATE_STEPS)
        lost = ~found.found
        if lost.any():
            sums = rescue.sums(chosen[lost], drawn[lost])
            start = np.zeros_like(at)
            found.at[lost] = maximise(rescue.design, *sums, 0 * ground, start=start).at
            without += int(lost.sum())
        parts.append(found.at)
    return Replicates(np.concatenate(parts), without)


def _counts(tally: Tally, count: int, generator: np.random.Generator) -> Iterator[Floats]:
    """Yield how often each kind is drawn, some replicates at a time."""
    design = tally.design
    most = max(len(tally.times), design.sets.size, design.size**2)
    chunk = max(1, _CELLS // most)
    for begun in range(0, count, chunk):
        many = min(chunk, count - begun)
        counts = np.zeros((many, len(tally.times)))
        for game in range(len(tally.share)):
            own = np.flatnonzero(tally.game == game)
            times = tally.times[own]
            if len(own):
                counts[:, own] = generator.multinomial(times.sum(), times / times.sum(), many)
        yield counts
