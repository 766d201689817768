"""What reviewers decided: a filled-in sheet, read back, and the state of each question.

As in HLE's two rounds, the first identifies good and outstanding questions, and the second approves
them. Only an approved question may be published.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any, Literal, Self

from raybench.benchmarks.parts.hle.screening import plain
from raybench.benchmarks.parts.hle.screening.review import SheetError
from raybench.benchmarks.parts.hle.screening.rubric import (
    ANSWERS,
    APPROVAL,
    CHECKS,
    CONSENSUS,
    DECISIONS,
    FEEDBACK,
    GIVEN,
    GOOD,
    PROHIBITED,
    ROUNDS,
    SCORES,
    SEARCH,
    SEARCHED,
)
from raybench.statements import Statement

State = Literal[
    "passed_panel", "first_round", "to_audit", "approved", "revise", "low_score", "rejected"
]
"""passed_panel: no first-round review with a score yet. first_round: its first round is good, and
the second has to approve it. to_audit: the second approved it, and nobody has searched the web yet
for what a model with a search answered. approved: the second round accepts it. The others are not
published: revise: a reviewer asks for changes, and no second round overrules that. low_score: the
mean score of a round is below `rubric.GOOD`. rejected: by the second round, by all reviewers of the
first, or for prohibited content."""
WAITING: tuple[State, ...] = ("passed_panel", "first_round", "to_audit")
"""States in which a question needs more reviews."""
_SAID: Mapping[str, str] = {
    "reject": "rejected by",
    "revise": "changes asked for by",
    "accept": "accepted by",
}
_NEEDED = ("id", "round", "reviewer", *CHECKS, *GIVEN)
_TOLD = 10
"""Mistakes that an error lists; it counts the others."""
_APART = 2
"""Scores of a round that lie so far apart are a disagreement."""


@dataclass(frozen=True, slots=True)
class Review:
    """One reviewer's row."""

    key: str
    round: int
    reviewer: str
    checks: Mapping[str, str]
    """yes, no or unsure, where answered."""
    score: int | None
    decision: str
    comments: str

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)

    @classmethod
    def of_json(cls, values: Mapping[str, Any]) -> Self:
        """Return the review that `to_json` made these values of."""
        return cls(**{name: values[name] for name in cls.__slots__})


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of a question."""

    key: str
    state: State
    why: Statement
    reviews: tuple[Review, ...]
    disagreements: tuple[str, ...]
    searchable: bool = False
    """A model found it by a search, and nobody has found that hard yet."""

    @property
    def rounds(self) -> tuple[int, ...]:
        """Return the rounds that it still takes."""
        if self.state not in WAITING:
            return ()
        taken = {"passed_panel": (FEEDBACK, APPROVAL), "first_round": (APPROVAL,)}
        return (*taken.get(self.state, ()), *((SEARCH,) if self.searchable else ()))


@dataclass(frozen=True, slots=True)
class Filled:
    """What sheets hold of one question."""

    rows: tuple[tuple[Mapping[str, str], Review], ...] = ()
    """Each review, and the row that shows what its reviewer read."""
    asked: int = 0
    """First-round reviews that a sheet has rows for."""


def read(*sheets: Iterable[tuple[int, Mapping[str, str]]]) -> dict[str, Filled]:
    """Return the reviews of each question, by its id, in the order of the sheets.

    What a reviewer writes in a later sheet replaces what they wrote about the same text in the same
    round. Raises SheetError, with the numbers of the rows, where the rubric lacks a value.
    """
    found: dict[str, list[tuple[Mapping[str, str], Review]]] = {}
    mistakes: list[str] = []
    # Reviewers may hand in a copy each: rows that are blank in one are filled in another.
    asked: Counter[str] = Counter()
    for sheet in sheets:
        there: Counter[str] = Counter()
        own: dict[str, list[tuple[Mapping[str, str], Review]]] = {}
        for number, row in sheet:
            if lacking := [repr(column) for column in _NEEDED if column not in row]:
                mistakes.append(
                    f"row {number}: lacks {', '.join(lacking)}: keep the sheet's columns, and its "
                    "first line"
                )
                break  # the others lack them, too
            wrong = list(row_mistakes(row))
            mistakes += [f"row {number}: {it}" for it in wrong]
            if not wrong:
                key = row["id"].strip()
                there[key] += _whole(row["round"]) == str(FEEDBACK)
                reviews = own.setdefault(key, [])
                reviews += [(row, _review(row))] if _is_filled(row) else []
        for key, reviews in own.items():
            renewed = {_by(row, review) for row, review in reviews}
            kept = [it for it in found.get(key, ()) if _by(*it) not in renewed]
            found[key] = [*kept, *reviews]
        asked |= there
    if mistakes:
        more = f"; and {len(mistakes) - _TOLD} more" if len(mistakes) > _TOLD else ""
        raise SheetError("; ".join(mistakes[:_TOLD]) + more)
    return {key: Filled(tuple(rows), asked[key]) for key, rows in found.items()}


def _by(row: Mapping[str, str], review: Review) -> tuple[int, str, str]:
    """Return the round and the reviewer of a row, and the text that it shows."""
    return review.round, review.reviewer.casefold(), plain.exactly(row.get("question", ""))


def decide(key: str, reviews: Sequence[Review], asked: int, *, searchable: bool = False) -> Decided:
    """Return what became of a question, whose sheet had `asked` rows of the first round.

    One that is potentially `searchable` is approved only once a person has searched in vain.
    """
    state, why = _state(reviews, asked)
    searched = [it for it in reviews if it.round == SEARCH]
    searchable = searchable and not any(it.checks.get(SEARCHED) == "yes" for it in searched)
    if state == "approved" and searchable:
        state = "to_audit"
        why = Statement(
            "review.to_audit", "potentially searchable: no reviewer has searched for it yet"
        )
    return Decided(key, state, why, tuple(reviews), tuple(_disagreements(reviews)), searchable)


def told(reviews: Sequence[Review]) -> Iterator[Statement]:
    """Yield what reviewers said, for those of the next round."""
    for review in reviews:
        yield Statement(
            "review.said",
            "round {round}, {reviewer}: {decision}{score}{comments}",
            round=review.round,
            reviewer=review.reviewer,
            decision=review.decision,
            score="" if review.score is None else f", score {review.score}",
            comments=f", {review.comments}" if review.comments else "",
        )


def row_mistakes(row: Mapping[str, str]) -> Iterator[Statement]:
    """Yield which values of a row are none of the rubric's."""
    if not row["id"].strip():
        yield Statement("sheet.no_id", "'id' is empty: put back the question's")
    if _whole(row["round"]) not in map(str, ROUNDS):
        yield _no_value(row, "round", f"{min(ROUNDS)} to {max(ROUNDS)}")
    if not _is_filled(row):
        return
    for column in CHECKS:
        if _word(row, column) not in ("", *ANSWERS):
            yield _no_value(row, column, f"{', '.join(ANSWERS)} or nothing")
    if _score(row) is None and row["score"].strip():
        yield _no_value(row, "score", f"{min(SCORES)} to {max(SCORES)}, or nothing")
    decision = _word(row, "decision")
    if not decision:
        yield _empty("decision", ", ".join(DECISIONS))
    elif decision not in DECISIONS:
        yield _no_value(row, "decision", ", ".join(DECISIONS))
    elif decision == "accept" and _word(row, PROHIBITED) == "yes":
        yield Statement(
            "sheet.accepts_prohibited",
            "accepts what has '{column}': reject it, or write no there",
            column=PROHIBITED,
        )
    if not row["reviewer"].strip():
        yield _empty("reviewer", "the reviewer's name")


