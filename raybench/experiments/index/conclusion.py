"""What came out: the numbers of a journal, and everything that the report says of them."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from raybench import benchmarks
from raybench.benchmarks.parts import indices, summary
from raybench.benchmarks.parts.contract import INDEX_LANGUAGES
from raybench.benchmarks.parts.scores import Rules, Scores
from raybench.benchmarks.parts.tally import Unit
from raybench.config import Config
from raybench.experiments.hle import beside as hle
from raybench.experiments.index.report import columns, graders, headline, sections
from raybench.experiments.index.report.graders import Differences
from raybench.experiments.index.report.programs import Programs
from raybench.experiments.parts import models as models_asked
from raybench.experiments.parts.outcome import Outcome
from raybench.experiments.parts.questions import conditions, reading, referees, token_limits
from raybench.experiments.parts.questions.ledger import Ledger
from raybench.experiments.parts.questions.lookup import looked_up, withheld
from raybench.experiments.parts.questions.setup import grading_of, repeats_of, shown_of
from raybench.experiments.parts.questions.together import together
from raybench.experiments.parts.questions.units import units as readable
from raybench.experiments.parts.questions.view import View
from raybench.pipeline.datasets import Prepared
from raybench.pipeline.terms import asking_of
from raybench.tracking.report import Section


class Watch:
    """What the index keeps of the journal beside what all experiments do."""

    def __init__(self, config: Config) -> None:
        self.differences = Differences() if config.index.grader == "improved" else None
        self.programs = Programs()
        self.exam = hle.Watch()

    def enter(self, unit: Unit, record: dict[str, Any]) -> None:
        """Look at a record of the journal."""
        if self.differences:
            self.differences.enter(unit, record)
        self.programs.enter(unit, record)
        self.exam.enter(unit, record)


def concluded(
    config: Config, watch: Watch, data: Prepared, ledger: Ledger, journal: Path
) -> Outcome:
    """Return what a run comes to, as far as its journal goes."""
    models = [model.name for model in config.roster.models]
    rules = Rules(
        weights={name: indices.constituents(name) for name in indices.INDICES},
        languages=_ruled_languages(data),
        subjects=tuple(config.index.subset),
        programs=[it.benchmark for it in data if benchmarks.load(it.benchmark).sandboxed],
        accepted=config.index.accept_failures,
        partial=config.index.partial,
    )
    metrics = summary.metrics(ledger.tally, models, rules)
    samples = ledger.samples.chosen([part.benchmark for part in data])
    guessing, rows = looked_up(data, {reading.place_of(record) for record in samples})
    spoken = Scores(ledger.tally, rules).languages
    judges, judged = config.index.judges, any(part.benchmark == hle.NAME for part in data)
    if judged:
        metrics = hle.with_exam(metrics, watch.exam.exam, ledger, rules, judges)
    beside: list[Section] = []
    files: dict[str, Iterable[Any]] = {}
    if watch.differences:
        metrics = watch.differences.marked(metrics, rules)
        beside = [watch.differences.section(metrics)]
        files = {graders.FILE: graders.differing(journal)}
    view = View(
        ledger.tally,
        metrics,
        rules,
        asked=[part.benchmark for part in data],
        chances={it.benchmark: guessing.score(it.benchmark, spoken(it.benchmark)) for it in data},
    )
    about = {
        part.benchmark: conditions.about(
            part,
            repeats_of(config, part.benchmark),
            view.chances[part.benchmark],
            grading_of(config, part.benchmark),
        )
        for part in data
    }
    limits = token_limits.about(config, ledger.tally)
    shown = columns(view)
    exam = list(hle.sections(view, watch.exam.exam, judges)) if judged else []
    how = [
        conditions.deviations_section(config, data),
        *exam,
        *beside,
        *watch.programs.sections(models),
        conditions.questions(about),
        models_asked.section(shown_of(config, data), lowered=token_limits.in_words(limits)),
        reading.section(samples, rows, asking_of(config), withheld(data)),
    ]
    units = len(ledger.done)
    answer = headline(view, shown[0].key, *_missing(config, data))
    return Outcome(
        answer=answer,
        metrics=metrics,
        counts={model: ledger.tally.counts(model) for model in models},
        failures=ledger.failures,
        accepted=config.index.accept_failures,
        mute=hle.mute(watch.exam.exam, judges, ledger.failures),
        columns=shown,
        sections=list(sections(view.ranked_by(shown[0].key), shown[0], how)),
        units=readable(data, journal, asking_of(config), withheld(data)),
        joint=together(Scores(ledger.tally, rules), metrics, shown[0].key),
        files=files,
        about={
            "reused": ledger.reused,
            **({"grader": config.index.grader} if watch.differences else {}),
            "data": about,
            **watch.programs.told(),
            **limits,
            **referees.referee_results(config, data),
            **conditions.deviations(config, data),
            **conditions.listed_deviations(config, data),
        },
        settings=conditions.settings(config) | _settings(config, data),
        notes={
            **({"Headline": answer} if answer else {}),
            **({"Grader": graders.NOTE} if watch.differences else {}),
            **conditions.narrowed(config, data),
            **token_limits.notes(limits),
            **watch.programs.notes(),
            **(hle.notes(watch.exam.exam, models, judges) if judged else {}),
            **conditions.closing(config, data, ledger.reused, units),
        },
    )


def _settings(config: Config, data: Prepared) -> dict[str, str]:
    """Return the index's own settings that the numbers depend on, in words."""
    checker = {"checker of mathematics": config.index.checker or "none: the script alone decides"}
    return {
        **(checker if referees.checked_benchmarks(data) else {}),
        "indices that lack benchmarks": "made of what there is (partial)"
        if config.index.partial
        else "refused",
    }


def _missing(config: Config, data: Prepared) -> tuple[list[str], list[str]]:
    """Return what the Intelligence Index lacks for want of a judge, and what else it lacks."""
    left_out = [] if config.index.judges else data.left_out
    unjudged = [name for name in left_out if benchmarks.load(name).judged]
    known = {*unjudged, *(part.benchmark for part in data)}
    return unjudged, [name for name in indices.constituents("intelligence") if name not in known]


def _ruled_languages(data: Prepared) -> dict[str, Sequence[str]]:
    """Return the languages that an index averages over, whichever were asked for."""
    several = (part for part in data if len(benchmarks.load(part.benchmark).languages) > 1)
    return {part.benchmark: INDEX_LANGUAGES for part in several}
