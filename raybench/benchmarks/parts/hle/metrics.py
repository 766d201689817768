"""The numbers of the exam beside the accuracies that every benchmark has."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from raybench.benchmarks.parts.hle.exam import Exam, Item
from raybench.benchmarks.parts.hle.options import CHOICE, EXACT
from raybench.benchmarks.parts.scores import Scores, refuse_withheld
from raybench.stats import calibration, intervals, kappa, paired, repeats
from raybench.stats.asked import Asked
from raybench.types import Estimate

NAME = "hle"
TYPES: Mapping[str, str] = {EXACT: "exact_match", CHOICE: "multiple_choice"}
"""What metrics call the types of answers."""
IMAGES: Mapping[str, bool] = {"text_only": False, "with_image": True}
"""What metrics call questions without an image, and with one."""
ERROR = f"{NAME}/rms_calibration_error"
LESS_CHANCE = f"{ERROR}_less_chance"

Metrics = Iterator[tuple[str, Estimate]]


def metrics(exam: Exam, model: str, scores: Scores, judges: Sequence[str]) -> dict[str, Estimate]:
    """Return a model's numbers: calibration, types of answers, confidence, judges."""
    if reason := scores.withheld(model, NAME):
        refused = refuse_withheld(reason)
        return {key: refused for key, _ in _metrics(exam, model, scores, judges)}
    return dict(_metrics(exam, model, scores, judges))


def _metrics(exam: Exam, model: str, scores: Scores, judges: Sequence[str]) -> Metrics:
    judged = exam.judged(model)
    yield ERROR, error(judged, "official")
    yield f"{ERROR}_all", error(judged, "all")
    yield LESS_CHANCE, calibration.without_chance(*stated(judged), _numbers(judged), bins="all")
    yield f"{NAME}/confidence", _mean_of(judged, lambda item: item.confidence / 100)
    given = sum(item.sure for item in judged)
    yield f"{NAME}/confidence_given", intervals.share(given, len(judged), over="judged responses")
    counted = [item for item in exam.items(model) if item.counts]
    if any(item.pictured for item in exam.items(model)):
        for part, pictured in IMAGES.items():
            some = [item for item in counted if item.pictured is pictured]
            yield f"{NAME}/accuracy/{part}", _over(scores, model, some)
    for answer_type, called in TYPES.items():
        yield f"{NAME}/accuracy/{called}", _accuracy(scores, model, counted, answer_type)
        some = [item for item in judged if item.answer_type == answer_type]
        yield f"{ERROR}_all/{called}", error(some, "all")
    for category in sorted({item.category for item in counted if item.category}):
        some = [item for item in judged if item.category == category]
        yield f"{ERROR}_all/{category}", error(some, "all")
    if len(judges) > 1:
        yield from _of_two(scores, model, counted, judges[0], judges[1])


def error(items: Sequence[Item], bins: calibration.Bins) -> Estimate:
    """Return the RMS calibration error over judged items, which are in their questions' order."""
    return calibration.estimate(*stated(items), _numbers(items), bins=bins)


def stated(items: Sequence[Item]) -> tuple[list[float], list[bool]]:
    """Return how confident responses are, and which of them are right."""
    return [item.confidence / 100 for item in items], [item.correct for item in items]


def chance(items: Sequence[Item]) -> float | None:
    """Return what guessing would score in multiple choice, where all options could be read."""
    known = {item.key: item.chance for item in items if item.answer_type == CHOICE}
    chances = [chance for chance in known.values() if chance is not None]
    return float(np.mean(chances)) if chances and len(chances) == len(known) else None


def asked(items: Sequence[Item], right: Callable[[Item], bool]) -> Asked:
    """Return how often each question was asked, and answered rightly in a judge's eyes."""
    pairs: dict[str, list[int]] = {}
    for item in items:
        pair = pairs.setdefault(item.key, [0, 0])
        pair[0] += right(item)
        pair[1] += 1
    return Asked.of([(rightly, times) for rightly, times in pairs.values()])


def _accuracy(scores: Scores, model: str, items: Sequence[Item], answer_type: str) -> Estimate:
    return _over(scores, model, [item for item in items if item.answer_type == answer_type])


def _over(scores: Scores, model: str, items: Sequence[Item]) -> Estimate:
    return scores.of(model, NAME, asked(items, lambda item: item.correct))


def _mean_of(items: Sequence[Item], value: Callable[[Item], float]) -> Estimate:
    by_question: dict[str, list[float]] = {}
    for item in items:
        by_question.setdefault(item.key, []).append(value(item))
    means = [float(np.mean(values)) for values in by_question.values()]
    found = intervals.mean(means, over="questions with a verdict")
    if found.ci95 is None:
        return found
    low, high = found.ci95
    method = f"{found.method}, cut at the ends of the scale"
    return replace(found, ci95=(max(0.0, low), min(1.0, high)), method=method)


def _of_two(scores: Scores, model: str, items: Sequence[Item], first: str, second: str) -> Metrics:
    """Yield how far two judges agree, and what the second would have made of the accuracy.

    Responses without an answer are wrong to both; those that one of them said nothing of are left
    out.
    """
    by_both = {first, second}.issubset
    both = [item for item in items if by_both(item.verdicts)]
    found = kappa.agreement(
        [item.verdicts[first] for item in both],
        [item.verdicts[second] for item in both],
        _numbers(both),
    )
    yield f"{NAME}/judge_kappa", found.kappa
    yield f"{NAME}/judge_agreement", found.share
    compared = [item for item in items if by_both(item.verdicts) or item.fate != "judged"]
    by_first = asked(compared, lambda item: item.verdicts.get(first, False))
    by_second = asked(compared, lambda item: item.verdicts.get(second, False))
    yield f"{NAME}/accuracy_second_judge", repeats.accuracy(by_second)
    yield f"{NAME}/accuracy_judge_effect", paired.compare(by_second, by_first).difference


def _numbers(items: Sequence[Item]) -> list[int]:
    """Return the number of each item's question."""
    numbers = {key: number for number, key in enumerate(dict.fromkeys(it.key for it in items))}
    return [numbers[item.key] for item in items]
