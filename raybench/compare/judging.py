"""Verdicts: Holm's correction over every test of a comparison, and what it comes to in words.

That two models cannot be told apart does not say that they are alike: no verdict ever does. Only
where not one observation differs it says so, and calls that identical on these questions.
"""

import math
from collections.abc import Iterable, Sequence

from raybench.compare import means
from raybench.compare.found import SHARE, Compared, Concluded, Judged, Overall, Score, Word
from raybench.statements import Statement
from raybench.stats import mcnemar, paired
from raybench.stats.distributions import student_quantile
from raybench.stats.searching import least
from raybench.types import reason_of

LEVEL = 0.05
"""How often at most a comparison of equal models calls any of them better or worse."""
POWER = 0.8
TWO_POINTS = 0.02
_SMALLEST_P = 0.001
_MOST = 1_000_000
"""Times the questions there are, that more of them are told."""


def concluded(found: Sequence[Compared]) -> list[Concluded]:
    """Return all pairs with their verdicts; all tests of all pairs are corrected together.

    A score in which not one observation differs is no test: however strict the level, it cannot
    come out (the least p that it could have is 1), so that it takes nothing from the others
    (Tarone 1990). What is asked of models that did not change leaves the verdicts on others alone.
    """
    ps = {
        (place, score.metric): score.p
        for place, compared in enumerate(found)
        for score in compared.scores
        if score.p is not None and score.tested
    }
    raised = paired.holm(ps)
    told = []
    for place, compared in enumerate(found):
        scores = [
            _judged(score, raised.get((place, score.metric)), len(ps)) for score in compared.scores
        ]
        verdict = _overall([it.verdict for it in scores])
        told.append(
            Concluded(compared, scores, verdict, _sentence(compared, scores, verdict), len(ps))
        )
    return told


def worse(found: Iterable[Concluded]) -> list[tuple[Concluded, Judged]]:
    """Return the scores in which a candidate is worse."""
    return [(it, score) for it in found for score in it.scores if score.verdict == "worse"]


def _judged(score: Score, p_holm: float | None, tests: int) -> Judged:
    verdict = _verdict(score, p_holm)
    alone, here = detectable(score, 1), detectable(score, tests)
    value = score.difference.value
    return Judged(
        score,
        verdict,
        _words(score, verdict, p_holm, here),
        p_holm,
        alone,
        here,
        needed=needed(score, tests, abs(value)) if value else None,
        needed_for_two_points=needed(score, tests, TWO_POINTS) if score.scale == SHARE else None,
    )


def _verdict(score: Score, p_holm: float | None) -> Word:
    value = score.difference.value
    if value is None:
        return "refused"
    if score.identical:
        return "identical"
    if p_holm is None or p_holm >= LEVEL or value == 0:
        return "not distinguishable"
    return "better" if (value > 0) is score.higher_is_better else "worse"


def detectable(score: Score, tests: int) -> float | None:
    """Return the smallest difference that shows in four of five such comparisons.

    It has to pass the strictest of Holm's steps among so many tests. None where nothing differs.
    """
    if not tests or score.independent < 2 or score.identical:
        return None
    if seen := _seen(score):
        return seen.detectable(LEVEL / tests, POWER)
    if not (stderr := _stderr(score)):
        return None
    return _reach(score.independent, tests) * stderr


def needed(score: Score, tests: int, target: float) -> int | None:
    """Return how many questions like these would show a difference in four of five comparisons.

    None where nobody could ask so many.
    """
    if not tests or score.independent < 2 or score.identical:
        return None
    if seen := _seen(score):
        return seen.needed(target, LEVEL / tests, POWER)
    if not (stderr := _stderr(score)):
        return None
    n, each = score.difference.n, score.independent
    found = least(
        lambda sources: _reach(sources, tests) * stderr * math.sqrt(each / sources) <= target,
        2,
        _MOST * each,
    )
    return None if found is None else math.ceil(n * found / each)


def _reach(sources: int, tests: int) -> float:
    """Return how many standard errors off a difference is that so many independent ones show."""
    degrees = sources - 1
    return student_quantile(1 - LEVEL / (2 * tests), degrees) + student_quantile(POWER, degrees)


def _seen(score: Score) -> mcnemar.Seen | None:
    """Return what McNemar's test goes by, where that is the test."""
    if score.test != paired.MCNEMAR or score.gained is None or score.lost is None:
        return None
    return mcnemar.Seen(score.gained, score.lost, score.difference.n)


def _stderr(score: Score) -> float | None:
    """Return the standard error that the test goes by."""
    found = score.difference
    if not score.test.startswith(means.BY_INTERVAL):
        return found.stderr
    if found.value is None or found.ci95 is None:
        return None
    half = max(found.value - found.ci95[0], found.ci95[1] - found.value)
    return half / student_quantile(0.975, score.independent - 1)


def _words(score: Score, verdict: Word, p_holm: float | None, here: float | None) -> str:
    n, value = score.difference.n, score.difference.value
    if verdict == "refused":
        return reason_of(score.difference.method)
    if verdict == "identical":
        return Statement(
            "verdict.identical",
            "identical: the same score on each of these {n:,} {items}",
            n=n,
            items=score.of,
        )
    if verdict == "not distinguishable":
        return _open(score, p_holm, here)
    assert value is not None
    return Statement(
        "verdict.differs",
        "{verdict} by {amount}, p (Holm) {p}",
        verdict=verdict,
        amount=amount(score, abs(value)),
        p=p_value(p_holm),
    )


