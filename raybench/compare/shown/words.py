"""What the terminal and the page say alike."""

from collections.abc import Iterator, Mapping, Sequence

from raybench.compare import means
from raybench.compare.found import (
    GAINED,
    QUESTIONS,
    Concluded,
    Flips,
    Judged,
    Kind,
    Scale,
    Score,
    Setting,
)
from raybench.compare.judging import LEVEL, amount, beyond, p_value
from raybench.compare.pairing import QUESTIONS as QUESTIONED
from raybench.statements import Statement
from raybench.stats import paired
from raybench.types import Counts

P, P_HOLM, WOULD_SHOW = "p", "p (Holm)", "would show from"
"""What columns are called."""
_KINDS: Mapping[Kind, str] = {
    "model": "the model",
    "questions": "the questions",
    "matches": "the matches",
    "asking": "how models were asked",
    "grading": "how replies were graded",
    "judges": "the judges",
    "versions": "versions",
}
_INDEX = "index/"
_NAMED = 4
"""Scores named beside a test; of more, how many there are."""


def number(value: float | None, scale: Scale, *, signed: bool = False) -> str:
    """Return a number of the metric, with a true minus sign."""
    if value is None:
        return "—"
    return f"{value:{'+' if signed else ''}z.{scale.digits}f}".replace("-", "−")


def difference(judged: Judged) -> str:
    """Return '+0.042 [−0.010, +0.094]', or '—'; where no observation differs, no interval.

    It would be of other questions than those that are called identical.
    """
    score = judged.score
    value, ci95 = score.difference.value, score.difference.ci95
    if value is None:
        return "—"
    told = number(value, score.scale, signed=True)
    if ci95 is None or score.identical:
        return told
    low, high = (number(it, score.scale, signed=True) for it in ci95)
    return f"{told} [{low}, {high}]"


def p_shown(value: float | None) -> str:
    """Return '0.012', '< 0.001' or '—'."""
    return "—" if value is None else p_value(value).removeprefix("= ")


def p_alone(score: Score) -> str:
    """Return a test's own p; of what is not tested, '—'."""
    return p_shown(score.p if score.tested else None)


def would_show(judged: Judged) -> str:
    """Return from where on a difference would have shown: '±0.061', 'none could' or '—'."""
    here, score = judged.detectable_here, judged.score
    if here is None:
        return "—"
    if beyond(score, here):
        return "none could"
    return f"±{amount(score, here).removesuffix(score.scale.unit).strip()}"


def listed_flips(flips: Sequence[Flips]) -> str:
    """Return how many of what flipped, in either direction."""
    both = zip(*(it.words for it in flips), strict=True)
    words = [next(iter(dict.fromkeys(of))) for of in both]
    numbers = sum(it.gained for it in flips), sum(it.lost for it in flips)
    told = ", ".join(f"{number:,} {word}" for number, word in zip(numbers, words, strict=True))
    return f"{flips[0].of.capitalize()} that flipped: {told}"


def about_flips(flips: Sequence[Flips]) -> str:
    """Return what it means that items flipped, and in which order they stand."""
    told = ""
    if any(it.words == GAINED for it in flips):
        told = "Gained: the candidate does better. "
    if any(it.of == QUESTIONS for it in flips):
        told += "Of a question that was asked several times, a reply that shows the difference. "
    return f"{told}Those that differ most come first."


def explained(found: Sequence[Concluded]) -> list[str]:
    """Return what the numbers of the tables mean, a sentence each."""
    scores = [score for it in found for score in it.scores]
    tests = found[0].tests if found else 0
    if not tests:
        return []
    told: list[str] = [
        Statement(
            "compare.holm",
            "{p} is of each test alone. {holm} corrects it for the {tests} tests made here: the "
            "smallest {p} is multiplied by {tests}, the next by {fewer}, and so on. Below {level} "
            "it is a verdict, so an interval that excludes 0 need not be one.",
            p=P,
            holm=P_HOLM,
            tests=tests,
            fewer=tests - 1,
            level=LEVEL,
        )
        if tests > 1
        else f"{P_HOLM} is {P} raised for the number of tests; here is one, so that both are the "
        f"same. Below {LEVEL} it is a verdict."
    ]
    if any(it.score.identical for it in scores):
        told.append(
            Statement(
                "compare.untested",
                "Scores in which nothing differs are not among the tests: no level would let such "
                "a test come out, so that it takes nothing from the others (Tarone).",
            )
        )
    if mcnemar := any(it.score.tested and it.score.test == paired.MCNEMAR for it in scores):
        told.append(
            "The interval of a difference of rights and wrongs is Student's t, and its p is "
            "McNemar's, exact: with few questions they may disagree. The verdict goes by p."
        )
    told += _fewer(found)
    if any(it.score.metric.startswith(_INDEX) for it in scores):
        told.append(
            "Intervals of indices are put together from those of their parts (MOVER: how far each "
            "one's ends lie from it, squared, weighed and added), and p goes by them."
        )
    if apart := [
        it.score.title for it in scores if it.score.difference.method.endswith(means.MOVER)
    ]:
        told.append(
            Statement(
                "compare.mover",
                "Of scores with an interval and no standard error ({scores}) the difference has "
                "an interval put together from both runs' own (MOVER: how far each one's ends lie "
                "from it, squared and added).",
                scores=_listed(apart),
            )
        )
    told.append(f"Tests: {'; '.join(_tests(scores))}.")
    if any(it.detectable_here is not None for it in scores):
        told.append(
            f"{WOULD_SHOW.capitalize()}: the smallest difference that four in five comparisons "
            "like this one, with as many observations and tests, would find."
            + " Of rights and wrongs no fewer are taken to speak for the worse side than do here."
            * mcnemar
        )
    return told


