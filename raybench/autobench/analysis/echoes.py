"""Echo chambers: whether judges that go together move the order, the paper's own limitation.

Two kinds of company are looked at: clusters, found in the ratings, and families, known beforehand.
Of each it is asked what the order would be without its judges.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from raybench.autobench.analysis import estimates, tastes
from raybench.autobench.analysis.ballots import Flags
from raybench.autobench.analysis.lots import Lot, fall, lot
from raybench.autobench.analysis.resample import Draws, Resampled, replay
from raybench.autobench.analysis.swaps import Swap, swaps
from raybench.autobench.standing import SCALE
from raybench.statements import Statement
from raybench.stats.paired import holm
from raybench.types import Estimate

NOT_LIFTED = Estimate(None, None, None, 0, "not computed: only families have models of their own")
_FEW = 150
"""Draws that families are tried along: there may be many, and a spread needs no more."""


@dataclass(frozen=True)
class Company:
    """Judges that go together, and the assessment without them."""

    name: str
    judges: tuple[str, ...]
    weight: float
    """Their share of the judging weight after the last iteration."""
    without: Mapping[str, Estimate]
    """The contestants' scores without them; empty where they are too many to be left out."""
    swaps: tuple[Swap, ...] = ()
    """The surest first."""
    refusal: str = ""
    lifted: Estimate = NOT_LIFTED
    """Points by which a family's own models fall without its judges, against others as strong."""
    lot: Lot | None = None
    """How that compares with judges by lot, raised for the number of families."""


@dataclass(frozen=True)
class Echoes:
    """Who goes with whom among the judges, and what that does to the order."""

    clusters: tuple[Company, ...]
    """The largest first; only that one is left out."""
    families: tuple[Company, ...]
    refusal: str = ""
    """Why clusters are not told."""


def echoes(found: Resampled, draws: Draws, families: Mapping[str, str], *, seed: int = 0) -> Echoes:
    """Look for clusters of judges, and leave out the largest, and each family in its turn.

    `draws` are those along which `found` was drawn; `families` has the family of every judge, one
    it does not know is a family of its own.
    """
    ballots = found.ballots
    refusal = tastes.refusal(ballots)
    clusters = () if refusal else tastes.clusters(ballots, seed=seed)
    # The largest cluster: of equals, the one with more weight.
    clusters = tuple(sorted(clusters, key=lambda those: (-len(those), -_weight(found, those))))
    return Echoes(
        tuple(
            _left_out(found, draws, f"cluster {number}", those)
            if number == 1
            else Company(f"cluster {number}", those, _weight(found, those), {})
            for number, those in enumerate(clusters, start=1)
        ),
        tuple(_families(found, draws[:_FEW], families, seed)),
        refusal,
    )


def _families(
    found: Resampled, draws: Draws, families: Mapping[str, str], seed: int
) -> Iterator[Company]:
    """Yield each family of several judges: the order without them, and whether they lift it."""
    kin: dict[str, list[str]] = {}
    for judge in found.ballots.judges:
        kin.setdefault(families.get(judge, judge), []).append(judge)
    several = {name: those for name, those in kin.items() if len(those) > 1}
    models = found.ballots.contestants
    own = {name: np.array([families.get(it, it) == name for it in models]) for name in several}
    lots = {
        name: lot(found.ballots, found.rule, those, own[name], seed=seed)
        for name, those in several.items()
    }
    raised = holm({name: it.p for name, it in lots.items() if it.p is not None})
    for name, those in several.items():
        company = _left_out(found, draws, name, tuple(those), own[name])
        yield replace(company, lot=replace(lots[name], p=raised.get(name)))


def _left_out(
    found: Resampled, draws: Draws, name: str, judges: tuple[str, ...], own: Flags | None = None
) -> Company:
    weight = _weight(found, judges)
    kept = [judge for judge in found.ballots.judges if judge not in judges]
    if not kept:
        why = Statement("refused.no_other_judge", "not computed: no other judge is left")
        return Company(name, judges, weight, {}, refusal=why)
    ballots = found.ballots.by(kept)
    once = np.arange(ballots.tasks, dtype=np.int32)[None]
    without = Resampled(
        ballots, found.rule, replay(ballots, found.rule, once), replay(ballots, found.rule, draws)
    )
    scores = estimates.scores(without)
    lifted = NOT_LIFTED if own is None else _lifted(found, without, own)
    return Company(name, judges, weight, scores, swaps(found, without), lifted=lifted)


def _lifted(found: Resampled, without: Resampled, own: Flags) -> Estimate:
    before = found.drawn.scores[: len(without.drawn.scores)]
    (value,) = fall(found.actual.scores, without.actual.scores, own[None])
    return estimates.estimate(
        float(value),
        fall(before, without.drawn.scores, np.broadcast_to(own, before.shape)),
        found.ballots.distinct,
        over=found.ballots.sources.over("iterations"),
        within=(SCALE[0] - SCALE[1], SCALE[1] - SCALE[0]),
    )


def _weight(found: Resampled, judges: Sequence[str]) -> float:
    weights = dict(zip(found.ballots.judges, found.weights.tolist(), strict=True))
    return math.fsum(weights[judge] for judge in judges)
