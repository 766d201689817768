"""What came out of a screening: the sets, the next revision, sheets for reviewers, and numbers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from raybench import config as configuration
from raybench.benchmarks.parts import summary
from raybench.benchmarks.parts.hle.exam import Exam
from raybench.benchmarks.parts.hle.screening import attempts
from raybench.benchmarks.parts.scores import Rules
from raybench.config import Config
from raybench.experiments.hle.report import judges
from raybench.experiments.hle_screen import closing_notes, next_steps, report, sets, sheets
from raybench.experiments.hle_screen.audits import Audit
from raybench.experiments.hle_screen.batch import Batch
from raybench.experiments.hle_screen.publication import publish
from raybench.experiments.hle_screen.register import Register
from raybench.experiments.hle_screen.reviewed import FILE as REVIEWED
from raybench.experiments.hle_screen.sheets import Sheet
from raybench.experiments.parts import models as models_asked
from raybench.experiments.parts.outcome import Outcome
from raybench.experiments.parts.questions import conditions, reading, token_limits
from raybench.experiments.parts.questions.ledger import Ledger
from raybench.experiments.parts.questions.lookup import looked_up
from raybench.experiments.parts.questions.setup import repeats_of, shown_of
from raybench.experiments.parts.questions.units import HIDDEN
from raybench.experiments.parts.questions.units import units as readable
from raybench.experiments.parts.questions.view import View
from raybench.paths import expanded
from raybench.pipeline import revisions
from raybench.pipeline.datasets import Prepared
from raybench.pipeline.terms import asking_of
from raybench.tracking.report import Section
from raybench.types import ScreeningRule

NAME = attempts.NAME


def concluded(
    config: Config, batch: Batch, exam: Exam, data: Prepared, ledger: Ledger, journal: Path
) -> Outcome:
    """Publish what passed, write the sheets, and return what there is to say."""
    conf = config.hle_screen
    models = [model.name for model in config.roster.models]
    panel = configuration.panel(conf, config.roster)
    run = journal.parents[1]
    put: dict[str, Any] = {str(row["id"]): row for part in data for row in part.rows()}
    those = sets.screened(
        batch,
        put,
        attempts.of(exam, models, accepted=conf.accept_failures),
        conf,
        cast(ScreeningRule, conf.rule),  # `config.problems` has checked it
        config.seed,
    )
    published = publish(config, batch, those, run.name)
    register, audited = published.register, published.audits
    revision = register.newest
    written = _sheets(config, register, audited, run)
    rules = Rules({}, subjects=tuple(conf.subset), accepted=conf.accept_failures)
    # Where only reviews were read, nobody was asked: no model has a rank.
    ranked = panel if those else []
    found = report.with_answered(summary.metrics(ledger.tally, ranked, rules), those)
    hidden = {each.key for each in those if each.hidden}
    samples = [it for it in ledger.samples.chosen([NAME]) if str(it["key"]) not in hidden]
    _, rows = looked_up(data, {reading.place_of(record) for record in samples})
    about = {
        part.benchmark: conditions.about(part, repeats_of(config, part.benchmark), None)
        for part in data
    }
    view = View(ledger.tally, found, rules, [NAME], {NAME: None})
    if those:
        view = view.ranked_by(report.ACCURACY)
    limits = token_limits.about(config, ledger.tally)
    asked = (
        conditions.deviations_section(config, data),
        conditions.questions(about),
        models_asked.section(shown_of(config, data), lowered=token_limits.in_words(limits)),
        _read(reading.section(samples, rows, asking_of(config), []), hidden),
    )
    told: dict[str, Any] = {
        "candidates": len(batch.entries),
        "invalid": len(batch.invalid),
        "valid": len(batch.valid),
        "tried": len(those),
        **{name: len(sets.of(those, name)) for name in sets.DECISIONS},
        "private": sum(each.private for each in sets.of(those, "accepted")),
        "late": conf.late,
        "removed": sorted(batch.standing.removed),
        "back_to_review": list(published.left),
        "rule": conf.rule,
        "review": conf.review,
        "states": register.counts(),
        "search": report.search(conf, those),
        "audits": [it.told() for it in audited],
        "dataset": conf.dataset,
        "revision": revision.number if revision else None,
        "simulated": register.simulated,
        "sheets": [str(sheet.path) for sheet in written],
    }
    return Outcome(
        metrics=found,
        counts={model: ledger.tally.counts(model) for model in ranked},
        failures=list(sets.failures(ledger.failures, hidden)),
        accepted=conf.accept_failures,
        mute=judges.mute(exam, conf.judges, ledger.failures),
        columns=report.COLUMNS,
        sections=[
            *report.sections(conf, view, exam, batch, those, register),
            *report.audits(audited),
            *(asked if those else ()),
        ],
        units=readable(data, journal, asking_of(config), (), hidden) if those else None,
        files=sets.files(batch, those)
        | ({REVIEWED: list(register.lines(batch.reviews))} if batch.reviews.filled else {}),
        about={
            "screening": told,
            "reused": ledger.reused,
            "data": about,
            "judges": conf.judges if those else [],
            **limits,
            **(conditions.deviations(config, data) if those else {}),
            **conditions.listed_deviations(config, data),
        },
        settings=(conditions.settings(config) if those else {}) | report.settings(conf, those),
        notes={
            **(_asking(config, exam, data, ledger, limits) if those else {}),
            **closing_notes.notes(config, batch, those, published, run, written),
        },
    )


def _asking(
    config: Config, exam: Exam, data: Prepared, ledger: Ledger, limits: Mapping[str, Any]
) -> dict[str, str]:
    """Return what there is to say of how models were asked, by short names."""
    conf = config.hle_screen
    return {
        **conditions.narrowed(config, data),
        **token_limits.notes(limits),
        **judges.notes(exam, configuration.panel(conf, config.roster), conf.judges),
        **conditions.closing(config, data, ledger.reused, len(ledger.done)),
    }


def _read(section: Section, hidden: Collection[str]) -> Section:
    if not hidden:
        return section
    return replace(section, text=f"{section.text} {HIDDEN}")


def _sheets(config: Config, register: Register, audited: Sequence[Audit], run: Path) -> list[Sheet]:
    """Write the sheets of all that waits for review, and of the audit that this run drew.

    What is held out is reviewed where it lies.
    """
    private = expanded(config.hle_screen.dataset) / revisions.PRIVATE / "review" / run.name
    waiting = register.waiting
    halves = {
        run: [it for it in waiting if it.part == "public"],
        private: [it for it in waiting if it.part != "public"],
    }
    reviewers = config.hle_screen.reviewers
    found = [sheets.write(folder, of, reviewers) for folder, of in halves.items()]
    drawn = [register.entries[key] for it in audited if it.run == run.name for key in it.verdicts]
    found.append(sheets.write(run, drawn, reviewers, name=sheets.AUDITED))
    written = [sheet for sheet in found if sheet is not None]
    sheets.write_guides(written, next_steps.hand_in(config, written))
    return written