def _open(score: Score, p_holm: float | None, here: float | None) -> str:
    """Return why a score shows no difference, or the smallest difference that it could show."""
    n, items = score.difference.n, score.of
    if p_holm is None:
        return Statement(
            "verdict.no_test",
            "no test, so that it is uncertain which is better ({n:,} {items}): {why}",
            n=n,
            items=items,
            why=score.no_test,
        )
    if beyond(score, here):
        return Statement(
            "verdict.too_few",
            "not distinguishable with {n:,} {items}: too few for any difference to be sure to show",
            n=n,
            items=items,
        )
    if here is None:
        return Statement("verdict.open", "not distinguishable with {n:,} {items}", n=n, items=items)
    return Statement(
        "verdict.would_have_shown",
        "not distinguishable with {n:,} {items} (would have shown from ±{least})",
        n=n,
        items=items,
        least=amount(score, here),
    )


def beyond(score: Score, value: float | None) -> bool:
    """Tell whether no two models can differ by so much."""
    return score.scale.most is not None and value is not None and value > score.scale.most


def amount(score: Score, value: float) -> str:
    """Return a difference in words: '0.042', or '12 points'."""
    return f"{value:.{score.scale.digits}f} {score.scale.unit}".strip()


def p_value(value: float | None) -> str:
    """Return '= 0.012' or '< 0.001'."""
    if value is None:
        return "unknown"
    return f"< {_SMALLEST_P}" if value < _SMALLEST_P else f"= {value:.3f}"


def _overall(verdicts: Sequence[Word]) -> Overall:
    there = {it for it in verdicts if it != "refused"}
    if not there:
        return "not tested"
    if {"better", "worse"} <= there:
        return "mixed"
    if "better" in there:
        return "better"
    if "worse" in there:
        return "worse"
    return "identical" if there == {"identical"} else "not distinguishable"


def _sentence(compared: Compared, scores: Sequence[Judged], verdict: Overall) -> str:
    baseline, candidate = compared.pair.titles
    by: dict[Word, list[str]] = {}
    for it in scores:
        by.setdefault(it.verdict, []).append(it.score.title)
    of = len(scores) - len(by.get("refused", ()))
    if verdict == "not tested":
        return Statement(
            "comparison.untested",
            "{candidate} beside {baseline}: nothing here is tested.",
            candidate=candidate,
            baseline=baseline,
        )
    if verdict == "identical":
        what = " and ".join(dict.fromkeys(it.score.of for it in scores if it.verdict == verdict))
        return Statement(
            "comparison.identical",
            "{candidate} and {baseline} have the same score on all {what} of {scores} here. That "
            "says nothing of other {what}.",
            candidate=candidate,
            baseline=baseline,
            what=what,
            scores=_all(of),
        )
    untested = _untested(scores)
    parts = [
        f"{word} in {_listed(by[word])}" for word in ("better", "worse") if word in by
    ]  # in this order
    if not parts:
        alike = len(by["not distinguishable"])
        reasons = [it.score.no_test for it in scores if it.verdict == "not distinguishable"]
        if all(reasons):
            return Statement(
                "comparison.no_test",
                "{candidate} against {baseline}: {scores} could not be tested ({why}), so that it "
                "is uncertain which is better.",
                candidate=candidate,
                baseline=baseline,
                scores=_all(alike),
                why=", ".join(dict.fromkeys(reasons)),
                by=by,
            )
        same = f"; identical in {_listed(by['identical'])}" if "identical" in by else ""
        return Statement(
            "comparison.open",
            "{candidate} cannot be told from {baseline} in {any}{scores} with this many "
            "observations{same}{untested}. That is not the same as being equally good: see from "
            "which difference on it would have shown.",
            candidate=candidate,
            baseline=baseline,
            any="any of " * (alike > 1),
            scores=_all(alike),
            same=same,
            untested=f"; {untested}" if untested else "",
            by=by,
        )
    if "worse" not in by:
        parts.append("worse in none")
    elif "better" not in by:
        parts.append("better in none")
    told = [", ".join(parts)]
    told += [
        f"{it} in {_listed(by[it])}" for it in ("not distinguishable", "identical") if it in by
    ]
    told += [untested] * bool(untested)
    return Statement(
        "comparison.verdict",
        "{candidate} against {baseline}: {told}.",
        candidate=candidate,
        baseline=baseline,
        told="; ".join(told),
        by=by,
    )


def _untested(scores: Sequence[Judged]) -> str:
    """Return which scores have no test, and why; '' if each has one."""
    without = [f"{it.score.title}: {why}" for it in scores if (why := it.score.no_test)]
    return f"without a test {_listed(without)}" if without else ""


def _all(number: int) -> str:
    return "the one score" if number == 1 else f"the {number} scores"


def _listed(names: Sequence[str]) -> str:
    return f"{len(names)} ({', '.join(names)})"
