"""What the exam adds to a run of several benchmarks: its metrics, sections and notes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from raybench.benchmarks.parts.hle import metrics
from raybench.benchmarks.parts.hle.exam import Exam
from raybench.benchmarks.parts.scores import Rules, Scores
from raybench.experiments.hle import report
from raybench.experiments.hle.report import mute
from raybench.experiments.hle.watch import Watch
from raybench.experiments.parts.deviations import JUDGED
from raybench.experiments.parts.questions.ledger import Ledger
from raybench.experiments.parts.questions.view import View
from raybench.tracking.report import Section
from raybench.types import Estimate

__all__ = ["NAME", "Watch", "mute", "notes", "sections", "with_exam"]

NAME = metrics.NAME


def sections(view: View, exam: Exam, judges: Sequence[str]) -> Iterator[Section]:
    """Yield what is particular to the exam, under its name."""
    for section in report.particular(view, exam, judges):
        yield replace(section, title=f"HLE: {section.title}")


def notes(exam: Exam, models: Sequence[str], judges: Sequence[str]) -> dict[str, str]:
    """Return who judges the exam, and which judge is doubtful, among notes on other benchmarks."""
    found = report.notes(exam, models, judges)
    return {name: f"{text} (HLE)" if name == JUDGED else text for name, text in found.items()}


def with_exam(
    found: Mapping[str, Mapping[str, Estimate]],
    exam: Exam,
    ledger: Ledger,
    rules: Rules,
    judges: Sequence[str],
) -> dict[str, dict[str, Estimate]]:
    """Return metrics with those of the exam among them."""
    scores = Scores(ledger.tally, rules)
    return {
        model: {**held, **metrics.metrics(exam, model, scores, judges)}
        for model, held in found.items()
    }
