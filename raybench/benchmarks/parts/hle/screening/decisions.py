"""What reviewers decided: a filled-in sheet, read back."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from raybench.benchmarks.parts.hle.screening.review import SheetError
from raybench.benchmarks.parts.hle.screening.rubric import (
    ANSWERS,
    APPROVAL,
    CHECKS,
    DECISIONS,
    FEEDBACK,
    GIVEN,
    PROHIBITED,
    SCORES,
)
from raybench.statements import Statement

State = Literal["approved", "turned down", "to be revised", "open"]
"""What comes of a question. Prohibited content turns it down, whoever says so. Otherwise the second
round decides: approved where all who fill it in accept, turned down where one rejects. Before it,
all reviewers of the first must reject to turn a question down, those who have not spoken among
them; else it is to be revised where one asks for that or rejects, and open where all who spoke
accept: approval is the second round's."""
_NEEDED = ("id", "round", "reviewer", *CHECKS, *GIVEN)
_TOLD = 10
"""Mistakes that are told of; who made more mends those first."""
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


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of a question."""

    key: str
    state: State
    reviews: tuple[Review, ...]
    disagreements: tuple[str, ...]


def decisions(*sheets: Iterable[tuple[int, Mapping[str, str]]]) -> dict[str, Decided]:
    """Return what was decided of each question, by its id, in the order of the sheets.

    Raises SheetError, with the numbers of the rows, where values are none of the rubric's.
    """
    found: dict[str, list[Review]] = {}
    mistakes: list[str] = []
    # Reviewers may hand in a copy each: rows that are blank in one are filled in another.
    asked: Counter[str] = Counter()
    for sheet in sheets:
        there: Counter[str] = Counter()
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
                reviews = found.setdefault(key, [])
                reviews += [_review(row)] if _is_filled(row) else []
        asked |= there
    if mistakes:
        more = f"; and {len(mistakes) - _TOLD} more" if len(mistakes) > _TOLD else ""
        raise SheetError("; ".join(mistakes[:_TOLD]) + more)
    return {key: _decided(key, reviews, asked[key]) for key, reviews in found.items()}


def row_mistakes(row: Mapping[str, str]) -> Iterator[Statement]:
    """Yield which values of a row are none of the rubric's."""
    if not row["id"].strip():
        yield Statement("sheet.no_id", "'id' is empty: put back the question's")
    if _whole(row["round"]) not in (str(FEEDBACK), str(APPROVAL)):
        yield _no_value(row, "round", f"{FEEDBACK} or {APPROVAL}")
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


def _decided(key: str, reviews: Sequence[Review], asked: int) -> Decided:
    """Return what became of a question, of whose first round `asked` reviews were wanted."""
    state = _state(reviews, asked)
    return Decided(key, state, tuple(reviews), tuple(_disagreements(reviews)))


def _state(reviews: Sequence[Review], asked: int) -> State:
    if any(review.checks.get(PROHIBITED) == "yes" for review in reviews):
        return "turned down"
    first, second = (
        {review.decision for review in reviews if review.round == turn}
        for turn in (FEEDBACK, APPROVAL)
    )
    if second:
        if "reject" in second:
            return "turned down"
        return "approved" if second == {"accept"} else "to be revised"
    # Whoever signs two rows is one reviewer.
    spoken = {review.reviewer.casefold() for review in reviews if review.round == FEEDBACK}
    if first == {"reject"} and len(spoken) >= asked:
        return "turned down"
    return "to be revised" if first - {"accept"} else "open"


def _disagreements(reviews: Sequence[Review]) -> Iterator[str]:
    """Yield where reviewers say opposite things, and where one's decision is not what they say."""
    for turn in (FEEDBACK, APPROVAL):
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
                "round {round}: {reviewer} accepts without {lacking}",
                round=review.round,
                reviewer=review.reviewer,
                lacking=lacking,
            )
