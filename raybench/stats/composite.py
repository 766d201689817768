"""A weighted sum of scores that share no questions: an index, with the interval they leave it."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from raybench.statements import Statement
from raybench.types import Estimate, Interval, reason_of


def weighted(
    scores: Mapping[str, Estimate], weights: Mapping[str, Fraction], *, partial: bool = False
) -> Estimate:
    """Sum scores by their weights: SE² = Σ w² SE².

    A score that is missing or refused refuses the sum and is named, unless `partial`: then the sum
    is of those that are not missing, weighed as among themselves, and the method says that, and
    how. One that is there and refused refuses it all the same: who is compared is compared in the
    same. The interval is put
    together from the scores' own (MOVER: each bound's distances, squared, weighed and summed), so
    that a score of 0 with its one-sided interval is not taken for one without error.
    """
    missing = [name for name in weights if name not in scores]
    refused = {
        name: scores[name].method for name in weights if name in scores and not _known(scores[name])
    }
    lacks = _lacks(missing, refused)
    used = constituents(scores, weights, partial=partial)
    if not used:
        why = Statement(
            "refused.incomplete",
            "not computed: {lacks}",
            lacks=lacks,
            missing=missing,
            refused=refused,
        )
        return Estimate(None, None, None, 0, why)
    there = {name: scores[name] for name in used}
    value = math.fsum(float(used[name]) * _value(score) for name, score in there.items())
    ci95 = _interval(value, there, used)
    bare = [name for name, score in there.items() if score.ci95 is None]
    ends = (
        f"no interval: {', '.join(bare)} without"
        if bare
        else "interval combined from theirs (MOVER)"
    )
    method = Statement(
        "method.weighted_mean",
        "weighted mean of {many}; {ends}",
        many=len(there),
        ends=ends,
        bare=bare,
    )
    if lacks:
        method = Statement(
            "method.partial_mean",
            "partial: weighted mean of {shown}; without: {lacks}; {ends}",
            shown=", ".join(f"{name} {weight}" for name, weight in used.items()),
            lacks=lacks,
            ends=ends,
            weights=used,
            missing=missing,
            bare=bare,
        )
    return Estimate(value, _stderr(there, used), ci95, sum(s.n for s in there.values()), method)


def constituents(
    scores: Mapping[str, Estimate], weights: Mapping[str, Fraction], *, partial: bool = False
) -> dict[str, Fraction]:
    """Return the weights that `weighted` uses; none where it refuses."""
    if sum(weights.values()) != 1:
        raise ValueError(f"weights must sum to one, not {sum(weights.values())}")
    there = [name for name in weights if name in scores]
    if not all(_known(scores[name]) for name in there):
        return {}
    if not partial and len(there) < len(weights):
        return {}
    whole = sum(weights[name] for name in there)
    return {name: weights[name] / whole for name in there}


def _known(score: Estimate | None) -> bool:
    return score is not None and score.value is not None


def _value(score: Estimate) -> float:
    assert score.value is not None
    return score.value


def _lacks(missing: Sequence[str], refused: Mapping[str, str]) -> str:
    """Return which scores are not there, and why, or ''."""
    reasons = [f"{', '.join(missing)} missing"] if missing else []
    reasons += [f"{name}: {reason_of(why)}" for name, why in refused.items()]
    return "; ".join(reasons)


def _stderr(scores: Mapping[str, Estimate], weights: Mapping[str, Fraction]) -> float | None:
    errors = [(float(weights[name]), score.stderr) for name, score in scores.items()]
    if any(stderr is None for _, stderr in errors):
        return None
    return math.sqrt(math.fsum((weight * (stderr or 0.0)) ** 2 for weight, stderr in errors))


def _interval(
    value: float, scores: Mapping[str, Estimate], weights: Mapping[str, Fraction]
) -> Interval | None:
    down = up = 0.0
    for name, score in scores.items():
        if score.ci95 is None:
            return None
        low, high = score.ci95
        down += (float(weights[name]) * (_value(score) - low)) ** 2
        up += (float(weights[name]) * (high - _value(score))) ** 2
    return value - math.sqrt(down), value + math.sqrt(up)
