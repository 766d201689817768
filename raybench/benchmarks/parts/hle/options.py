"""The options of a multiple-choice question, which HLE lists inside the question's text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import Any, NamedTuple

from raybench.statements import Statement

LETTERS = ascii_uppercase
EXACT, CHOICE = "exactMatch", "multipleChoice"
"""The types of answers."""

_HEADING = re.compile(r"^[ \t]*answer (?:choices|options)[ \t]*:", re.IGNORECASE | re.MULTILINE)
_MARK = re.compile(
    # 'A. x' wants no letter or digit behind its stop: 'U.S.', 'A.5' begin no option.
    r"^[ \t]*(?:\((?P<round>[A-Z])\)|(?P<half>[A-Z])\)|(?P<stop>[A-Z])\.(?!\w))",
    re.MULTILINE,
)


class _Mark(NamedTuple):
    letter: str
    form: str
    start: int
    end: int


class Listing(NamedTuple):
    """A question in two parts."""

    stem: str
    """What stands before the options: the whole question where it lists none."""
    options: tuple[str, ...]
    """In the order of their letters, A first."""


def read(question: str) -> tuple[str, ...]:
    """Return the options in the order of their letters, A first; none where it lists none."""
    return parted(question).options


def parted(question: str) -> Listing:
    """Return what is asked and the options.

    Each begins a line with its letter ('A. x', 'A) x' or '(A) x', one form for all) and goes on to
    the next. Of several lists the last counts, and those behind 'Answer Choices:' before others.
    """
    run, options = _last_list(question)
    if run is None:
        return Listing(question.strip(), ())
    before = (it for it in _HEADING.finditer(question) if it.end() <= run.start)
    stem = question[: max((it.start() for it in before), default=run.start)]
    return Listing(stem.strip(), options)


def chance(row: Mapping[str, Any]) -> float | None:
    """Return one in so many options, where a multiple-choice question lists them."""
    there = _of(row)
    return 1 / len(there) if there else None


def unlisted(row: Mapping[str, Any]) -> str | None:
    """Say so of an answer that is none of the options listed."""
    there = _of(row)
    if not there or str(row["answer"]).strip() in LETTERS[: len(there)]:
        return None
    return Statement("caveat.no_letter", "an answer that is no letter of the options listed")


def lacking(row: Mapping[str, Any]) -> str | None:
    """Say so of a multiple-choice question without options."""
    none = row["answer_type"] == CHOICE and not _of(row)
    told = Statement("caveat.no_options", "multiple choice, and no options listed")
    return told if none else None


def _of(row: Mapping[str, Any]) -> tuple[str, ...]:
    return read(str(row["question"])) if row["answer_type"] == CHOICE else ()


def written(options: Sequence[str]) -> str:
    """Return options as `read` finds them, to stand behind a question; '' for none."""
    lines = (f"{letter}. {option}" for letter, option in zip(LETTERS, options, strict=False))
    return "\n\nAnswer Choices:\n" + "\n".join(lines) if options else ""


def _last_list(question: str) -> tuple[_Mark | None, tuple[str, ...]]:
    """Return where the last list begins, and its options. It takes one look at the question."""
    marks = [
        _Mark(match[form], form, match.start(), match.end())
        for match in _MARK.finditer(question)
        if (form := match.lastgroup)
    ]
    goes_on = set[str]()
    for place, mark in reversed(list(enumerate(marks))):
        if mark.letter == "B":
            goes_on.add(mark.form)
        elif mark.letter == "A" and mark.form in goes_on:
            run = list(_consecutive(marks[place:]))
            ends = [it.start for it in run[1:]] + [len(question)]
            pairs = zip(run, ends, strict=True)
            return mark, tuple(question[it.end : end].strip() for it, end in pairs)
    return None, ()


def _consecutive(marks: list[_Mark]) -> Iterator[_Mark]:
    """Yield A, B, C … of the first one's form; other marks belong to an option's text."""
    wanted = iter(LETTERS)
    letter = next(wanted)
    for mark in marks:
        if (mark.letter, mark.form) == (letter, marks[0].form):
            yield mark
            letter = next(wanted, "")
