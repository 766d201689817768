"""Two models on the same questions: what one has over the other, question by question."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from raybench.statements import Statement
from raybench.stats import clusters, mcnemar
from raybench.stats.asked import Asked
from raybench.stats.distributions import student_quantile, two_sided
from raybench.stats.intervals import Z, student, wilson
from raybench.types import Estimate

Test = TypeVar("Test", bound=Hashable)

_LEVEL, _POWER = 0.05, 0.8
DETECTABLE = 2.8
"""Standard errors of an index that four in five runs would tell from 0: 1.96 for the 95 %
interval to exclude 0, and 0.84 for that to happen in 80 %."""

MCNEMAR = "McNemar, exact"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The first model's score less the second's, over the questions both were asked."""

    difference: Estimate
    p: float | None = None
    """How often chance alone would set two equal models this far apart."""
    test: str = "none"
    seen: mcnemar.Seen | None = None
    """What McNemar's test goes by, where that is the test."""
    sources: int = 0
    """How many independent observations Student's t has, where that is the test."""

    @property
    def detectable(self) -> float | None:
        """Return the smallest difference that four in five such runs would find."""
        if self.seen and (self.seen.gained or self.seen.lost):
            return self.seen.detectable(_LEVEL, _POWER)
        if self.p is None and self.difference.stderr and self.difference.ci95:
            # An index: what does not differ in it has an interval, and no standard error.
            low, high = self.difference.ci95
            return DETECTABLE * (high - low) / 2 / Z
        if not self.difference.stderr or self.sources < 2:
            return None
        degrees = self.sources - 1
        reach = student(degrees) + student_quantile(_POWER, degrees)
        return reach * self.difference.stderr


def compare(first: Asked, second: Asked, *, over: str = "questions") -> Comparison:
    """Compare two models whose tables have the same rows, columns and sources."""
    if first.times.shape != second.times.shape:
        raise ValueError("only the same questions can be paired")
    differences = first.scores() - second.scores()
    both = ~np.isnan(differences)
    n = int(both.sum())
    if n == 0:
        refusal = Statement(
            "refused.no_pairs", "not computed: no {over} that both were asked", over=over
        )
        return Comparison(Estimate(None, None, None, 0, refusal))
    value, stderr, sources = clusters.mean(differences[both.any(axis=1)], first.sources)
    clustered = "" if first.plain else ", clustered by source"
    if stderr:
        half = student(sources - 1) * stderr
        named = "Student's t"
        p, test = two_sided(value / stderr, sources - 1), "paired Student's t"
    else:
        # None of the sources differs from the others: at most so many do, by at most so much.
        half = wilson(0.0, sources)[1] * (1 + abs(value))
        why = "all equal" if sources > 1 else "one source"
        named = f"{why}: Wilson for others"
        p, test = None, Statement("untested.no_spread", "none: {why}", why=why, sources=sources)
    # No difference of two shares lies beyond 1.
    ci95 = (max(-1.0, value - half), min(1.0, value + half))
    difference = Estimate(value, stderr, ci95, n, f"paired over {over}{clustered}, {named}")
    if first.plain and first.once and second.once:
        seen = mcnemar.Seen(int((differences > 0).sum()), int((differences < 0).sum()), n)
        return Comparison(difference, mcnemar.chance(seen.gained, seen.lost), MCNEMAR, seen)
    return Comparison(difference, p, test, sources=sources if stderr else 0)


def holm(ps: Mapping[Test, float]) -> dict[Test, float]:
    """Return p-values raised for the number of tests, by Holm's steps; the order is kept."""
    adjusted: dict[Test, float] = {}
    highest = 0.0
    for rank, name in enumerate(sorted(ps, key=lambda name: ps[name])):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[name]))
        adjusted[name] = highest
    return {name: adjusted[name] for name in ps}
