"""Benchmarks and indices of two sides, over the questions that they have in common."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from raybench import benchmarks
from raybench.benchmarks.parts import indices
from raybench.benchmarks.parts.contract import INDEX_LANGUAGES
from raybench.benchmarks.parts.hle import metrics
from raybench.benchmarks.parts.hle.exam import Item
from raybench.benchmarks.parts.scores import Rules, Scores
from raybench.benchmarks.parts.tally import Tally
from raybench.compare import means
from raybench.compare.found import SCORE, Pair, Score, Side
from raybench.compare.questions.units import Units
from raybench.statements import Statement
from raybench.stats import intervals, paired, repeats
from raybench.stats.asked import Asked
from raybench.stats.intervals import student
from raybench.types import Estimate, reason_of

_NAMES = ("baseline", "candidate")
_INDEX = "index"


@dataclass(frozen=True, eq=False)
class Common:
    """What two sides made of the questions of a benchmark that both answered."""

    benchmark: str
    languages: Sequence[str]
    baseline: Asked
    candidate: Asked
    """Tables of all questions: asked no times where the other side has none."""
    notes: Sequence[str] = ()
    refused: str = ""

    @property
    def differences(self) -> NDArray[np.float64]:
        """Return the candidate's score less the baseline's; NaN where they have none in common."""
        return self.candidate.scores() - self.baseline.scores()


def common(units: Units, pair: Pair, benchmark: str) -> Common:
    """Return what two sides have in common of a benchmark, and what they have not."""
    tally, sides = units.tally, (pair.baseline, pair.candidate)
    languages = Scores(tally, _rules(tally, pair)).languages(benchmark)
    one, other = (tally.asked(units.label(it), benchmark, languages) for it in sides)
    there = one.times > 0, other.times > 0
    both, notes, refused = there[0] & there[1], [], _unlike(pair, benchmark)
    if not refused and (why := _other(pair, benchmark)):
        same = _same(units, pair, benchmark, languages, both)
        if changed := int((both & ~same).sum()):
            notes.append(
                Statement(
                    "compare.other_answers",
                    "{questions:,} questions of one id have another right answer: left out",
                    questions=changed,
                )
            )
            both &= same
        many = int(both.sum())
        notes.append(
            Statement(
                "compare.other_questions",
                "the questions {why}: compared over the {common:,} in common, known by their ids",
                why=why,
                common=many,
            )
        )
    for name, here, theirs in zip(_NAMES, there, there[::-1], strict=True):
        if left := int((here & ~theirs).sum()):
            notes.append(
                Statement(
                    "compare.questions_of_one",
                    "{questions:,} questions that only the {side} has are left out",
                    questions=left,
                    side=name,
                )
            )
    for name, side in zip(_NAMES, sides, strict=True):
        notes += [
            Statement(
                "compare.units_lost",
                "{side}: {units:,} units {what}",
                side=name,
                units=count,
                what=what,
            )
            for what, count in _lost(units, side, benchmark)
        ]
    return Common(benchmark, languages, _kept(one, both), _kept(other, both), notes, refused)


def _other(pair: Pair, benchmark: str) -> str:
    """Return that two sides' questions are not known to be the same ones, or ''."""
    digests = {it.run.digest(benchmark) for it in (pair.baseline, pair.candidate)}
    if pair.one_run:
        return ""
    if None in digests:
        return "may differ (a run does not tell their sha256)"
    return "differ (sha256)" if len(digests) > 1 else ""


def _lost(units: Units, side: Side, benchmark: str) -> Iterator[tuple[str, int]]:
    """Yield what became of units that count for nothing, and of how many."""
    sheet = units.tally.sheet(units.label(side), benchmark)
    told = {
        "got no reply": sheet.unanswered,
        "got no grade": sheet.ungraded,
        "have images, which it does not take": sheet.unsupported,
        "were left to the script by the checker": sheet.unchecked,
    }
    yield from ((what, count) for what, count in told.items() if count)


