"""Echo chambers: whether judges that go together move the order, the paper's own limitation.

Two kinds of company are looked at: clusters, found in the ratings, and families, known beforehand.
Of each it is asked what the order would be without its judges.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from raybench.autobench.analysis import estimates, tastes
from raybench.autobench.analysis.ballots import Floats
from raybench.autobench.analysis.resample import Draws, Replayed, Resampled, replay
from raybench.types import Estimate

SURE = 0.5
"""Least share of draws in which a pair changes places for that to be more than a toss-up.

In simulation without any favour (6 and 12 models in families of three, 10 and 50 iterations, 420
panels) one panel in 200 had such a pair: what chance lets change places goes back in most draws."""
_FEW = 300
"""Draws that families are tried along: there may be many, and a share needs no more."""


@dataclass(frozen=True)
class Swap:
    """Two contestants that change places where some judges are left out."""

    up: str
    """Above with all judges, below without those."""
    down: str
    share: float | None
    """Of the draws, in how many they change places in this way; None from too few iterations."""

    @property
    def sure(self) -> bool:
        """Tell whether it is more than a toss-up."""
        return self.share is not None and self.share >= SURE


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
    refusal: str = ""


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
    kin: dict[str, list[str]] = {}
    for judge in ballots.judges:
        kin.setdefault(families.get(judge, judge), []).append(judge)
    return Echoes(
        tuple(
            _left_out(found, draws, f"cluster {number}", those)
            if number == 1
            else Company(f"cluster {number}", those, _weight(found, those), {})
            for number, those in enumerate(clusters, start=1)
        ),
        tuple(
            _left_out(found, draws[:_FEW], name, tuple(those))
            for name, those in kin.items()
            if len(those) > 1
        ),
        refusal,
    )


def warnings(found: Echoes, families: Mapping[str, str]) -> Iterator[str]:
    """Yield what has to be said: whose judges change the order, and how sure that is."""
    for company in (*found.clusters[:1], *found.families):
        sure = sorted((s for s in company.swaps if s.sure), key=lambda s: -(s.share or 0))
        if not sure:
            continue
        first = sure[0]
        own = families.get(first.up) == company.name
        more = f", and {len(sure) - 1} more pairs change places" if len(sure) > 1 else ""
        yield (
            f"without the {_many(company.judges)} of {company.name}, {first.up}"
            f"{' (its own)' if own else ''} falls below {first.down} "
            f"(changed, and so in {first.share:.0%} of draws){more}"
        )


def _left_out(found: Resampled, draws: Draws, name: str, judges: tuple[str, ...]) -> Company:
    weight = _weight(found, judges)
    kept = [judge for judge in found.ballots.judges if judge not in judges]
    if not kept:
        return Company(name, judges, weight, {}, refusal="refused: no other judge is left")
    ballots = found.ballots.by(kept)
    once = np.arange(ballots.tasks, dtype=np.int32)[None]
    actual = replay(ballots, found.rule, once)
    pairs = list(_changed(found.scores, actual.scores[0]))
    drawn = replay(ballots, found.rule, draws)
    return Company(
        name,
        judges,
        weight,
        estimates.scores(Resampled(ballots, found.rule, actual, drawn)),
        tuple(_swap(found, drawn, up, down) for up, down in pairs),
    )


def _changed(before: Floats, after: Floats) -> Iterator[tuple[int, int]]:
    """Yield the pairs of which the first is above before and below after."""
    for up in range(len(before)):
        for down in range(len(before)):
            if before[up] > before[down] + 1e-9 and after[up] < after[down] - 1e-9:
                yield up, down


def _swap(found: Resampled, without: Replayed, up: int, down: int) -> Swap:
    models = found.ballots.contestants
    enough = min(found.ballots.scored[[up, down]]) >= estimates.FEWEST
    if not enough:
        return Swap(models[up], models[down], None)
    before = found.drawn.scores[: len(without.scores)]
    above = before[:, up] > before[:, down]
    below = without.scores[:, up] < without.scores[:, down]
    return Swap(models[up], models[down], float((above & below).mean()))


def _weight(found: Resampled, judges: Sequence[str]) -> float:
    weights = dict(zip(found.ballots.judges, found.weights.tolist(), strict=True))
    return math.fsum(weights[judge] for judge in judges)


def _many(judges: Sequence[str]) -> str:
    return "judge" if len(judges) == 1 else f"{len(judges)} judges"