def _fewer(found: Sequence[Concluded]) -> Iterator[str]:
    """Yield how to ask less, where models that nobody changed are tested beside one that was."""
    asked = [it for it in found if any(score.score.tested for score in it.scores)]
    alike = [it for it in asked if not _changed(it)]
    if not alike or len(alike) == len(asked):
        return
    names = list(dict.fromkeys(it.compared.pair.candidate.model for it in alike))
    tests = sum(score.score.tested for it in alike for score in it.scores)
    asked_questions = any(
        pair.candidate.run.experiment in QUESTIONED and not pair.part
        for pair in (it.compared.pair for it in alike)
    )
    only = " or benchmarks (--only BENCHMARK)" if asked_questions else ""
    yield Statement(
        "compare.unchanged_models",
        "{models} {have} the same settings in both runs, and yet {tests} of the {all} tests, "
        "because replies were sampled anew: naming models (RUN:MODEL){only} asks fewer questions, "
        "and each of them weighs more.",
        models=_listed(names, "models"),
        have="has" if len(names) == 1 else "have",
        tests=tests,
        all=found[0].tests,
        only=only,
    )


def _changed(found: Concluded) -> bool:
    """Tell whether anything but chance may have changed replies."""
    return found.compared.pair.one_run or bool(found.compared.settings)


def _tests(scores: Sequence[Judged]) -> Iterator[str]:
    """Yield which tests were made, and of what."""
    by: dict[str, list[str]] = {}
    for it in scores:
        if it.score.tested:
            by.setdefault(it.score.test, []).append(it.score.title)
    for test, titles in by.items():
        yield f"{test} ({_listed(titles)})"


def _listed(titles: Sequence[str], of: str = "scores") -> str:
    """Return titles, each once; of many, how many there are."""
    each = list(dict.fromkeys(titles))
    return ", ".join(each) if len(each) <= _NAMED else f"{len(each)} {of}"


def held_apart(settings: Sequence[Setting]) -> str:
    """Say which parts of two sides' settings differ, and what that means."""
    kinds = [name for kind, name in _KINDS.items() if any(it.kind == kind for it in settings)]
    beside = [it for it in kinds if it != _KINDS["model"]]
    told = f"What differs between the sides: {', '.join(kinds)}."
    if beside:
        *most, last = beside
        causes = f"{', '.join(most)} or {last}" if most else last
        told += f" A difference may come from {causes}, and not from the model."
    return told


def told_of(found: Concluded) -> Iterator[str]:
    """Yield what is to be read beside the table, score by score."""
    for it in found.scores:
        if it.verdict == "refused":
            yield f"{it.score.title}: not computed: {it.words}"
    for it in found.scores:
        for note in it.score.notes:
            yield f"{it.score.title}: {note}"
    sides = {
        side.key: side for side in (found.compared.pair.baseline, found.compared.pair.candidate)
    }
    runs = {side.run.folder: side.run for side in sides.values()}
    for run in runs.values():
        if not run.finished:
            yield f"{run.folder} is unfinished: compared as far as its journal goes"


def lost_of(found: Concluded) -> Iterator[str]:
    """Yield what went wrong with either side's replies, score by score."""
    for it in found.scores:
        if it.score.counts and (told := "; ".join(_counts(it.score.counts))):
            yield f"{it.score.title}: {told}"


def _counts(counts: tuple[Counts, Counts]) -> Iterator[str]:
    one, other = (it.to_json() for it in counts)
    for name in one:
        if name != "ok" and (one[name] or other[name]):
            yield (
                f"{name.replace('_', ' ')} {one[name]:,} of the baseline's, "
                f"{other[name]:,} of the candidate's"
            )