def accuracy(units: Units, pair: Pair, found: Common) -> Score:
    """Return the difference in accuracy over what two sides have in common."""
    name, title = found.benchmark, benchmarks.load(found.benchmark).title
    sides = [units.label(it) for it in (pair.baseline, pair.candidate)]
    counts = units.tally.counts(sides[0], [name]), units.tally.counts(sides[1], [name])
    if found.refused:
        refused = Estimate(None, None, None, 0, f"not computed: {found.refused}")
        return Score(
            f"{name}/accuracy", title, refused, refused, refused, counts=counts, notes=found.notes
        )
    compared = paired.compare(found.candidate, found.baseline)
    differences = found.differences
    independent = _independent(differences, found.baseline)
    p, test = compared.p, compared.test
    if p is None and compared.difference.value is not None and independent > 1:
        # All alike: as often as chance gives so many the same sign; where none differs, always.
        p = intervals.chance(compared.difference, independent)
        test = test if p == 1 else "signs, all equal"
    return Score(
        metric=f"{name}/accuracy",
        title=title,
        baseline=repeats.accuracy(found.baseline),
        candidate=repeats.accuracy(found.candidate),
        difference=compared.difference,
        p=p,
        test=test,
        independent=independent,
        gained=int((differences > 0).sum()),
        lost=int((differences < 0).sum()),
        counts=counts,
        notes=found.notes,
    )


def composites(
    units: Units, pair: Pair, scores: Mapping[str, Score]
) -> tuple[list[Score], list[str]]:
    """Return the indices that both sides have whole, and why there are no others.

    Where one of them is no run of index, nobody asked for any.
    """
    if {side.run.experiment for side in (pair.baseline, pair.candidate)} != {_INDEX}:
        return [], []
    rules = _rules(units.tally, pair)
    of, sides = (
        Scores(units.tally, rules),
        [units.label(it) for it in (pair.baseline, pair.candidate)],
    )
    found, lacking = [], []
    for index, weights in rules.weights.items():
        if not weights.keys() & scores.keys():
            continue
        title = f"{index.capitalize()} Index"

        def weighed(part: str, weights: Mapping[str, Fraction] = weights) -> Estimate:
            parts = of.constituents({name: getattr(it, part) for name, it in scores.items()}, sides)
            return of.index(parts, sides, weights)

        difference = weighed("difference")
        if difference.value is None:
            lacking.append(f"{title} ({reason_of(difference.method)})")
            continue
        of_it = [scores[name] for name in weights]
        degrees = _degrees(scores, weights)
        # The same as the interval: a part in which nothing flipped has one, and no standard error.
        p = intervals.chance_by(difference, degrees)
        found.append(
            Score(
                metric=f"index/{index}",
                title=title,
                baseline=weighed("baseline"),
                candidate=weighed("candidate"),
                difference=difference,
                p=p,
                test="none" if p is None else f"{means.BY_INTERVAL}, Student's t, Welch",
                independent=math.floor(degrees) + 1,
                gained=sum(it.gained or 0 for it in of_it),
                lost=sum(it.lost or 0 for it in of_it),
            )
        )
    return found, [f"Not compared: {'; '.join(lacking)}"] if lacking else []


def _degrees(scores: Mapping[str, Score], weights: Mapping[str, Fraction]) -> float:
    """Return the degrees of freedom of a weighed sum, after Welch and Satterthwaite.

    The variances are those that the parts' intervals come to.
    """
    parts = []
    for name, weight in weights.items():
        low, high = scores[name].difference.ci95 or (0.0, 0.0)
        degrees = max(scores[name].independent - 1, 1)
        parts.append(((float(weight) * (high - low) / student(degrees)) ** 2, degrees))
    whole = math.fsum(variance for variance, _ in parts)
    return whole**2 / math.fsum(variance**2 / degrees for variance, degrees in parts)


