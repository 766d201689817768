"""The last lines of a screening in the terminal: its outcome, its files, and what is next."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from raybench.config import Config
from raybench.experiments.hle_screen import caveats, next_steps, sets
from raybench.experiments.hle_screen.audits import Audit
from raybench.experiments.hle_screen.batch import Batch
from raybench.experiments.hle_screen.publication import Published
from raybench.experiments.hle_screen.register import Register
from raybench.experiments.hle_screen.sets import Screened
from raybench.experiments.hle_screen.sheets import Sheet
from raybench.pipeline import revisions
from raybench.pipeline.revisions import Part, Revision
from raybench.pipeline.screenings import in_words
from raybench.statements import Statement
from raybench.tracking.console import counted

_HELD_OUT: Mapping[Part, str] = {"private": "", "late": " as late contributions"}


def notes(
    config: Config,
    batch: Batch,
    those: Sequence[Screened],
    published: Published,
    run: Path,
    written: Sequence[Sheet],
) -> dict[str, str]:
    """Return the lines at the end, by short names."""
    register = published.register
    accepted, rejected, undecided = (sets.of(those, name) for name in sets.DECISIONS)
    parts, revision = Counter(register.there.get(each.key) for each in accepted), register.newest
    there = [*(f"{it}.jsonl" for it in sets.DECISIONS if those), sets.INVALID]
    found = {
        "Candidates": _candidates(batch, len(those)) if batch.entries else "",
        "Passed": _passed(len(accepted), parts, rejected=len(rejected), undecided=len(undecided))
        if those
        else "",
        "Sets": f"{', '.join(there)} in {run}" if batch.entries else "",
        "Removed": _removed(batch) if batch.standing.removed else "",
        "Reviews": register.note(batch.reviews) if batch.reviews.filled else "",
        "Questions": _questions(config, register) if register.entries else "",
        "Revision": _revision(config, run, revision),
        "Review": caveats.review(config) if those or config.hle_screen.review == "skip" else "",
        "Search": caveats.search(config) if those else "",
        "Still there": _left(batch, register, accepted),
        "Audit": last_audit(published.audits),
        "Back to review": _back(published.left),
        "Beware": "; ".join(batch.caveats(config)) if those else "",
        **next_steps.notes(config, register, written),
    }
    return {name: text for name, text in found.items() if text}


def last_audit(audits: Sequence[Audit]) -> str:
    """Say how often experts disagree, by the newest audit; '' where there is none."""
    if not audits:
        return ""
    audit = audits[-1]
    rate = audit.disagreement
    if rate.value is None or rate.ci95 is None:
        return Statement(
            "screening.audit_drawn",
            "Audit {number}: {drawn:,} question{s} drawn from revision {revision}, none audited "
            "yet",
            number=audit.number,
            drawn=len(audit.verdicts),
            s="s" * (len(audit.verdicts) != 1),
            revision=audit.revision,
        )
    return Statement(
        "screening.disagreement",
        "Audit {number}: experts disagree with {disagreement:.1%} (95 % from {low:.1%} to "
        "{high:.1%}) of {audited:,} audited questions, {drawn:,} drawn from revision {revision}; "
        "{flagged:,} flagged questions have no consensus yet and count as disagreement",
        number=audit.number,
        disagreement=rate.value,
        low=rate.ci95[0],
        high=rate.ci95[1],
        audited=audit.audited,
        drawn=len(audit.verdicts),
        revision=audit.revision,
        flagged=audit.counts["flagged"],
    )


def _back(left: Sequence[str]) -> str:
    if not left:
        return ""
    return Statement(
        "screening.back_to_review",
        "{counted} published by an earlier revision without an approval: not in this revision, and "
        "waiting for review",
        counted=counted(len(left), "question"),
        questions=len(left),
    )


def _candidates(batch: Batch, tried: int) -> str:
    untried = len(batch.valid) - tried
    return Statement(
        "screening.batch",
        "{candidates:,} candidate{s}; tried by the panel: {tried:,}; invalid: "
        "{invalid:,}{reasons}{left}",
        candidates=len(batch.entries),
        s="s" * (len(batch.entries) != 1),
        tried=tried,
        invalid=len(batch.invalid),
        reasons=f" ({sets.INVALID} has the reasons)" if batch.invalid else "",
        left=f"; valid, but not tried: {untried:,}" if untried else "",
    )


def _passed(accepted: int, parts: Counter[Part | None], *, rejected: int, undecided: int) -> str:
    return Statement(
        "screening.passed",
        "{accepted:,} candidate{s} passed the panel (waiting for review: {waiting:,}; published: "
        "{published:,}; held out: {private:,}; held out as late contributions: {late:,}). Answered "
        "by the panel and rejected: {rejected:,}. Undecided: {undecided:,}",
        accepted=accepted,
        s="s" * (accepted != 1),
        waiting=parts[None],
        published=parts["public"],
        private=parts["private"],
        late=parts["late"],
        rejected=rejected,
        undecided=undecided,
    )


def _questions(config: Config, register: Register) -> str:
    counts = register.counts()
    return Statement(
        "screening.questions",
        "the dataset has {questions:,} question{s} ({states}); {file} has the state of each",
        questions=(questions := sum(counts.values())),
        s="s" * (questions != 1),
        states=in_words(counts),
        file=f"{config.hle_screen.dataset}/{revisions.STATES}",
        counts=counts,
    )


def _removed(batch: Batch) -> str:
    return Statement(
        "screening.removed",
        "{counted} removed from the dataset, by the decision of reviewers",
        counted=counted(questions := len(batch.standing.removed), "question"),
        questions=questions,
    )


def _revision(config: Config, run: Path, revision: Revision | None) -> str:
    if revision is None:
        return Statement("screening.no_revision", "none yet: no question is approved")
    return Statement(
        "screening.revision",
        "{number}{same}: {counted} published in {folder}{held_out}{unreviewed}{unsearched}",
        number=revision.number,
        same="" if revision.about["run"] == run.name else " (unchanged)",
        counted=counted(len(revision.public), "question"),
        folder=revision.folder,
        held_out="".join(
            f", {len(rows):,} held out{label} in "
            f"{config.hle_screen.dataset}/{revisions.FOLDERS[part]}/{revision.folder.name}"
            for part, label in _HELD_OUT.items()
            if (rows := revision.parts[part])
        ),
        public=len(revision.public),
        private=len(revision.private),
        late=len(revision.late),
        unreviewed=f"; {len(revision.unreviewed):,} of them without an approval (review=skip)"
        if revision.unreviewed
        else "",
        unsearched=f"; {lacking:,} of them were not checked with a search"
        if (lacking := len(revision.rows) - revision.about.get("searched", 0))
        else "",
    )


def _left(batch: Batch, register: Register, accepted: Sequence[Screened]) -> str:
    """Name what an earlier conclusion of this run published that this one does not accept."""
    before = {str(row["id"]) for row in batch.standing.rows}
    own = register.there.keys() & batch.valid.keys()
    left = sorted(own - before - {each.key for each in accepted})
    if not left:
        return ""
    return Statement(
        "screening.still_there",
        "{counted} accepted by this run when it was concluded with other settings, and still in "
        "the dataset: {names}. A review sheet that rejects a question removes it",
        counted=counted(len(left), "question"),
        questions=len(left),
        names=", ".join(left),
    )
