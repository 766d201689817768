"""What makes a row wrong, in any benchmark."""

from collections.abc import Iterator

from raybench.benchmarks.parts.contract import Row


def blank(row: Row, *columns: str) -> Iterator[str]:
    """Yield a complaint for every column that holds no text."""
    for column in columns:
        value = row[column]
        # A table read with pandas has NaN where nothing was: it alone differs from itself.
        if value is None or value != value or not str(value).strip():
            yield f"'{column}' is empty: fill it in or leave the row out"


def no_option(row: Row, column: str, letters: str) -> Iterator[str]:
    """Yield a complaint where the right letter is none of the options'."""
    if str(row[column]) not in tuple(letters):
        yield f"'{column}' is '{row[column]}', which is no option: there is A to {letters[-1]}"
