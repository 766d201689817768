"""Rows of data files, one at a time: JSON lines, Parquet, CSV and TSV. Flat in memory."""

import csv
import gzip
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from raybench.errors import ConfigurationError, Problem

Read = tuple[int, dict[str, Any] | str]
"""Where a row stands in its file, counted from 1, and the row, or what is wrong with it."""

_BATCH = 256
"""Rows of a Parquet file that are in memory at once."""


def rows(path: Path) -> Iterator[Read]:
    """Yield a file's rows; what is wrong with one row leaves the others readable.

    Raises ConfigurationError where the file itself cannot be read.
    """
    try:
        _look(path)
        yield from _READERS[ending(path.name)](path)
    except (OSError, EOFError, zlib.error) as error:  # the last two: a .gz that is cut short
        why = getattr(error, "strerror", None) or error
        raise ConfigurationError(
            Problem(
                "file.unreadable",
                f"{path} cannot be read ({why})",
                given=str(path),
                fix="give a whole, readable file",
            )
        ) from error


def _look(path: Path) -> None:
    """Raise ConfigurationError where a file begins as one of another kind than its name says."""
    with path.open("rb") as file:
        head = file.read(4)
    for start, (of_kind, mend) in _STARTS.items():
        if head.startswith(start) and not (of_kind and path.name.lower().endswith(of_kind)):
            what, _, fix = mend.partition(": ")
            raise ConfigurationError(
                Problem("file.format", f"{path} {what}", given=str(path), fix=fix)
            )


def ending(name: str) -> str:
    """Return the ending by which a file's kind is known; '' where it is none of ours."""
    return next((known for known in _READERS if name.lower().endswith(known)), "")


def unit(name: str) -> str:
    """Return what rows of such a file are counted in."""
    return "row" if ending(name) == ".parquet" else "line"


def is_table(name: str) -> bool:
    """Tell whether such a file is text whose first line names the columns."""
    return ending(name) in (".csv", ".tsv")


def _json_lines(path: Path) -> Iterator[Read]:
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    with cast(BinaryIO, opener(path, "rb")) as file:
        for number, line in enumerate(file, start=1):
            if line.strip() in _OPENED:
                raise ConfigurationError(
                    Problem(
                        "file.format",
                        f"{path}, line {number}, opens what goes on in other lines",
                        given=f"{path}, line {number}",
                        fix="write every row as one line, {COLUMN: VALUE, …}, with nothing around "
                        "them",
                    )
                )
            if line.strip():
                yield number, _json_row(line)


def _json_row(line: bytes) -> dict[str, Any] | str:
    try:
        row = json.loads(line.decode("utf-8-sig"), parse_constant=_no_json)
    except UnicodeDecodeError as error:
        return _not_utf8(error)
    except ValueError as error:
        return f"is no JSON ({error})"
    except RecursionError:
        return "is nested too deep"
    return row if isinstance(row, dict) else "is no JSON object: write {COLUMN: VALUE, …}"


def _no_json(constant: str) -> None:
    raise ValueError(f"{constant} is no value")


def _csv(path: Path) -> Iterator[Read]:
    # Strict: a quote that never ends, as in a file cut short, is an error and no long cell.
    return _table(path, delimiter=",", strict=True)


def _tsv(path: Path) -> Iterator[Read]:
    # Tab-separated text knows no quoting: a cell that begins with a quote is a quotation.
    return _table(path, delimiter="\t", quoting=csv.QUOTE_NONE)


def _table(path: Path, **dialect: Any) -> Iterator[Read]:
    taken = 0

    def text(line: bytes) -> str:
        nonlocal taken
        taken += 1
        return line.decode("utf-8-sig")

    with path.open("rb") as file:
        # Line by line, so that what is no text is known by its line; `map` goes on after an error.
        reader = csv.reader(map(text, file), **dialect)
        header: list[str] | None = None
        while True:
            number = taken + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except UnicodeDecodeError as error:
                yield number, _not_utf8(error)
            except csv.Error as error:
                yield number, f"is no table's row ({error})"
            else:
                if header is None:
                    header = cells
                    if twice := [name for name, count in Counter(cells).items() if count > 1]:
                        raise ConfigurationError(
                            Problem(
                                "file.format",
                                f"{path}, line {number}, names the column '{twice[0]}' twice",
                                given=f"{path}, line {number}",
                                fix="rename one of them",
                            )
                        )
                elif cells and len(cells) != len(header):
                    yield (
                        number,
                        f"has {len(cells)} cells where the first line names {len(header)}",
                    )
                elif cells:
                    yield number, dict(zip(header, map(_cell, header, cells), strict=True))


def _cell(column: str, text: str) -> Any:
    """Return the cell's text, or of options, which no table can hold otherwise, the JSON list."""
    if column == "options" and text.startswith("["):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _parquet(path: Path) -> Iterator[Read]:
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            # One thread: several hold as many columns of a row group at once, for little speed.
            batches = file.iter_batches(_BATCH, use_threads=False)
            yield from enumerate((row for batch in batches for row in batch.to_pylist()), start=1)
    except (pyarrow.ArrowException, ValueError, OverflowError) as error:  # or: a text is none
        raise OSError(f"as Parquet: {error}") from error


def _not_utf8(error: UnicodeDecodeError) -> str:
    return f"is not UTF-8 text ({error.reason} at byte {error.start + 1}): save the file as UTF-8"


_READERS: dict[str, Callable[[Path], Iterator[Read]]] = {
    ".jsonl": _json_lines,
    ".jsonl.gz": _json_lines,
    ".parquet": _parquet,
    ".csv": _csv,
    ".tsv": _tsv,
}
_STARTS = {
    b"PAR1": (".parquet", "is Parquet, which its name does not say: name it NAME.parquet"),
    b"\x1f\x8b": (
        ".gz",
        "is compressed with gzip, which its name does not say: name JSON lines NAME.jsonl.gz, and "
        "unpack others",
    ),
    b"PK\3\4": (None, "is a zip archive: unpack it"),
    b"\xff\xfe": (None, "is UTF-16 text: save it as UTF-8"),
    b"\xfe\xff": (None, "is UTF-16 text: save it as UTF-8"),
}
"""How files of some kinds begin, the ending that says so, and what to do where it does not."""
_OPENED = (b"{", b"[")
"""Lines of JSON that is spread over several."""
ENDINGS = tuple(_READERS)
"""What files of rows end in."""
