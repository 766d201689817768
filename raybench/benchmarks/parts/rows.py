"""What makes a row wrong, in any benchmark."""

from collections.abc import Iterator
from typing import Any

from raybench.benchmarks.parts.contract import Row
from raybench.errors import Problem


def blank(row: Row, *columns: str) -> Iterator[Problem]:
    """Yield a complaint for every column that holds no text, or a number for one."""
    for column in columns:
        value = row[column]
        if empty(value):
            yield Problem(
                "data.invalid",
                f"'{column}' is empty",
                setting=column,
                fix="fill it in or leave the row out",
            )
        elif isinstance(value, bool) or not isinstance(value, str | int | float):
            yield Problem(
                "data.invalid",
                f"'{column}' is a {type(value).__name__}",
                setting=column,
                fix="give a text",
            )


def empty(value: Any) -> bool:
    """Tell whether there is nothing to be seen of a value."""
    # A table read with pandas has NaN where nothing was: it alone differs from itself.
    if value is None or value != value:
        return True
    return not any(letter.isprintable() and letter != " " for letter in str(value))


def no_option(row: Row, column: str, letters: str) -> Iterator[Problem]:
    """Yield a complaint where the right letter is none of the options'; `blank` tells of none."""
    if not empty(row[column]) and str(row[column]) not in tuple(letters):
        yield Problem(
            "data.invalid",
            f"'{column}' is '{row[column]}', which is no option",
            setting=column,
            given=row[column],
            fix=f"give a letter, A to {letters[-1]}",
        )


def subject(row: Row, column: str) -> str | None:
    """Return what the question is about, where the column says so."""
    return None if empty(row[column]) else str(row[column])
