"""What came out of the exam: numbers, tables and plots, and responses for people to judge."""

from pathlib import Path

from raybench.benchmarks.parts import summary
from raybench.benchmarks.parts.hle import metrics as exam_metrics
from raybench.benchmarks.parts.scores import Rules, Scores
from raybench.config import Config
from raybench.experiments.hle import report, review
from raybench.experiments.hle.beside import with_exam
from raybench.experiments.hle.watch import Watch
from raybench.experiments.parts import models as models_asked
from raybench.experiments.parts.outcome import Outcome
from raybench.experiments.parts.questions import conditions, reading, token_limits
from raybench.experiments.parts.questions.ledger import Ledger
from raybench.experiments.parts.questions.lookup import looked_up, withheld
from raybench.experiments.parts.questions.setup import repeats_of, shown_of
from raybench.experiments.parts.questions.together import together
from raybench.experiments.parts.questions.units import units as readable
from raybench.experiments.parts.questions.view import View
from raybench.pipeline.datasets import Prepared
from raybench.pipeline.terms import asking_of

NAME = exam_metrics.NAME


def concluded(
    config: Config, watch: Watch, data: Prepared, ledger: Ledger, journal: Path
) -> Outcome:
    """Return what a run comes to, as far as its journal goes."""
    conf, exam = config.hle, watch.exam
    models = [model.name for model in config.roster.models]
    rules = Rules({}, subjects=tuple(conf.subset), accepted=conf.accept_failures)
    found = with_exam(
        summary.metrics(ledger.tally, models, rules), exam, ledger, rules, conf.judges
    )
    samples = ledger.samples.chosen([NAME])
    drawn = review.drawn(exam, conf.judges, conf.review, config.seed)
    places = {reading.place_of(record) for record in samples}
    _, rows = looked_up(data, places | {(NAME, "en", place.key) for place in drawn})
    sheet = review.files(drawn, journal, rows)
    gated = withheld(data)
    (part,) = data
    about = {NAME: conditions.about(part, repeats_of(config, NAME), None)}
    view = View(ledger.tally, found, rules, [NAME], {NAME: None}).ranked_by(f"{NAME}/accuracy")
    limits = token_limits.about(config, ledger.tally)
    return Outcome(
        metrics=found,
        counts={model: ledger.tally.counts(model) for model in models},
        failures=ledger.failures,
        accepted=conf.accept_failures,
        joint=together(Scores(ledger.tally, rules), found, f"{NAME}/accuracy"),
        mute=report.mute(exam, conf.judges, ledger.failures),
        columns=report.columns(exam, models, conf.judges),
        sections=[
            *report.sections(view, exam, conf.judges),
            conditions.deviations_section(config, data),
            conditions.questions(about),
            models_asked.section(shown_of(config, data), lowered=token_limits.in_words(limits)),
            reading.section(samples, rows, asking_of(config), gated),
        ],
        units=readable(data, journal, asking_of(config), gated),
        files={} if gated else sheet,
        unshared=sheet if gated else {},
        about={
            "reused": ledger.reused,
            "data": about,
            "judges": list(conf.judges),
            "prompt": conf.prompt,
            "fates": {model: dict(exam.fates(model)) for model in models},
            "budgets": report.budgets.told(exam, models),
            **limits,
            **conditions.deviations(config, data),
            **conditions.listed_deviations(config, data),
        },
        settings=conditions.settings(config) | {"system prompt of the exam": conf.prompt},
        notes={
            **conditions.narrowed(config, data),
            **token_limits.notes(limits),
            **report.notes(exam, models, conf.judges),
            **conditions.closing(config, data, ledger.reused, len(ledger.done)),
            **({"For people": review.note(drawn)} if drawn else {}),
        },
    )
