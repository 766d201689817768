"""How far what models state of their certainty is from what they achieve."""

from collections.abc import Iterator
from itertools import islice

from raybench.benchmarks.parts.hle import metrics
from raybench.benchmarks.parts.hle.exam import Exam
from raybench.experiments.parts.questions.view import View
from raybench.stats.reliability import reliability
from raybench.tracking import plots
from raybench.tracking.plots.reliability import MOST
from raybench.tracking.report import Section, Table

_NAME = metrics.NAME


def sections(view: View, exam: Exam) -> Iterator[Section]:
    """Yield the calibration errors and, where anything was judged, the reliability diagram."""
    keys = (f"{_NAME}/confidence", metrics.ERROR, f"{metrics.ERROR}_all", metrics.LESS_CHANCE)
    rows = [
        (model, len(exam.judged(model)), *(view.metrics[model].get(key) for key in keys))
        for model in view.ranked
    ]
    yield Section(
        "Calibration",
        "The RMS calibration error is how far stated confidence and accuracy lie apart: 0 where a "
        "model that says 70 % is right 7 times in 10. Over the judged responses; one that states "
        "no confidence counts as 100 %.",
        table=Table(
            ("model", "judged", "confidence", "RMS error", "all bins", "all bins, less chance"),
            rows,
            caption="Bins of 100 responses by rising confidence. RMS error: as HLE's own code "
            "has it, which leaves out the last bin, the most confident one. Less chance: without "
            "what chance adds even to a perfectly calibrated model.",
        ),
    )
    diagrams = {
        model: reliability(*metrics.stated(judged))
        for model in view.ranked
        if (judged := exam.judged(model))
    }
    if diagrams:
        yield Section(
            "Confidence and accuracy",
            "Points on the diagonal are as often right as they say; below it, less often. The bars "
            "say how often each confidence was stated. Whiskers: 95 % intervals, each for itself."
            + (
                f" Drawn are the first {MOST} of {len(diagrams)} models."
                if len(diagrams) > MOST
                else ""
            ),
            figure=plots.reliability(dict(islice(diagrams.items(), MOST))),
        )
