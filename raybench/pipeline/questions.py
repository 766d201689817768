"""Rows of files as a benchmark's questions: in its columns, of one language, each checked."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b, sha256
from textwrap import shorten
from typing import Any

from raybench.benchmarks import Benchmark
from raybench.errors import ConfigurationError
from raybench.pipeline import files
from raybench.pipeline.sources import File, Place

_PLAIN = {"id", "question", "answer"}
"""By these plain columns are known where not all of the hub's are there."""
_ALL_PLAIN = _PLAIN | {"options"}
_TOLD = 5
"""Mistakes that are told; the others are counted."""


@dataclass(frozen=True, slots=True)
class Question:
    """A row that is one of the benchmark's."""

    row: Mapping[str, Any]
    """The benchmark's columns and `language`, nothing else."""
    key: str
    language: str
    subject: str | None

    @property
    def digest(self) -> int:
        """Return a number of 256 bits for what the row says, in whatever format it came."""
        said = json.dumps(_said(self.row), ensure_ascii=False, sort_keys=True)
        return int.from_bytes(sha256(said.encode()).digest())


def of(benchmark: Benchmark, place: Place) -> Iterator[Question]:
    """Yield all questions; no two of a language have the same key.

    Raises ConfigurationError after the last one where rows are wrong.
    """
    told: list[str] = []
    rows = wrong = 0
    seen: dict[bytes, int] = {}  # a key's hash and the place of its row: as little as will do
    for index, file in enumerate(place.files):
        for number, (line, read) in enumerate(files.rows(file.path), start=1):
            rows += 1
            found = read if isinstance(read, str) else _question(benchmark, file, number, read)
            if isinstance(found, Question):
                name = blake2b(f"{found.language}\0{found.key}".encode(), digest_size=16).digest()
                at = line * len(place.files) + index
                if (first := seen.setdefault(name, at)) == at:
                    yield found
                    continue
                before, which = divmod(first, len(place.files))
                found = f"is there already: {_at(place.files[which], before)}"
            if found is not None:
                wrong += 1
                if len(told) < _TOLD:
                    told.append(f"\n  - {_at(file, line)}: {found}")
    if wrong:
        more = f"\n  - and {wrong - len(told)} more" if wrong > len(told) else ""
        raise ConfigurationError(
            f"{benchmark.name}: {wrong} of {rows} rows in {place.origin} cannot be used:"
            f"{''.join(told)}{more}\nMend them or take them out, or choose other files with "
            "data.dir=FOLDER"
        )


def _question(
    benchmark: Benchmark, file: File, number: int, read: dict[str, Any]
) -> Question | str | None:
    """Return a row's question, what is wrong with it, or None where it does not belong."""
    several = len(benchmark.languages) > 1
    language = read.get("language") or file.language if several else benchmark.languages[0]
    try:
        row = _in_columns(benchmark, {"number": number, **read, "language": language})
        if missing := _missing(benchmark, row):
            return f"lacks {', '.join(missing)}; it has {_columns(read)}"
        if not benchmark.belongs(row):
            return None
        if not language:
            return (
                "does not say its language: add a column 'language', or name the file "
                f"{benchmark.name}_LANGUAGE{files.ending(file.name)}"
            )
        # A table written with pandas has NaN where nothing was: it alone differs from itself.
        row = {name: None if row[name] != row[name] else row[name] for name in benchmark.columns}
        row["language"] = str(language)
        if wrong := "; ".join(benchmark.problems(row)):
            return wrong
        json.dumps(row, ensure_ascii=False, allow_nan=False).encode()  # as it will have to be
        return Question(row, benchmark.key(row), row["language"], benchmark.subject(row))
    except KeyError as error:
        return f"lacks {error}; it has {_columns(read)}"
    except ValueError as error:
        return f"cannot be a question of it: {error}"
    except (TypeError, LookupError, AttributeError) as error:
        # A value of another kind than the benchmark takes: whoever wrote the file has to look.
        return f"is not understood ({type(error).__name__}: {error})"


def _in_columns(benchmark: Benchmark, read: dict[str, Any]) -> dict[str, Any]:
    """Return a row, in plain columns or the hub's, in the benchmark's."""
    if read.keys() >= _ALL_PLAIN:
        return benchmark.from_common(read)
    row = benchmark.from_hub(read)
    if _missing(benchmark, row) and read.keys() >= _PLAIN:
        return benchmark.from_common(read)
    return row


def _missing(benchmark: Benchmark, row: Mapping[str, Any]) -> list[str]:
    return [repr(column) for column in benchmark.columns if column not in row]


def _columns(read: Mapping[str, Any]) -> str:
    # Where the first line of a table names no columns, a whole question stands for one.
    return ", ".join(repr(shorten(name, 40, placeholder=" …")) for name in read)


def _at(file: File, number: int) -> str:
    return f"{file.name}, {files.unit(file.name)} {number}"


def _said(value: Any) -> Any:
    """Return what a value says, be it of a typed file or of a table, whose cells are all text."""
    if isinstance(value, Mapping):
        return {name: _said(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_said(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value)
