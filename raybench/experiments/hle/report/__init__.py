"""What the exam's report shows."""

from collections.abc import Iterator, Sequence

from raybench.benchmarks.parts.hle import metrics
from raybench.benchmarks.parts.hle.exam import Exam
from raybench.experiments.hle.report import breakdown, budgets, calibration, fates, judges
from raybench.experiments.parts import supported
from raybench.experiments.parts.questions import scores
from raybench.experiments.parts.questions.supported import orders
from raybench.experiments.parts.questions.view import View
from raybench.tracking import plots
from raybench.tracking.leaderboard import Column
from raybench.tracking.report import Section

__all__ = ["budgets", "columns", "mute", "notes", "sections"]

mute = judges.mute

_ACCURACY = f"{metrics.NAME}/accuracy"


def columns(exam: Exam, models: Sequence[str], judged_by: Sequence[str]) -> list[Column]:
    """Return the leaderboard's columns, accuracy first."""
    every = [item for model in models for item in exam.items(model)]
    found = [
        Column(_ACCURACY, "Accuracy"),
        Column(metrics.ERROR, "RMS calibration error", higher_is_better=False),
        Column(f"{metrics.ERROR}_all", "RMS, all bins", higher_is_better=False),
        Column(f"{_ACCURACY}/exact_match", "Exact match"),
        Column(f"{_ACCURACY}/multiple_choice", "Multiple choice", chance=metrics.chance(every)),
        Column(f"{metrics.NAME}/confidence", "Confidence"),
    ]
    if any(exam.fates(model)["no images"] for model in models):
        found.insert(1, Column(f"{_ACCURACY}/text_only", "Text only"))
    if len(judged_by) > 1:
        found.append(Column(f"{metrics.NAME}/judge_kappa", "Judges' κ"))
    return found


def sections(view: View, exam: Exam, judged_by: Sequence[str]) -> Iterator[Section]:
    """Yield the sections of what came out."""
    yield Section(supported.TITLE, orders(view, _ACCURACY))
    yield Section(
        "Accuracy",
        "With 95 % intervals. The questions were chosen so that models failed them: small "
        "differences near 0 say little of progress.",
        figure=plots.forest(
            {model: view.metrics[model][_ACCURACY].to_json() for model in view.ranked},
            xlabel="Accuracy",
        ),
    )
    yield scores.benchmark(view, metrics.NAME)
    yield from scores.broken_out(view, metrics.NAME)
    yield from scores.differences(view)
    yield from particular(view, exam, judged_by)


def particular(view: View, exam: Exam, judged_by: Sequence[str]) -> Iterator[Section]:
    """Yield the sections that no other benchmark has."""
    yield from calibration.sections(view, exam)
    yield breakdown.by_type(view, exam)
    yield from breakdown.calibration(view)
    yield from budgets.sections(view, exam)
    yield from judges.sections(view, exam, judged_by)
    yield fates.section(view, exam)


def notes(exam: Exam, models: Sequence[str], judged_by: Sequence[str]) -> dict[str, str]:
    """Return what has to be said beside the scores, by short names."""
    return fates.notes(exam, models) | judges.notes(exam, models, judged_by)