def _no_value(row: Mapping[str, str], column: str, known: str) -> Statement:
    return Statement(
        "sheet.no_value",
        "'{column}' is '{given}': write {known}",
        column=column,
        given=row[column],
        known=known,
    )


def _empty(column: str, known: str) -> Statement:
    return Statement(
        "sheet.empty",
        "'{column}' is empty in a row that is filled in: write {known}",
        column=column,
        known=known,
    )


def _is_filled(row: Mapping[str, str]) -> bool:
    return any(row[column].strip() for column in (*CHECKS, *GIVEN))


def _word(row: Mapping[str, str], column: str) -> str:
    return row[column].strip().lower()


def _whole(cell: str) -> str:
    """Return a number's digits; a spreadsheet may have written 4 as 4.0."""
    return cell.strip().removesuffix(".0")


def _score(row: Mapping[str, str]) -> int | None:
    return next((score for score in SCORES if _whole(row["score"]) == str(score)), None)


def _review(row: Mapping[str, str]) -> Review:
    return Review(
        key=row["id"].strip(),
        round=int(_whole(row["round"])),
        reviewer=row["reviewer"].strip(),
        checks={column: word for column in CHECKS if (word := _word(row, column))},
        score=_score(row),
        decision=_word(row, "decision"),
        comments=row["comments"].strip(),
    )