def _rules(tally: Tally, pair: Pair) -> Rules:
    subjects = dict.fromkeys(
        str(it)
        for side in (pair.baseline, pair.candidate)
        for it in side.run.section.get("subset") or ()
    )
    several = [it for it in tally.benchmarks() if len(benchmarks.load(it).languages) > 1]
    return Rules(
        weights={name: indices.constituents(name) for name in indices.INDICES},
        languages=dict.fromkeys(several, INDEX_LANGUAGES),
        subjects=tuple(subjects),
        accepted=True,  # what broke is left out and told
    )


def _kept(asked: Asked, mask: NDArray[np.bool_]) -> Asked:
    return Asked(asked.right * mask, asked.times * mask, asked.sources)


def _independent(differences: NDArray[np.float64], asked: Asked) -> int:
    """Return how many sources have questions in common."""
    there = ~np.isnan(differences).all(axis=0)
    if asked.sources is None:
        return int(there.sum())
    return len(np.unique(asked.sources[there]))


def _unlike(pair: Pair, benchmark: str) -> str:
    """Return why questions of the same ids are different ones, or ''."""
    samples = [side.run.samples(benchmark) for side in (pair.baseline, pair.candidate)]
    if samples[0] == samples[1]:
        return ""
    which = "baseline" if samples[0] else "candidate"
    return (
        f"the {which} was asked our sample questions and the other side was not: they have none in "
        "common. Ask both the same (data=…)"
    )


def _same(
    units: Units,
    pair: Pair,
    benchmark: str,
    languages: Sequence[str],
    both: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Return which questions have the same right answer, or none that can be compared."""
    letters = pair.baseline.run.seed == pair.candidate.run.seed
    one, other = (
        units.truths(it, benchmark, languages, both.shape[1], letters=letters)
        for it in (pair.baseline, pair.candidate)
    )
    return np.asarray((one == other) | (one == 0) | (other == 0))


def confidence(units: Units, pair: Pair, found: Common) -> Iterator[Score]:
    """Yield how far HLE's stated confidence lies from what came true, over what is in common.

    That is what both have a verdict on. The Brier score compares it question by question. The RMS
    calibration error is no mean over questions, and chance makes it too large, the more so the
    fewer answers are right or wrong by a hair: it stands beside, without a difference.
    """
    asked = (found.baseline.times > 0).any(axis=0)
    common = {units.key(found.benchmark, slot) for slot in np.flatnonzero(asked)}
    judged = [units.exam.judged(units.label(it)) for it in (pair.baseline, pair.candidate)]
    for items in judged:
        common &= {it.key for it in items}
    if common:
        one, other = ([it for it in items if it.key in common] for items in judged)
        yield _brier(one, other)
        yield _calibrations(one, other)


def _brier(baseline: Sequence[Item], candidate: Sequence[Item]) -> Score:
    one, other = _squares(baseline), _squares(candidate)
    return means.paired(
        "hle/brier",
        "HLE, Brier score (lower is better)",
        (list(one.values()), [other[key] for key in one]),
        of="questions",
        over="questions with a verdict on both sides, paired",
        higher_is_better=False,
        notes=["mean square of confidence less 1 where right, 0 where wrong"],
    )


def _squares(items: Sequence[Item]) -> dict[str, float]:
    """Return each question's mean square of confidence less correctness, over its askings."""
    sums: dict[str, list[float]] = {}
    for item in items:
        sums.setdefault(item.key, []).append((item.confidence / 100 - item.correct) ** 2)
    return {key: math.fsum(each) / len(each) for key, each in sums.items()}


def _calibrations(one: Sequence[Item], other: Sequence[Item]) -> Score:
    """Return both sides' RMS calibration errors, over all bins; their difference is refused."""
    baseline, candidate = (metrics.error(it, "all") for it in (one, other))
    why = (
        "not computed: chance makes both errors too large, by amounts of their own, so that no "
        "interval of their difference would hold; the Brier score compares confidence question by "
        "question"
    )
    return Score(
        metric="hle/rms_calibration_error_all",
        title="HLE, RMS calibration error",
        baseline=baseline,
        candidate=candidate,
        difference=Estimate(None, None, None, min(len(one), len(other)), why),
        higher_is_better=False,
        scale=SCORE,
    )
