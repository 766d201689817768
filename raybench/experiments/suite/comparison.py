"""How the ways of ranking compare: every pair, their consensus, who stands elsewhere, tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from raybench.autobench.analysis.tables import Table
from raybench.experiments.suite.parts import Found
from raybench.stats import agreement, consensus, disagreement
from raybench.stats.agreement import Agreement
from raybench.stats.consensus import Consensus
from raybench.stats.disagreement import Shift
from raybench.stats.joint import Joint
from raybench.stats.paired import holm
from raybench.stats.ranks import holds, order
from raybench.types import Estimate

CONSENSUS = "Consensus"


@dataclass(frozen=True)
class Rank:
    """A model's rank in one way, the best being 1; equals share one."""

    value: int
    between: tuple[int, int]
    """What the orders that hold there leave, for all of its models at once."""

    @property
    def told(self) -> str:
        """Return '3 (1–5)'."""
        low, high = self.between
        return f"{self.value}" if low == high else f"{self.value} ({low}–{high})"

    def estimate(self, models: int) -> Estimate:
        """Return it as a metric."""
        ends = (float(self.between[0]), float(self.between[1]))
        method = f"rank among {models}, 1 is the best; what orders that hold by Holm's steps leave"
        return Estimate(float(self.value), None, ends, models, method)


@dataclass(frozen=True)
class Compared:
    """All that is compared."""

    rankings: Mapping[str, Joint]
    """By what people call the way."""
    ranks: Mapping[str, Mapping[str, Rank]]
    """By way and model."""
    pairs: Mapping[tuple[str, str], Agreement]
    consensus: Consensus
    shifts: Sequence[Shift]
    tables: Mapping[str, Mapping[str, Agreement]]
    """By table: how far each way agrees with it, and the consensus."""


def compared(found: Sequence[Found], tables: Sequence[Table], *, seed: int = 0) -> Compared:
    """Compare the parts that ranked anybody."""
    rankings = {it.title: it.joint for it in found if it.joint.models}
    agreed = consensus.consensus(rankings, seed=seed)
    ways = dict(rankings)
    if len(rankings) > 1 and (whole := agreed.joint).models:
        ways[CONSENSUS] = whole
    return Compared(
        rankings=rankings,
        ranks={name: ranks(joint) for name, joint in rankings.items()},
        pairs={
            (one, other): agreement.between(rankings[one], rankings[other], seed=seed)
            for one, other in combinations(rankings, 2)
        },
        consensus=agreed,
        shifts=disagreement.shifts(rankings, seed=seed),
        tables={
            table.name: {
                name: agreement.beside(joint, table.scores, seed=seed)
                for name, joint in ways.items()
            }
            for table in tables
        },
    )


def chances(pairs: Mapping[tuple[str, str], Agreement]) -> dict[tuple[str, str], float]:
    """Return each pair's p of unrelated orders, raised by Holm's steps over all pairs."""
    return holm({pair: it.p for pair, it in pairs.items() if it.p is not None})


def ranks(joint: Joint) -> dict[str, Rank]:
    """Return each model's rank by one way."""
    values, held = joint.values, holds(agreement.sure(joint))
    stands = order(values)
    better, worse = held & (stands < 0), held & (stands > 0)
    return {
        model: Rank(
            1 + int((values > values[at]).sum()),
            (1 + int(better[at].sum()), len(values) - int(worse[at].sum())),
        )
        for at, model in enumerate(joint.models)
    }


def whole(compared: Compared) -> Estimate | None:
    """Return the mean τ over all pairs of ways, as far as they have one; it has no interval."""
    known = [it.kendall.value for it in compared.pairs.values() if it.kendall.value is not None]
    if not known:
        return None
    pairs = f"mean of {len(known)} pair{'s' * (len(known) > 1)} of rankings"
    return Estimate(float(np.mean(known)), None, None, len(known), pairs)
