"""The review sheet: a CSV table with a row for every review that is wanted."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from raybench.benchmarks.parts.contract import Row
from raybench.benchmarks.parts.hle.screening import plain
from raybench.benchmarks.parts.hle.screening.rubric import (
    APPROVAL,
    AUDIT,
    CHECKS,
    FEEDBACK,
    GIVEN,
)
from raybench.config import MOST_REVIEWERS
from raybench.csv_cells import guard_cell, unguard_cell

SHOWN = (
    *("id", "round", "raw_subject", "category", "answer_type", "question", "image"),
    *("answer", "rationale", "evidence", "notes"),
)
"""What reviewers read."""
COLUMNS = (*SHOWN, "reviewer", *CHECKS, *GIVEN)
_MOST = 32_000
"""Letters of a cell: spreadsheets cut or refuse longer ones."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A question that reviewers are to look at."""

    row: Row
    evidence: str
    """What the panel made of it."""
    notes: Sequence[str] = ()
    image: str = ""
    """Where its image lies, seen from the sheet."""
    rounds: tuple[int, ...] = (FEEDBACK, APPROVAL)
    """The rounds that it still takes."""


class SheetError(ValueError):
    """A sheet cannot be read: what is wrong, with the numbers of its rows."""


def sheet(questions: Iterable[Reviewed], *, reviewers: int = 1) -> str:
    """Return the table: a row for every review that a question still takes.

    That is so many of the first round and of an audit, and one of each other.
    """
    if not 1 <= reviewers <= MOST_REVIEWERS:
        raise ValueError(f"the first round has 1 to {MOST_REVIEWERS} reviewers, not {reviewers}")
    return table(
        {**_shown(it), "round": str(turn)}
        for it in questions
        for turn in it.rounds
        for _ in range(reviewers if turn in (FEEDBACK, AUDIT) else 1)
    )


def table(rows: Iterable[Mapping[str, str]]) -> str:
    """Return rows of a sheet as CSV; what they do not hold is left empty to be filled in."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([guard_cell(row.get(column, "")) for column in COLUMNS] for row in rows)
    return text.getvalue()


def rows(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a sheet that somebody filled in, with their numbers as it shows them.

    The first line names the columns, in whatever order; some programs part cells by semicolons.
    Raises SheetError where the text is no table.
    """
    text = text.removeprefix("\ufeff")
    first = text.partition("\n")[0]
    parted = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=parted)
    number = 1
    try:
        header = [name.strip() for name in next(reader, [])]
        for number, cells in enumerate(reader, start=2):
            if any(cells):
                pairs = zip(header, cells, strict=False)
                yield number, {name: unguard_cell(cell) for name, cell in pairs}
    except csv.Error as error:
        raise SheetError(f"row {number + 1} is no row of a table ({error})") from error


def is_about(row: Mapping[str, str], question: Row) -> bool:
    """Tell whether a row of a sheet shows a question as it is, and no earlier version of it.

    Programs change spacing and line ends; columns that somebody took out tell nothing.
    """
    return all(
        plain.exactly(row[column]) == plain.exactly(_cut(plain.text(question, column)))
        for column in ("question", "answer", "rationale")
        if column in row
    )


def _shown(it: Reviewed) -> dict[str, str]:
    told: dict[str, Any] = {
        column: plain.text(it.row, column) for column in SHOWN if column != "image"
    }
    told |= {"evidence": it.evidence, "notes": "; ".join(it.notes)}
    # The image itself is too long for a cell.
    told["image"] = (it.image or "yes") if plain.text(it.row, "image") else ""
    return {column: _cut(text) for column, text in told.items()}


def _cut(text: str) -> str:
    return text if len(text) <= _MOST else f"{text[:_MOST]} … (cut: {len(text)} letters)"
