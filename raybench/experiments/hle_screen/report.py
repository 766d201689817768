"""What a screening's report shows: the funnel, why candidates fail, the panel, the evidence."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from raybench.benchmarks.parts.hle.exam import Exam
from raybench.benchmarks.parts.hle.screening import attempts
from raybench.benchmarks.parts.hle.screening.rubric import GOOD
from raybench.config import HleScreenConf
from raybench.experiments.hle.report import fates
from raybench.experiments.hle_screen import sets
from raybench.experiments.hle_screen.audits import Audit
from raybench.experiments.hle_screen.batch import Batch
from raybench.experiments.hle_screen.closing_notes import last_audit
from raybench.experiments.hle_screen.register import Register
from raybench.experiments.hle_screen.sets import Screened
from raybench.experiments.parts import supported
from raybench.experiments.parts.questions import scores
from raybench.experiments.parts.questions.supported import orders
from raybench.experiments.parts.questions.view import View
from raybench.pipeline import revisions
from raybench.pipeline.screenings import STATE_LABELS
from raybench.statements import Statement
from raybench.stats import intervals
from raybench.tracking import plots
from raybench.tracking.leaderboard import Column
from raybench.tracking.report import Section, Table
from raybench.types import Estimate

NAME = attempts.NAME
ACCURACY, ANSWERED = f"{NAME}/accuracy", f"{NAME}/answered"
COLUMNS = (Column(ACCURACY, "Accuracy on candidates"), Column(ANSWERED, "Answered"))
FUNNEL, REVIEWED = "What became of the candidates", "What reviewers decided"
STATES, SEARCH = "The questions of the dataset, by state", "Which questions a search finds"
AUDITS = "How often experts disagree"
"""Titles of sections."""
_MOST = 2000
"""Candidates whose evidence is on the page; the files have that of all."""
_MEANINGS: Mapping[str, str] = {
    "candidate": "the panel could not decide: too few attempts have a verdict",
    "passed_panel": "passed the panel and waits for round 1 of review",
    "first_round": "has good scores in round 1 and waits for round 2",
    "to_audit": "approved, but a model with search tools answered it: a reviewer has to search for "
    "the answer (round 3)",
    "approved": "approved; the next revision has it",
    "published": "published in the newest revision",
    "held_out": "held out in the newest revision",
    "revise": "a reviewer asks for changes; a changed version may come back as a candidate with "
    "the same id",
    "low_score": f"the mean score of a round is below {GOOD}: not published; a changed version may "
    "come back as a candidate with the same id",
    "rejected": "answered by the panel, or rejected by reviewers: not published",
}
_HOW = Statement(
    "screening.answered",
    "share of candidates that the model answered correctly in at least one attempt, of those with "
    "a verdict on at least one of its attempts, Wilson",
)
BIAS = (
    "Accuracies are over all candidates that were tried. Candidates pass because this panel failed "
    "them. Its accuracy on them is therefore near 0 and cannot be compared with the accuracy of "
    "other models."
)


def with_answered(
    metrics: Mapping[str, Mapping[str, Estimate]], those: Sequence[Screened]
) -> dict[str, dict[str, Estimate]]:
    """Return metrics with the share of candidates that each model answered in any attempt.

    Those count on which it has a verdict; without any there is no share, which is not one of 0.
    """
    found = {}
    for model, held in metrics.items():
        counted = [each for each in those if _has_verdict(each, model)]
        answered = sum(model in each.outcome.answered for each in counted)
        share = intervals.share(answered, len(counted), over="candidates on which it has a verdict")
        if counted:
            share = replace(share, method=_HOW)
        found[model] = {**held, ANSWERED: share} if those else dict(held)
    return found


def _has_verdict(each: Screened, model: str) -> bool:
    verdicts = each.tried.verdicts.get(model, [])
    return model in each.outcome.models and any(it is not None for it in verdicts)


def sections(
    conf: HleScreenConf,
    view: View,
    exam: Exam,
    batch: Batch,
    those: Sequence[Screened],
    register: Register,
) -> Iterator[Section]:
    """Yield the sections of what came out."""
    if those:
        yield Section(supported.TITLE, _support(view, those))
    if batch.entries:
        yield _funnel(batch, those, register)
    if register.entries:
        yield _states(register)
    if kinds := batch.kinds():
        yield Section(
            "Why candidates are invalid",
            f"{sets.INVALID} lists every reason of each candidate, with its fix.",
            table=Table(
                ("reason", "candidates", "the first of them"),
                [(kind, len(of), of[0].place) for kind, of in kinds],
                caption="A candidate may have several reasons.",
            ),
        )
    if those:
        yield _panel(view, those)
        if conf.search:
            yield _search(conf, those)
        yield scores.benchmark(view, NAME)
        yield fates.section(view, exam)
        yield _evidence(those)
    if batch.reviews.filled:
        yield _reviews(batch, register)


def _support(view: View, those: Sequence[Screened]) -> str:
    """Say how many candidates pass, by whom, and what is told of the panel."""
    passed, undecided = (len(sets.of(those, name)) for name in ("accepted", "undecided"))
    share = intervals.share(passed, len(those), over="candidates that were tried")
    ends = f", 95 % from {share.ci95[0]:.0%} to {share.ci95[1]:.0%}" if share.ci95 else ""
    left = f"; {undecided:,} are undecided" if undecided else ""
    rated = [it for it in view.ranked if view.metrics[it][ACCURACY].value is not None]
    held = orders(view, ACCURACY) if rated[1:] else ""
    return Statement(
        "screening.support",
        "{passed:,} of {tried:,} candidates that were tried pass this panel "
        "({share:.0%}{ends}; models on the panel: {models}){left}. Other models may answer "
        "them.{panel}",
        passed=passed,
        tried=len(those),
        models=len(view.ranked),
        share=passed / len(those),
        ends=ends,
        left=left,
        panel=f" Of the panel, on all candidates: {held}" if held else "",
        undecided=undecided,
        orders=held,
    )


def _funnel(batch: Batch, those: Sequence[Screened], register: Register) -> Section:
    accepted = sets.of(those, "accepted")
    parts = Counter(register.there.get(each.key) for each in accepted)
    candidates, tried, passed = len(batch.entries), len(those), len(accepted)
    steps = (
        ("candidates", candidates, None, ""),
        ("valid", len(batch.valid), candidates, "candidates"),
        ("tried", tried, candidates, "candidates"),
        ("passed the panel", passed, tried, "those tried"),
        ("answered by the panel", len(sets.of(those, "rejected")), tried, "those tried"),
        ("undecided", len(sets.of(those, "undecided")), tried, "those tried"),
        ("wait for review", parts[None], passed, "those that passed"),
        ("published", parts["public"], passed, "those that passed"),
        ("held out", parts["private"], passed, "those that passed"),
        ("held out, late", parts["late"], passed, "those that passed"),
    )
    return Section(
        FUNNEL,
        "",
        table=Table(
            ("", "questions", "share", "of"),
            [
                (step, count, count / total if total else None, of or None)
                for step, count, total, of in steps
            ],
            caption="Undecided: too few attempts have a verdict. Run again to ask for missing "
            "replies. Raise max_tokens if replies were cut off, or count those as no answer with "
            "accept_failures=true.",
        ),
    )


def _panel(view: View, those: Sequence[Screened]) -> Section:
    rows = []
    for model in view.ranked:
        counted = [each for each in those if model in each.outcome.models]
        verdicts = [it for each in counted for it in each.tried.verdicts[model]]
        alone = sum(each.outcome.answered == (model,) for each in counted)
        rows.append(
            (
                model,
                len(counted),
                sum(model in each.outcome.answered for each in counted),
                alone,
                len(verdicts),
                sum(it is True for it in verdicts),
                sum(it is None for it in verdicts),
            )
        )
    return Section(
        "The panel",
        BIAS,
        figure=plots.bars(
            {
                column.title: {it: view.metrics[it][column.key].to_json() for it in view.ranked}
                for column in COLUMNS
            },
            "share of candidates",
        ),
        table=Table(
            ("model", "candidates", "answered", "alone", "attempts", "right", "without a verdict"),
            rows,
            caption="Answered: in any attempt. Alone: no other model of the panel answered it.",
        ),
    )


def _evidence(those: Sequence[Screened]) -> Section:
    rows = [
        (
            each.key,
            each.outcome.decision,
            "held out" if each.hidden and each.outcome.decision == "accepted" else None,
            f"{each.outcome.right} of {each.outcome.attempts}",
            each.evidence,
        )
        for decision in sets.DECISIONS
        for each in sets.of(those, decision)
    ]
    more = len(rows) - _MOST
    return Section(
        "The evidence",
        f"The first {_MOST:,} candidates; the files have the other {more:,}." if more > 0 else "",
        table=Table(("candidate", "decision", "", "right attempts", "evidence"), rows[:_MOST]),
        folded=f"The evidence on {min(len(rows), _MOST):,} candidates",
    )


def search(conf: HleScreenConf, those: Sequence[Screened]) -> dict[str, Any] | None:
    """Return what results.json says of the search check; None where there was none."""
    if not conf.search or not those:
        return None
    accepted = sets.of(those, "accepted")
    return {
        "pairs": dict(conf.search),
        "checked": len(accepted),
        "searchable": [it.key for it in accepted if any(it.searched.values())],
        "unknown": sum(
            None in it.searched.values() and not any(it.searched.values()) for it in accepted
        ),
    }


def _search(conf: HleScreenConf, those: Sequence[Screened]) -> Section:
    accepted = sets.of(those, "accepted")
    rows = []
    for searching, plain in conf.search.items():
        found = [it.searched[searching] for it in accepted]
        rows.append((searching, plain, len(found), found.count(True), found.count(None)))
    return Section(
        SEARCH,
        "A question is potentially searchable if a model with search tools answers it and the same "
        "model without them does not. It is approved only after a reviewer searched for the answer "
        "and did not find it (round 3 of the review sheet).",
        table=Table(
            ("with search tools", "without", "passed the panel", "searchable", "no verdict"), rows
        ),
    )


def audits(audited: Sequence[Audit]) -> Iterator[Section]:
    """Yield the section of the audits, if there are any."""
    if not audited:
        return
    rows = [
        (
            it.number,
            it.revision,
            len(it.verdicts),
            it.audited,
            it.counts["flagged"],
            it.counts["overruled"],
            it.disagreement,
            it.by_one,
        )
        for it in audited
    ]
    yield Section(
        AUDITS,
        last_audit(audited),
        table=Table(
            (
                *("audit", "revision", "drawn", "audited", "flagged, no consensus"),
                *("flagged, then accepted", "disagreement", "flagged by one auditor"),
            ),
            rows,
            caption="Disagreement: of the audited questions, those that an auditor flagged and no "
            "consensus accepted. Intervals: Wilson, over the questions drawn.",
        ),
    )


def _states(register: Register) -> Section:
    """Return how many questions of the whole dataset are in which state."""
    counts = register.counts()
    return Section(
        STATES,
        "",
        table=Table(
            ("state", "questions", "meaning"),
            [(STATE_LABELS[name], count, _MEANINGS[name]) for name, count in counts.items()],
            caption="All questions of the dataset, whichever screening they come from. "
            f"{revisions.STATES} in its folder has the state of each, with the reason.",
        ),
    )


def _reviews(batch: Batch, register: Register) -> Section:
    return Section(
        REVIEWED,
        register.note(batch.reviews),
        table=Table(
            ("question", "state", "reason", "reviews", "disagreements"),
            [
                (
                    it["id"],
                    STATE_LABELS[it["state"]],
                    it["why"],
                    it["reviews"],
                    "; ".join(it["disagreements"]) or None,
                )
                for it in register.lines(batch.reviews)
                if it["state"]
            ],
        ),
        folded=f"{len(batch.reviews.filled):,} questions on the sheets",
    )


def settings(conf: HleScreenConf, those: Sequence[Screened]) -> dict[str, str]:
    """Return the screening's own settings that what came out depends on, in words."""
    always = {
        "candidates": conf.candidates or "none: only reviews were read",
        "review": "two rounds; only approved questions are published"
        if conf.review == "required"
        else "skipped: questions that pass the panel are published without it",
    }
    if not those:
        return always
    return always | {
        "rule": conf.rule.replace("_", " "),
        "share held out": "all, as late contributions" if conf.late else f"{conf.private:g}",
        "system prompt of the exam": conf.prompt,
        "replies that were cut off before an answer": "count as no answer"
        if conf.accept_failures
        else "leave a question undecided",
    }
