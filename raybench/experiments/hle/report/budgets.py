"""Accuracy against what a response cost: its output tokens, reasoning included."""

from collections.abc import Iterator, Sequence
from typing import Any

from raybench.benchmarks.parts.hle.exam import Exam
from raybench.experiments.parts.questions.view import View
from raybench.stats import budgets
from raybench.stats.budgets import Budget, Peak
from raybench.tracking import plots
from raybench.tracking.report import Section, Table

REPEATED = (
    "no peak named: questions were asked several times, and responses to one are counted here as "
    "if they were to several, so that the intervals are too narrow"
)


def of(exam: Exam, model: str) -> list[Budget]:
    """Return a model's accuracy by the power of two that its responses' tokens reach."""
    items = [item for item in exam.items(model) if item.counts and item.tokens]
    return budgets.bins([item.tokens for item in items], [item.correct for item in items])


def told(exam: Exam, models: Sequence[str]) -> dict[str, Any]:
    """Return what results.json says of budgets: every bin, and the peak or why none is named."""
    return {
        model: {
            "bins": [
                {"from": it.low, "below": it.high, "accuracy": it.accuracy.to_json()}
                for it in found
            ],
            "peak": _peak(exam, model, found),
        }
        for model in models
        if (found := of(exam, model))
    }


def _peak(exam: Exam, model: str, found: Sequence[Budget]) -> dict[str, Any]:
    repeated = any(item.repeat for item in exam.items(model))
    peak = Peak(None, REPEATED) if repeated else budgets.peak(found)
    budget = peak.budget
    return {
        "from": budget and budget.low,
        "below": budget and budget.high,
        "why": peak.why,
    }


def sections(view: View, exam: Exam) -> Iterator[Section]:
    """Yield the section on budgets, where responses have tokens."""
    found = {model: bins for model in view.ranked if (bins := of(exam, model))}
    if not found:
        return
    lows = sorted({it.low for bins in found.values() for it in bins})
    yield Section(
        "Accuracy against token budget",
        "Responses by their output tokens, reasoning included, in bins that double. Models choose "
        "how long they answer, and longer for harder questions: this says what they achieved with "
        "so many tokens, not what more tokens would achieve.",
        figure=plots.budgets(found),
        table=Table(
            ("tokens", *found),
            [(_range(low), *(_at(bins, low) for bins in found.values())) for low in lows],
            caption=". ".join(
                f"{model}: {_peak(exam, model, bins)['why']}" for model, bins in found.items()
            )
            + ".",
        ),
    )


def _at(bins: Sequence[Budget], low: int) -> Any:
    here = [it for it in bins if it.low == low and it.n]
    return here[0].accuracy if here else None


def _range(low: int) -> str:
    return f"{low:,}–{2 * low - 1:,}"
