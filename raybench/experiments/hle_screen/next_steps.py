"""What people do after a screening: review, hand in, revise, or hold the exam; with the commands.

Each step is shown only while there is something to do in it, so that the lines after the first
round differ from those after the second, and from those of a dataset that needs no review.
"""

from collections.abc import Mapping, Sequence

from raybench.benchmarks.parts.hle.screening.rubric import (
    APPROVAL,
    AUDIT,
    FEEDBACK,
    GOOD,
    ROUNDS,
    SEARCH,
)
from raybench.config import Config
from raybench.experiments.hle_screen.register import Register
from raybench.experiments.hle_screen.sheets import Sheet
from raybench.pipeline import screenings
from raybench.pipeline.revisions import FOLDERS, Part, Revision
from raybench.statements import Statement
from raybench.tracking.console import counted

_NAMED = 5
"""Questions that a line names one by one."""
_DECLINED: Mapping[str, str] = {
    "revise": "to be revised",
    "low_score": f"mean score below {GOOD}",
    "rejected": "rejected by reviewers",
}
"""States in which reviewers leave a question that is not published."""
_AGAIN = ("candidates=FILE", "roster=ROSTER", "'judges=[JUDGE]'")


def notes(config: Config, register: Register, written: Sequence[Sheet]) -> dict[str, str]:
    """Return the lines by short names; those of steps in which nothing is to be done are empty."""
    return {
        "Declined": _declined(config, register),
        "Sheets": _sheets(config, written),
        **_rounds(config, written),
        "Hand in": _hand_in(config, written),
        "Next": _nothing_waits(register) if not written and register.entries else "",
        "Exam": _exam(config, register.newest),
    }


def hand_in(config: Config, written: Sequence[Sheet]) -> str:
    """Return the command that takes the sheets back."""
    return screenings.hand_in_command(
        [sheet.path for sheet in written],
        dataset=config.hle_screen.dataset,
        runs_dir=config.runs_dir,
    )


def _sheets(config: Config, written: Sequence[Sheet]) -> str:
    if not written:
        return ""
    guides = dict.fromkeys(str(sheet.guide) for sheet in written)
    return Statement(
        "screening.sheets",
        "review sheets{optional}: {files}. Instructions for the reviewers: {guides}",
        optional=" (optional: review=skip publishes without reviews)"
        if config.hle_screen.review == "skip"
        else " to fill in",
        files=" and ".join(
            f"{it.path} (questions: {it.questions:,}"
            f"{', held out: keep this sheet confidential' if it.held_out else ''})"
            for it in written
        ),
        guides=" and ".join(guides),
        sheets=[str(it.path) for it in written],
    )


def _rounds(config: Config, written: Sequence[Sheet]) -> dict[str, str]:
    """Return who does what, for each round that is on the sheets and begins now."""
    turns = {turn: sum(it.rounds[turn] for it in written) for turn in ROUNDS}
    if config.hle_screen.review == "skip":  # these reviews need not be made
        turns |= dict.fromkeys((FEEDBACK, APPROVAL, SEARCH), 0)
    first, search, audit = (turns[it] for it in (FEEDBACK, SEARCH, AUDIT))
    # A question whose first round is open has a row of the second round, too.
    second = turns[APPROVAL] - first
    return {
        "Round 1": Statement(
            "next.first_round",
            "{counted}: fill in the rows with round=1, {rows} for each question and one per "
            "reviewer. Rows with round=2 may stay blank: the next sheet asks for them",
            counted=counted(first, "question"),
            questions=first,
            rows=config.hle_screen.reviewers,
        )
        if first
        else "",
        "Round 2": Statement(
            "next.second_round",
            "{counted}: an organizer or an expert fills in the rows with round=2. The column notes "
            "has the reviews of round 1. Accepted questions are published at the hand-in",
            counted=counted(second, "question"),
            questions=second,
        )
        if second
        else "",
        "Round 3": Statement(
            "next.search",
            "{counted}: a reviewer searches the web for the answer and fills in the rows with "
            "round=3",
            counted=counted(search, "question"),
            questions=search,
        )
        if search
        else "",
        "To audit": Statement(
            "next.audit",
            "{counted} of those published: experts solve them and fill in the rows with round=4",
            counted=counted(audit, "question"),
            questions=audit,
        )
        if audit
        else "",
    }


def _hand_in(config: Config, written: Sequence[Sheet]) -> str:
    if not written:
        return ""
    return Statement(
        "screening.hand_in",
        "when the sheets are filled in, run\n{command}",
        command=hand_in(config, written),
    )


def _nothing_waits(register: Register) -> str:
    if any(it.panel == "accepted" for it in register):
        return Statement("next.no_reviews", "no question waits for a review")
    return Statement("next.none_passed", "no question passed the panel: there is nothing to review")


def _declined(config: Config, register: Register) -> str:
    """Say which questions reviewers did not accept, and how a changed one comes back."""
    # Without required reviews, only rejected questions leave what is published.
    left = sorted(register.dropped - register.there.keys())
    keys = {
        state: [it for it in left if register.entries[it].decided.state == state]
        for state in _DECLINED
    }
    listed = [
        f"{label}: {len(keys[state]):,} ({_some(keys[state])})"
        for state, label in _DECLINED.items()
        if keys[state]
    ]
    if not listed:
        return ""
    return Statement(
        "next.declined",
        "{listed}. These questions are not published; the sheets have the reviewers' comments. "
        "An unchanged question is refused. After its author changed it, a question may come back "
        "under the same id, and passes the panel and both rounds again{hint}:\n{command}",
        listed="; ".join(listed),
        command=screenings.screen_command(
            *_AGAIN, dataset=config.hle_screen.dataset, runs_dir=config.runs_dir
        ),
        hint=screenings.TO_FILL_IN,
        questions=keys,
    )


def _some(keys: Sequence[str]) -> str:
    more = f" and {len(keys) - _NAMED:,} more" if len(keys) > _NAMED else ""
    return f"{', '.join(keys[:_NAMED])}{more}"


def _exam(config: Config, revision: Revision | None) -> str:
    if revision is None or not revision.rows:
        return ""
    dataset, part = config.hle_screen.dataset, _asked(revision)
    if part == "public":
        return Statement(
            "next.exam",
            "an exam over the published questions{hint}:\n{command}",
            hint=screenings.TO_FILL_IN,
            command=screenings.exam_command(dataset, runs_dir=config.runs_dir),
        )
    return Statement(
        "next.exam_held_out",
        "revision {number} publishes no question; this asks the held-out ones{hint}:\n{command}",
        hint=screenings.TO_FILL_IN,
        number=revision.number,
        command=screenings.held_out_command(
            f"{dataset}/{FOLDERS[part]}/{revision.folder.name}", runs_dir=config.runs_dir
        ),
        part=part,
    )


def _asked(revision: Revision) -> Part:
    """Return the first part that has questions."""
    return next((part for part, rows in revision.parts.items() if rows), "public")
