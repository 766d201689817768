"""What can be said of the judges from what they gave.

Each is measured against the others on the same answers, since nobody here knows the truth. A
task's ratings rise and fall together, so that iterations are what repeats: intervals are clustered
by them. A model's ratings of its own answers are kept out of severity, on either side;
`preference` has what they say of the judge.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from raybench.autobench.preference import APART, NO_CONTESTANT, Peers, Preference, preference
from raybench.autobench.protocol import Counted
from raybench.autobench.ratings import Given, Numbers, Sums, given
from raybench.autobench.settings import Settings
from raybench.autobench.standing import SCALE
from raybench.stats import grouped, intervals
from raybench.types import Estimate

SEVERITY = "autobench/judge_severity"
AGREEMENT = "autobench/judge_agreement"
SELF_PREFERENCE = "autobench/self_preference"
AMONG_LEANINGS = "autobench/self_preference_among_leanings"
RATINGS = (1, 2, 3, 4, 5)

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Judge:
    """One judge's statistics."""

    severity: Estimate
    """By how much the others' ratings of the same answers lie above its own: negative is lenient.
    Nobody's rating of its own answer is in it."""
    agreement: Estimate
    """Correlation with the weighted consensus of the others, within iterations.

    Of the ratings themselves, deviations pooled over iterations: where few contestants stand side
    by side and many share a rating, a rank correlation is often undefined (a judge that gives all
    the same has none, and leaving such iterations out would flatter it), and it takes differences
    of a hundredth in the consensus for differences. Here a task that the others tell apart and the
    judge does not counts against it, and one on which the others hardly differ counts for little.
    """
    same: Estimate
    """Share of its ratings that are the others' consensus, rounded."""
    within_one: Estimate
    """Share of its ratings at most 1 away from the others' consensus."""
    self_preference: Preference
    """By how much it rates its own answers above others' answers of which its peers think the same.
    """
    own: Estimate
    """What it gave its own answers."""
    own_by_others: Estimate
    """What the others gave the same answers."""
    used: Mapping[int, int]
    """How often it gave each rating to an answer."""

    def to_json(self) -> dict[str, Any]:
        """Return it as a row of judges.jsonl."""
        named = {
            "severity": self.severity,
            "agreement": self.agreement,
            "same": self.same,
            "within_one": self.within_one,
            "self_preference": self.self_preference.over_tasks,
            "self_preference_among_leanings": self.self_preference.among_leanings,
            "own": self.own,
            "own_by_others": self.own_by_others,
        }
        return {name: estimate.to_json() for name, estimate in named.items()} | {
            "prefers_itself": self.self_preference.told,
            "used": {str(rating): count for rating, count in self.used.items()},
        }


def statistics(played: Sequence[Counted], settings: Settings) -> dict[str, Judge]:
    """Return every judge's statistics, contestant or not."""
    block = given(played, settings)
    everybody = Sums.of(block.ratings, block.weights)
    peers = Sums.of(np.where(block.own, np.nan, block.ratings), np.ones_like(block.weights))
    levelled, groups = Peers.of(block), block.sources.numbers(len(block.ratings))
    own = _own(block.sources.by)
    prefer = [preference(i, block, levelled, groups, over=own) for i in range(len(block.judges))]
    return {
        judge: _judge(i, block, everybody, peers, prefer[i]) for i, judge in enumerate(block.judges)
    }


def metrics(found: Mapping[str, Judge], settings: Settings) -> dict[str, dict[str, Estimate]]:
    """Return the metrics of the contestants that judge."""
    return {
        model: {
            SEVERITY: found[model].severity,
            AGREEMENT: found[model].agreement,
            SELF_PREFERENCE: found[model].self_preference.over_tasks,
            AMONG_LEANINGS: found[model].self_preference.among_leanings,
        }
        for model in settings.models
        if model in found
    }


def _judge(i: int, block: Given, everybody: Sums, peers: Sums, prefers: Preference) -> Judge:
    gave, own = block.ratings[:, i], block.own[i]
    others = peers.less(np.where(own, np.nan, gave))
    consensus = everybody.less(gave, block.weights[:, i])
    foreign = np.broadcast_to(~own, gave.shape)
    x, y, t = _together(others, gave, foreign)
    own_x, own_y, own_t = _together(others, gave, ~foreign)
    heard, said, when = _together(consensus, gave)
    apart = np.abs(said - heard)
    # A consensus in the middle of two ratings is rounded to one of them.
    nearest = np.floor(heard + 0.5 + _ROUNDING)
    at, by = block.sources.numbers(len(block.ratings)), block.sources.by
    own_over = _own(by)
    counts = {rating: int((gave == rating).sum()) for rating in RATINGS}
    return Judge(
        severity=intervals.cut(
            grouped.mean(x - y, at[t], over=f"others' answers that it and peers rated, by {by}"),
            APART,
        ),
        agreement=grouped.correlation(
            heard,
            said,
            when,
            over=f"ratings and the others' consensus by {by}",
            sources=block.sources.shared,
        ),
        same=_share(said == nearest, at[when], by),
        within_one=_share(apart <= 1 + _ROUNDING, at[when], by),
        self_preference=prefers,
        own=_rating(own_y, at[own_t], own_over) if own.any() else NO_CONTESTANT,
        own_by_others=_rating(own_x, at[own_t], own_over) if own.any() else NO_CONTESTANT,
        used=counts,
    )


def _together(x: Numbers, y: Numbers, where: Any = True) -> tuple[Numbers, Numbers, grouped.Groups]:
    """Return what there is of both, and the iteration of each."""
    both = ~np.isnan(x) & ~np.isnan(y) & where
    return x[both], y[both], np.nonzero(both)[0]


def _share(hits: Any, groups: grouped.Groups, by: str) -> Estimate:
    over = f"ratings of what others rated too, by {by}"
    return intervals.cut(grouped.mean(hits.astype(float), groups, over=over), (0.0, 1.0))


def _rating(values: Numbers, groups: grouped.Groups, over: str) -> Estimate:
    return intervals.cut(grouped.mean(values, groups, over=over), SCALE)


def _own(by: str) -> str:
    return f"own answers that it and others rated, by {by}"