def _state(reviews: Sequence[Review], asked: int) -> tuple[State, Statement]:
    first, second, last = (
        [review for review in reviews if review.round == turn]
        for turn in (FEEDBACK, APPROVAL, CONSENSUS)
    )
    approved = bool(second) and all(review.decision == "accept" for review in second)
    if stop := _rejected(reviews, first, last or second, asked):
        return "rejected", stop
    # An approval overrules a first round that asks for changes, as long as its scores are good.
    objecting = [it for it in (last or second or first) if it.decision != "accept"]
    if objecting:
        return "revise", _to_revise(last or second or first, asked)
    for turn, given in ((FEEDBACK, first), (APPROVAL, second)):
        scores: dict[str, list[int]] = {}
        for review in given:
            if review.score is not None:
                scores.setdefault(review.reviewer.casefold(), []).append(review.score)
        # A reviewer may fill in several rows, and counts once.
        if scores and (mean := fmean(map(fmean, scores.values()))) < GOOD:
            return "low_score", Statement(
                "review.low_score",
                "round {round}: the mean score is {score:.3g}, below {good}",
                round=turn,
                score=mean,
                good=GOOD,
            )
        if turn == FEEDBACK and not scores:
            return "passed_panel", _unreviewed(first, approved)
    if approved:
        return "approved", Statement(
            "review.approved", "approved by {reviewers}", reviewers=_names(second)
        )
    return "first_round", Statement(
        "review.first_round",
        "good scores in round 1 by {reviewers}; round 2 has to approve it",
        reviewers=_names(first),
    )


def _to_revise(reviews: Sequence[Review], asked: int) -> Statement:
    """Return who decided what in the round that decides, and how many of its rows are blank."""
    turn = reviews[0].round
    by_decision = {
        decision: _names(those)
        for decision in _SAID
        if (those := [it for it in reviews if it.decision == decision])
    }
    blank = max(0, asked - len(reviews)) if turn == FEEDBACK else 0
    return Statement(
        "review.revise",
        "round {round}: {said}{pending}",
        round=turn,
        said=", ".join(f"{_SAID[decision]} {names}" for decision, names in by_decision.items()),
        pending=f", {blank} of {asked} rows blank" if blank else "",
        by_decision=by_decision,
        blank=blank,
    )


def _unreviewed(first: Sequence[Review], approved: bool) -> Statement:
    if approved:
        return Statement(
            "review.second_alone",
            "round 2 accepts it, but round 1 gave it no score",
        )
    if first:
        return Statement(
            "review.no_score",
            "round 1 gave it no score (reviews: {reviews})",
            reviews=len(first),
        )
    return Statement("review.waiting", "waits for round 1")


def _rejected(
    reviews: Sequence[Review], first: Sequence[Review], last: Sequence[Review], asked: int
) -> Statement | None:
    """Return why a question is rejected; None where it is not. `last` decides beyond the first."""
    if prohibiting := [it for it in reviews if it.checks.get(PROHIBITED) == "yes"]:
        return Statement(
            "review.prohibited",
            "prohibited content, according to {reviewers}",
            reviewers=_names(prohibiting),
        )
    rejecting = [it for it in (last or first) if it.decision == "reject"]
    searched = [it for it in reviews if it.round == SEARCH]
    if finding := [it for it in searched if it.checks.get(SEARCHED) == "no"]:
        return Statement(
            "review.searchable",
            "easily found by a search, according to {reviewers}",
            reviewers=_names(finding),
        )
    # A blank row is a pending review. A reviewer may fill in several rows.
    all_rows = len(rejecting) == len(first) >= asked
    if rejecting and (last or all_rows):
        return Statement(
            "review.rejected",
            "round {round}: rejected by {reviewers}",
            round=rejecting[0].round,
            reviewers=_names(rejecting),
        )
    return None


def _names(reviews: Sequence[Review]) -> str:
    return ", ".join(sorted({review.reviewer for review in reviews}))


def _disagreements(reviews: Sequence[Review]) -> Iterator[str]:
    """Yield where reviewers say opposite things, and where one's decision is not what they say."""
    for turn in ROUNDS:
        same = [review for review in reviews if review.round == turn]
        told = sorted({review.decision for review in same}, key=DECISIONS.index)
        if len(told) > 1:
            yield Statement(
                "disagreement.decisions",
                "round {round}: some {decisions}",
                round=turn,
                decisions=", some ".join(told),
            )
        scores = [review.score for review in same if review.score is not None]
        if scores and max(scores) - min(scores) >= _APART:
            yield Statement(
                "disagreement.scores",
                "round {round}: scores from {low} to {high}",
                round=turn,
                low=min(scores),
                high=max(scores),
            )
    for column in CHECKS:
        said = {review.checks.get(column) for review in reviews}
        if said >= {"yes", "no"}:
            yield Statement("disagreement.check", "'{column}': some yes, some no", column=column)
    for review in reviews:
        doubts = [it for it, said in review.checks.items() if said == "no" and it != PROHIBITED]
        if review.decision == "accept" and doubts:
            lacking = ", ".join(doubts)
            yield Statement(
                "disagreement.doubts",
                "round {round}: {reviewer} accepts it and answers no to {lacking}",
                round=review.round,
                reviewer=review.reviewer,
                lacking=lacking,
            )
