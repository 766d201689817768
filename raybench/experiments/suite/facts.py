"""What the parts know of a model that may bear on its rank there: facts, and no causes.

Only what sets it apart from the roster is told. Whether that is why it ranks where it does, no part
has tried; where nothing does, that is said.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

from raybench.experiments.suite.parts import Found
from raybench.statements import Statement
from raybench.stats.guessing import OPEN, against
from raybench.tracking.leaderboard import COUNT_MEANINGS

NOTHING = "The data do not say why: nothing that the two ways count sets it apart there."
_SHARE = 0.02
"""Less of a model's replies than that is not told."""
_TIMES = 2.0
"""What is told is so many times the median of the others."""
_FEW = 30
"""Fewer questions, iterations or matches are said to be few."""


def facts(part: Found, model: str) -> list[str]:
    """Return what a part knows that sets a model apart in it, in sentences without a full stop."""
    return [
        *_counts(part, model),
        *_games(part, model),
        *_judged(part, model),
        *_guessing(part, model),
        *_length(part, model),
        *_few(part, model),
    ]


def _counts(part: Found, model: str) -> Iterator[str]:
    counts = part.results["counts"]
    if model not in counts:
        return
    shares = {name: _shares(of) for name, of in counts.items()}
    for kind in ("truncated", "unparsed", "infra_error", "judge_error"):
        own = shares[model][kind]
        others = [of[kind] for name, of in shares.items() if name != model]
        usual = median(others) if others else 0.0
        if own >= _SHARE and own >= _TIMES * usual:
            meaning = COUNT_MEANINGS[kind].partition(":")[0].partition(",")[0]
            yield (
                f"{counts[model][kind]:,} {kind.replace('_', ' ')} ({own:.0%} of its work, median "
                f"of the others {usual:.0%}): {meaning}"
            )


def _shares(counts: Mapping[str, int]) -> dict[str, float]:
    # What the judge said nothing of is counted under what became of the reply, too.
    total = sum(number for name, number in counts.items() if name != "judge_error")
    return {name: number / total if total else 0.0 for name, number in counts.items()}


def _games(part: Found, model: str) -> Iterator[str]:
    if part.name != "games":
        return
    forfeited, usual = _beside(part, model, "games/forfeits")
    if forfeited is not None and forfeited >= _SHARE and forfeited >= _TIMES * (usual or 0.0):
        yield f"it forfeited {forfeited:.0%} of its matches (median of the others {usual or 0:.0%})"
    valid, usual = _beside(part, model, "games/valid_replies")
    if valid is not None and usual is not None and 1 - valid >= max(_SHARE, _TIMES * (1 - usual)):
        yield (
            f"{1 - valid:.0%} of its replies held no valid move (median of the others "
            f"{1 - usual:.0%})"
        )


def _judged(part: Found, model: str) -> Iterator[str]:
    if part.name == "autobench":
        lean = part.estimate(model, "autobench/self_preference")
        own = lean.value if lean else None
        if own and _apart(part, model, partial(_leans, part, own)):
            way = "higher" if own > 0 else "lower"
            yield (
                f"as a judge it rates its own answers {abs(own):.2f} points {way} than the others "
                "do, all else equal"
            )
    if part.name == "hle":
        judges = part.results["run"].get("judges", ())
        if _apart(part, model, lambda it: it in judges):
            yield "it is among the judges of the exam, and judges itself"
        error, usual = _beside(part, model, "hle/rms_calibration_error")
        if error is not None and usual is not None and error >= _TIMES * usual:
            yield (
                f"its calibration error is {error:.2f} (median of the others {usual:.2f}), which "
                "does not count in the accuracy"
            )


def _leans(part: Found, way: float, model: str) -> bool:
    """Tell whether a judge surely rates its own answers higher, or lower, as that one does."""
    lean = part.estimate(model, "autobench/self_preference")
    ends = lean.ci95 if lean else None
    return ends is not None and (ends[0] > 0 if way > 0 else ends[1] < 0)


def _guessing(part: Found, model: str) -> Iterator[str]:
    """Yield the benchmarks in which a model cannot be told from guessing."""

    def guesses(name: str, chance: float | None, it: str) -> bool:
        score = part.estimate(it, f"{name}/accuracy")
        return score is not None and against(score, chance) == OPEN

    found = [
        name
        for name, about in part.results["run"].get("data", {}).items()
        if _apart(part, model, partial(guesses, name, about.get("chance")))
    ]
    if found:
        yield Statement(
            "facts.guessing",
            "it cannot be told from guessing in {benchmarks}",
            benchmarks=", ".join(found),
        )


def _length(part: Found, model: str) -> Iterator[str]:
    """Yield how long its replies are, where that is far from what others write."""
    told: Mapping[str, Any] = part.results["fleet"]["this_session"]["models"]
    lengths = {
        name: of["output_tokens"] / of["requests"]
        for name, of in told.items()
        if name in part.results["models"] and of["requests"]
    }
    if model not in lengths or len(lengths) < 3:
        return
    own, usual = lengths[model], median(it for name, it in lengths.items() if name != model)
    if usual and not 1 / _TIMES < own / usual < _TIMES:
        yield (
            f"its replies have {own:,.0f} tokens on average (median of the others {usual:,.0f}; "
            "the last session's)"
        )


def _few(part: Found, model: str) -> Iterator[str]:
    def few(it: str) -> bool:
        score = part.estimate(it, part.metric)
        return score is not None and 0 < score.n < _FEW

    score = part.estimate(model, part.metric)
    if score is not None and _apart(part, model, few):
        yield Statement(
            "facts.few", "its score rests on {n} {items}", n=score.n, items=_WHAT[part.name]
        )


def _apart(part: Found, model: str, has: Callable[[str], bool]) -> bool:
    """Tell whether a model has something that fewer than half of the others have."""
    others = [name for name in part.results["models"] if name != model]
    return has(model) and (not others or 2 * sum(map(has, others)) < len(others))


_WHAT = {"index": "questions", "hle": "questions", "autobench": "iterations", "games": "matches"}


def _beside(part: Found, model: str, metric: str) -> tuple[float | None, float | None]:
    """Return a model's value, and the median of the others'."""
    own = part.estimate(model, metric)
    others = _values(part, [name for name in part.results["models"] if name != model], metric)
    return (own.value if own else None), (median(others) if others else None)


def _values(part: Found, models: Sequence[str], metric: str) -> list[float]:
    found = (part.estimate(name, metric) for name in models)
    return [it.value for it in found if it is not None and it.value is not None]
