"""What became of the responses: who judged them, or why nobody did."""

from collections.abc import Sequence

from raybench.benchmarks.parts.hle.exam import FATES, Exam
from raybench.experiments.parts.questions.view import View
from raybench.tracking.report import Section, Table


def section(view: View, exam: Exam) -> Section:
    """Return how many responses of each model were judged, and what kept the others from it."""
    counts = {model: exam.fates(model) for model in view.ranked}
    shown = [fate for fate in FATES if any(of[fate] for of in counts.values())]
    return Section(
        "What became of the responses",
        "Judges are asked about responses with an answer, and about no others.",
        table=Table(
            ("model", *shown),
            [(model, *(counts[model][fate] for fate in shown)) for model in view.ranked],
            caption="; ".join(f"{fate}: {FATES[fate]}" for fate in shown) + ".",
        ),
    )


def notes(exam: Exam, models: Sequence[str]) -> dict[str, str]:
    """Say who was evaluated on the questions without images, and who stated no confidence."""
    blind = [
        f"{model} ({count:,} left out)"
        for model in models
        if (count := exam.fates(model)["no images"])
    ]
    judged = {model: exam.judged(model) for model in models}
    silent = [
        f"{model} {count:,} of {len(of):,}"
        for model, of in judged.items()
        if (count := sum(not item.sure for item in of))
    ]
    found = {}
    if blind:
        found["Text only"] = f"evaluated on the questions without images: {', '.join(blind)}"
    if silent:
        found["Confidence"] = f"not stated, and counted as 100 %: {', '.join(silent)}"
    return found
