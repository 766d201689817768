"""Judges left out by lot: whether a family lifts its own models more than any judges would.

Whoever is left out, scores change and close models change places. So what the scores are without a
family says little; what says something is that its own models fall by more, against others as
strong, than the own models of as many judges drawn by lot fall without those. That allows for
judges that prefer themselves, as any may, and for tastes of single judges, which any set of them
has; and for careless judges, which make weak models look better and strong ones worse.

How far such sets make their own models fall spreads like a bell, so that p is Student's: the share
of sets that reach as far could never be small where there are few (66 pairs of twelve judges), and
found no family of two at all once it was raised for the number of families.

In simulation (8 and 12 judges in families of two or three, 20 and 100 iterations, strong models as
the more careful judges or not, tastes of 0.3 points or everybody preferring itself by 0.5) a run
without favour had a warning in 0 to 10 %, 3 % on average. Of families that lift their own, and
change the order, by 0.5 points 25 to 90 % were told, by 1 point 60 to 100 %.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, count, islice, product
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from raybench.autobench.analysis.ballots import Ballots, Flags, Floats
from raybench.autobench.settings import Weights
from raybench.autobench.standing import FLOOR
from raybench.statements import Statement
from raybench.stats.distributions import student_below

FEWEST = 6
"""Judges below which there are too few sets to compare with."""
_SETS = 300
"""Sets drawn by lot; all, where there are fewer."""
_SPREAD = 1e-9
"""Equal falls differ by rounding alone."""


@dataclass(frozen=True)
class Lot:
    """How far a family's own models fall without its judges, beside judges drawn by lot."""

    p: float | None = None
    """How often as many judges by lot would lift their own models as far; None: refused."""
    refusal: str = ""


def lot(
    ballots: Ballots, rule: Weights, judges: Sequence[str], own: Flags, *, seed: int = 0
) -> Lot:
    """Test whether a family's judges lift its own models more than judges drawn by lot lift theirs.

    `own` has the family's contestants. The own models of a set are its judges, as far as they are
    ranked, and those of the family that do not judge. Sets have as many ranked judges as the
    family, and as many others.
    """
    everybody = np.ones(len(ballots.judges), dtype=bool)
    members = np.isin(ballots.judges, judges)
    if not own.any():
        return Lot(
            refusal=Statement("refused.none_ranked", "not computed: none of its models is ranked")
        )
    if len(members) < FEWEST:
        why = Statement(
            "refused.few_for_lots",
            "not computed: it takes {least} judges, there are {judges}",
            least=FEWEST,
            judges=len(members),
        )
        return Lot(refusal=why)
    if 2 * len(judges) >= len(members):
        # Left with the other half, it falls as well where that half is the one that leans.
        return Lot(
            refusal=Statement("refused.half_own", "not computed: half of the judges are its own")
        )
    places = ballots.places
    sets = np.stack([members, *_sets(members, places >= 0, np.random.default_rng(seed))])
    silent = own.copy()
    silent[places[places >= 0]] = False
    theirs = np.repeat(silent[None], len(sets), axis=0)
    at, judge = np.nonzero(sets & (places >= 0))
    theirs[at, places[judge]] = True
    before = scores(ballots, rule, everybody[None])
    fell, known = _fallen(before, scores(ballots, rule, ~sets), theirs)
    falls = fell * known  # In units of what chance makes of it.
    others = falls[1:][~np.isnan(falls[1:])]
    if np.isnan(falls[0]) or len(others) < FEWEST or others.std() < _SPREAD:
        return Lot(refusal="not computed: no other set of judges to compare it with")
    distance = (falls[0] - others.mean()) / others.std(ddof=1)
    return Lot(student_below(-distance, len(members) - 1))


def fall(before: Floats, after: Floats, own: Flags) -> Floats:
    """Return by how many points own models fall more than others with as high a score.

    From `before` to `after`, one each row: of a line through all models' scores and of being its
    own, that which is being its own.
    """
    return _fallen(before, after, own)[0]


def _fallen(before: Floats, after: Floats, own: Flags) -> tuple[Floats, Floats]:
    """Return the fall, and how much the models tell of it: one over its standard error's share."""
    change = before - after
    known = ~np.isnan(change)

    def centred(values: Floats | Flags) -> Floats:
        held = np.where(known, values, 0.0)
        mean = held.sum(axis=1, keepdims=True) / np.maximum(known.sum(axis=1, keepdims=True), 1)
        return np.asarray((held - mean) * known)

    score, mine = centred(np.broadcast_to(before, change.shape)), centred(own)
    spread = np.square(score).sum(axis=1, keepdims=True)
    slope = (score * mine).sum(axis=1, keepdims=True) / np.maximum(spread, _SPREAD)
    mine = mine - slope * score
    told = np.square(mine).sum(axis=1)
    product = (mine * centred(change)).sum(axis=1)
    fell = np.divide(product, told, out=np.full(told.shape, np.nan), where=told > _SPREAD)
    return fell, np.asarray(np.sqrt(told))


def scores(ballots: Ballots, rule: Weights, panels: Flags) -> Floats:
    """Replay the assessment with each of many panels; NaN: never scored.

    The same as `resample.replay` of `ballots.by(panel)` but for rounding, many panels at once.
    """
    places, judge = ballots.places, panels.astype(np.float64)
    shape = (len(panels), len(ballots.contestants))
    totals, times = np.zeros(shape), np.zeros(shape)
    weights = judge / judge.sum(axis=1, keepdims=True)
    for said, empty in zip(ballots.ratings.astype(np.float64), ballots.empty, strict=True):
        ratings = np.where(empty, FLOOR, said)
        known = ~np.isnan(ratings)
        weight = weights @ known.astype(np.float64)
        seen = weight > 0
        totals += np.divide(
            weights @ np.nan_to_num(ratings), weight, out=np.zeros(shape), where=seen
        )
        times += seen
        if rule == "consensus":
            weights = _weights(totals, times, places, judge)
    # Never scored stays NaN.
    return np.asarray(np.divide(totals, times, out=np.full(shape, np.nan), where=times > 0))


def _weights(totals: Floats, times: Floats, places: NDArray[np.int64], judge: Floats) -> Floats:
    """Return equation 3 for each panel: judges without a score weigh as the others on average."""
    known = (times[:, places] > 0) & (places >= 0) & (judge > 0)
    own = np.divide(totals[:, places], times[:, places], out=np.zeros(known.shape), where=known)
    many = known.sum(axis=1, keepdims=True)
    average = np.where(many > 0, own.sum(axis=1, keepdims=True) / np.maximum(many, 1), 1.0)
    filled = np.where(known, own, average) * judge
    return np.asarray(filled / filled.sum(axis=1, keepdims=True))


def _sets(members: Flags, ranked: Flags, rng: np.random.Generator) -> Iterator[Flags]:
    """Yield sets of judges like the family but for it: all there are, or as many as are enough."""
    pools = [np.flatnonzero(pool) for pool in (ranked, ~ranked)]
    sizes = [int(members[pool].sum()) for pool in pools]
    both = list(zip(pools, sizes, strict=True))
    if prod(comb(len(pool), size) for pool, size in both) > _SETS:
        drawn = ([rng.choice(pool, size, replace=False) for pool, size in both] for _ in count())
    else:
        drawn = (list(map(np.array, them)) for them in product(*(combinations(*it) for it in both)))
    found = (np.isin(np.arange(len(members)), np.concatenate(them)) for them in drawn)
    return islice((judges for judges in found if (judges != members).any()), _SETS)
