"""Candidates for new questions, checked before any model is asked.

What a rule can tell is told here, all of a row at once and each with its mend. What needs a person
(is it original, solvable, not to be searched for, harmless?) stands on the review sheet.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from raybench.benchmarks.parts import rows
from raybench.benchmarks.parts.contract import Row
from raybench.benchmarks.parts.hle import images, options
from raybench.benchmarks.parts.hle.options import CHOICE, EXACT, LETTERS
from raybench.benchmarks.parts.hle.screening import closed, notes, plain, repeats
from raybench.statements import Statement

LEAST_OPTIONS = 5
COLUMNS = (
    *("id", "question", "image", "answer", "answer_type", "author_name", "rationale"),
    *("raw_subject", "category", "canary"),
)
"""The hub's, but for two that it makes of others or that hold images no model is shown."""
_AFFILIATION = "author_affiliation"
REQUIRED: Mapping[str, str] = {
    "id": "give one that no other question has",
    "question": "write the whole question, the options of multiple choice among it",
    "answer": "give the one right answer, or the letter of the right option",
    "answer_type": f"write {EXACT} or {CHOICE}",
    "rationale": "explain step by step why the answer is right and no other is",
    "raw_subject": "name the subject, as 'Number Theory'",
    "category": "name the field that the subject belongs to, as 'Math'",
    "author_name": "name the contributor",
}
"""What HLE requires, in the hub's columns, and what is to be done where it is missing. The hub has
no column for an affiliation, which HLE asks for: `author_affiliation` is kept where there is one,
and an empty one is a note."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row, why it cannot be a question, and what its reviewers should look at."""

    row: Mapping[str, str]
    """In the hub's columns, its texts trimmed: what the dataset takes."""
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    repeats: tuple[tuple[str, str], ...] = ()
    """Of the reasons those that another has its id or asks the same, behind that one's id."""

    @property
    def valid(self) -> bool:
        """Tell whether it can be put to the panel."""
        return not self.reasons


def check(
    candidates: Iterable[Row], existing: Iterable[Row] = (), *, alike: float = repeats.ALIKE
) -> list[Candidate]:
    """Return all candidates in their order; `existing` are questions of the dataset as it is.

    Of questions that say the same the first that is right otherwise stays.
    """
    there = list(candidates)
    known = [repeats.said(row) for row in existing]
    used = {each.key: "the dataset" for each in known}
    reasons: list[list[str]] = []
    same: list[list[tuple[str, str]]] = []
    for row in there:
        reasons.append(list(problems(row)))
        same.append([])
        if key := plain.text(row, "id"):
            if key in used:
                same[-1].append((key, _taken(key, used[key])))
            used.setdefault(key, "an earlier candidate")
    stays = [not (own or others) for own, others in zip(reasons, same, strict=True)]
    found = repeats.find(list(map(repeats.said, there)), known, stays=stays, alike=alike)
    for others, repeat in zip(same, found, strict=True):
        if repeat is not None:
            others.append((repeat.of, _repeated(repeat)))
    return [
        Candidate(
            in_columns(row),
            (*own, *(reason for _, reason in others)),
            tuple(notes.of(row)),
            tuple(others),
        )
        for row, own, others in zip(there, reasons, same, strict=True)
    ]


def in_columns(row: Row) -> dict[str, str]:
    """Return a row in the hub's columns, with its affiliation if it says one."""
    named = (*COLUMNS, _AFFILIATION) if _AFFILIATION in row else COLUMNS
    return {column: plain.text(row, column) for column in named}


def problems(row: Row) -> Iterator[str]:
    """Yield why a row by itself cannot be a question."""
    filled = {**dict.fromkeys(REQUIRED), **row}
    for column, mend in REQUIRED.items():
        if rows.empty(filled[column]):
            yield Statement(
                "candidate.required",
                "'{column}' is {how}: {mend}",
                column=column,
                how="empty" if column in row else "missing",
                mend=mend,
            )
        else:
            for problem in rows.blank(filled, column):
                yield Statement(
                    "candidate.no_text", "{problem}", problem=str(problem), column=column
                )
    for column, value in row.items():
        if isinstance(value, str) and not _is_text(value):
            yield Statement(
                "candidate.half_character",
                "'{column}' holds half a character (a lone surrogate): write it anew",
                column=column,
            )
    kind, question, answer = (plain.text(row, it) for it in ("answer_type", "question", "answer"))
    if kind not in ("", EXACT, CHOICE):
        yield Statement(
            "candidate.answer_type",
            "'answer_type' is '{kind}': {mend}",
            kind=kind,
            mend=REQUIRED["answer_type"],
        )
    if kind == EXACT and answer:
        yield from closed.answer(answer)
    if question:
        parted = options.parted(question)
        yield from closed.question(parted.stem, choice=kind == CHOICE)
        if kind == CHOICE:
            yield from _choice(parted.options, answer)
    yield from _rationale(row)
    if not rows.empty(shown := row.get("image")):
        try:
            images.decoded(shown if isinstance(shown, str) else repr(type(shown)))
        except ValueError as error:
            yield Statement("candidate.image", "'image' {why}", why=error.args[0])


def _choice(listed: Sequence[str], answer: str) -> Iterator[str]:
    if not listed:
        yield Statement(
            "candidate.no_options",
            "'question' lists no options: put each on a line of its own, 'A. …', 'B. …', behind a "
            "line 'Answer Choices:'",
        )
        return
    letters = LETTERS[: len(listed)]
    if len(listed) < LEAST_OPTIONS:
        yield Statement(
            "candidate.few_options",
            "'question' lists {options} options: give {least} or more",
            options=len(listed),
            least=LEAST_OPTIONS,
        )
    if answer and answer not in tuple(letters):
        bare = answer.strip("().: \t").upper()
        meant = f", as '{bare}'" if bare in tuple(letters) else ""
        yield Statement(
            "candidate.no_option",
            "'answer' is '{answer}', which is no option: give a letter, A to {last}{meant}",
            answer=answer,
            last=letters[-1],
            meant=meant,
        )
    first: dict[str, str] = {}
    for letter, option in zip(letters, listed, strict=True):
        # Options of an image may be letters alone, but then all of them.
        if not option and any(listed):
            yield Statement(
                "candidate.empty_option",
                "option {letter} is empty: fill it in or leave it out",
                letter=letter,
            )
        elif option and (same := first.setdefault(plain.exactly(option), letter)) != letter:
            yield Statement(
                "candidate.same_options",
                "options {one} and {other} are the same: change one of them",
                one=same,
                other=letter,
            )


def _rationale(row: Row) -> Iterator[str]:
    rationale, answer = plain.text(row, "rationale"), plain.text(row, "answer")
    if rationale and not plain.beyond(rationale, answer, plain.chosen(row)):
        yield Statement(
            "candidate.no_rationale",
            "'rationale' only repeats the answer: {mend}",
            mend=REQUIRED["rationale"],
        )


def _taken(key: str, by: str) -> str:
    return Statement(
        "candidate.id_taken", "'id' is '{id}', which {by} has already: give another", id=key, by=by
    )


def _repeated(repeat: repeats.Repeat) -> str:
    how = "asks the same as" if repeat.exact else f"is nearly the same ({repeat.share:.0%}) as"
    return Statement(
        "candidate.repeated",
        "'question' {how} question '{id}': leave it out, or ask for something else",
        how=how,
        id=repeat.of,
        exact=repeat.exact,
        share=repeat.share,
    )


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
