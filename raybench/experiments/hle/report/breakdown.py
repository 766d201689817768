"""Accuracy and calibration by type of answer and by category."""

from collections.abc import Iterator

from raybench.benchmarks.parts.hle import metrics
from raybench.benchmarks.parts.hle.exam import Exam
from raybench.benchmarks.parts.hle.options import CHOICE
from raybench.experiments.parts.questions.view import View
from raybench.stats import guessing
from raybench.tracking.report import Section, Table, Value

_ACCURACY = f"{metrics.NAME}/accuracy"


def by_type(view: View, exam: Exam) -> Section:
    """Return the accuracies in multiple choice, beside guessing, and in exact match."""
    rows: list[tuple[Value, ...]] = []
    for model in view.ranked:
        items = [item for item in exam.items(model) if item.counts and item.answer_type]
        chance = metrics.chance(items)
        exact, choice = (
            view.metrics[model].get(f"{_ACCURACY}/{called}") for called in metrics.TYPES.values()
        )
        share = sum(item.answer_type == CHOICE for item in items) / len(items) if items else None
        against = guessing.against(choice, chance) if choice else None
        rows.append(
            (model, exact, exact and exact.n, choice, choice and choice.n, chance, against, share)
        )
    return Section(
        "By type of answer",
        "",
        table=Table(
            ("model", "exact match", "n", "multiple choice", "n", "chance", "against chance",
             "share of multiple choice"),
            rows,
            caption=guessing.EXPLAINED,
        ),
    )  # fmt: skip


def calibration(view: View) -> Iterator[Section]:
    """Yield the calibration errors of types of answers and categories."""
    head = f"{metrics.ERROR}_all/"
    keys = dict.fromkeys(
        key for model in view.ranked for key in view.metrics[model] if key.startswith(head)
    )
    rows = [(_named(key.removeprefix(head)), _most(view, key), *view.of(key)) for key in keys]
    if rows:
        yield Section(
            "Calibration by type of answer and category",
            "",
            table=Table(
                ("part", "judged", *view.ranked),
                rows,
                caption="Judged: responses, of the model that has most. The error is the one over "
                "all bins: the official one leaves out the most confident bin, much of few.",
            ),
        )


def _most(view: View, key: str) -> int:
    return max(estimate.n for estimate in view.of(key) if estimate)


def _named(part: str) -> str:
    return part.replace("_", " ")
