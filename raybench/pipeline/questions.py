"""Rows of files as a benchmark's questions: in its columns, of one language, each checked."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from textwrap import shorten
from typing import Any

from raybench.benchmarks import Benchmark
from raybench.errors import ConfigurationError, Problem
from raybench.pipeline import files
from raybench.pipeline.digests import digest
from raybench.pipeline.sources import File, Place

_PLAIN = {"id", "question", "answer"}
"""By these plain columns are known where not all of the hub's are there."""
_ALL_PLAIN = _PLAIN | {"options"}
_EVER_PLAIN = _ALL_PLAIN | {"subject", "language", "image"}
"""A row with any other column of the hub's is one of the hub's."""
_PLAINLY = ("id", "question", "answer", "subject")
_EITHER = "id, question, answer, subject do as well, with options or language where there are any"
_TOLD = 5
"""Kinds of mistakes that are told, and rows of each; the others are counted."""
_LONGEST = 300
"""Letters of a mistake that are told: it may repeat a whole cell."""


@dataclass(frozen=True, slots=True)
class Question:
    """A row that is one of the benchmark's."""

    row: Mapping[str, Any]
    """The benchmark's columns and `language`, nothing else."""
    key: str
    language: str
    subject: str | None
    cluster: str | None = None
    follows: bool = False
    """It stands behind the questions of its cluster that must be answered before it."""
    pictured: bool = False
    """An image goes with it."""

    @property
    def digest(self) -> int:
        """Return a number of 256 bits for what the row says, in whatever format it came."""
        return digest(self.row)


def of(benchmark: Benchmark, place: Place) -> Iterator[Question]:
    """Yield all questions; no two of a language have the same key.

    Raises ConfigurationError after the last one where rows are wrong.
    """
    mistakes = _Mistakes()
    seen: dict[bytes, int] = {}  # a key's hash and the place of its row: as little as will do
    for index, file in enumerate(place.files):
        for line, found in _found(benchmark, place, file, mistakes):
            if isinstance(found, Question):
                name = blake2b(f"{found.language}\0{found.key}".encode(), digest_size=16).digest()
                at = line * len(place.files) + index
                if (first := seen.setdefault(name, at)) == at:
                    yield found
                    continue
                before, which = divmod(first, len(place.files))
                found = f"is there already: {_at(place.files[which], before)}"
            if found is not None:
                mistakes.add(file, line, found)
    if mistakes:
        raise ConfigurationError(mistakes.told(place))


def _found(
    benchmark: Benchmark, place: Place, file: File, mistakes: "_Mistakes"
) -> Iterator[tuple[int, Question | str | None]]:
    """Yield what a file's rows hold with their places: questions, and what is wrong with others."""
    for number, (line, read) in enumerate(_rows(file, mistakes), start=1):
        mistakes.rows += 1
        if isinstance(read, str):
            yield line, read
            continue
        try:
            held = list(benchmark.questions(read, place.beside))
        except (ValueError, OSError) as error:
            yield line, f"cannot be told with what lies beside it: {error}"
            continue
        except (TypeError, LookupError, AttributeError) as error:
            yield line, f"is not understood ({type(error).__name__}: {error})"
            continue
        for each in held:
            yield line, _question(benchmark, file, number, dict(each))


def _rows(file: File, mistakes: "_Mistakes") -> Iterator[files.Read]:
    try:
        yield from files.rows(file.path)
    except ConfigurationError as error:
        mistakes.unreadable.append(str(error))


class _Mistakes:
    """What is wrong with some files: little of it is kept, however much there is."""

    def __init__(self) -> None:
        self.rows = self.wrong = 0
        self.unreadable: list[str] = []
        self._lines: dict[tuple[str, str], list[int]] = {}
        """Where, by file and by what is wrong there: the first few of each of the first few."""
        self._counts: Counter[tuple[str, str]] = Counter()

    def __bool__(self) -> bool:
        return bool(self.wrong or self.unreadable)

    def add(self, file: File, line: int, what: str) -> None:
        """Count a row that is wrong."""
        self.wrong += 1
        kind = (file.name, what if len(what) <= _LONGEST else f"{what[:_LONGEST]} …")
        if kind in self._lines or len(self._lines) < _TOLD:
            self._counts[kind] += 1
            self._lines.setdefault(kind, [])
            if len(self._lines[kind]) < _TOLD:
                self._lines[kind].append(line)

    def told(self, place: Place) -> Problem:
        """Return all of it as one problem."""
        lines = [f"\n  - {error}" for error in self.unreadable[:_TOLD]]
        lines += [f"\n  - {self._where(*kind)}: {kind[1]}" for kind in self._lines]
        if (more := self.wrong - self._counts.total()) > 0:
            lines.append(f"\n  - and {more} more")
        broken = len(self.unreadable)
        what = [f"{broken} file{'s' * (broken > 1)}"] if broken else []
        what += [f"{self.wrong} of {self.rows} rows"] if self.wrong else []
        return Problem(
            "data.invalid",
            f"{' and '.join(what)} in {place.origin} cannot be used:{''.join(lines)}",
            setting="data.dir",
            fix="Mend them or take them out, or choose other files with data.dir=FOLDER",
        )

    def _where(self, file: str, what: str) -> str:
        lines, count = self._lines[file, what], self._counts[file, what]
        more = f" and {count - len(lines)} more" if count > len(lines) else ""
        unit = files.unit(file) + "s" * (count > 1)
        return f"{file}, {unit} {', '.join(map(str, lines))}{more}"


def _question(
    benchmark: Benchmark, file: File, number: int, read: dict[str, Any]
) -> Question | str | None:
    """Return a row's question, what is wrong with it, or None where it does not belong."""
    several = len(benchmark.languages) > 1
    language = read.get("language") or file.language if several else benchmark.languages[0]
    try:
        row = _in_columns(benchmark, {"number": number, **read, "language": language})
        if missing := _missing(benchmark, row):
            plain = [repr(column) for column in _PLAINLY if column not in read]
            # A row that was read as a plain one lacks what plain ones of the benchmark have too.
            known = read.keys() >= _PLAIN or _is_hubs(benchmark, read)
            told = plain if len(plain) < len(missing) and not known else missing
            return _lacks(", ".join(told), benchmark, file, read)
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
        if wrong := "; ".join(map(str, benchmark.problems(row))):
            renamed = any(f"'{name}'" in wrong for name in benchmark.columns if name not in read)
            return wrong + (" (the hub's names of the columns)" if renamed else "")
        json.dumps(row, ensure_ascii=False, allow_nan=False).encode()  # as it will have to be
        return Question(
            row,
            benchmark.key(row),
            row["language"],
            benchmark.subject(row),
            benchmark.cluster(row),
            benchmark.chained and bool(benchmark.follows(row)),
            bool(benchmark.images(row)),
        )
    except KeyError as error:
        return _lacks(str(error), benchmark, file, read)
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
        try:
            return benchmark.from_common(read)
        except KeyError:
            if not _is_hubs(benchmark, read):
                raise  # what it lacks is a plain column
    return row


def _is_hubs(benchmark: Benchmark, read: Mapping[str, Any]) -> bool:
    return bool(read.keys() & {*benchmark.columns} - _EVER_PLAIN)


def _missing(benchmark: Benchmark, row: Mapping[str, Any]) -> list[str]:
    return [repr(column) for column in benchmark.columns if column not in row]


def _lacks(columns: str, benchmark: Benchmark, file: File, read: Mapping[str, Any]) -> str:
    # Where the first line of a table names no columns, a whole question stands for one.
    there = ", ".join(repr(shorten(name, 40, placeholder=" …")) for name in read)
    told = f"lacks {columns}; it has {there}"
    if read.keys() >= _PLAIN:
        return told
    if files.is_table(file.name) and not read.keys() & {*benchmark.columns, *_ALL_PLAIN}:
        return f"{told}: the first line of a table names its columns"
    return f"{told} ({_EITHER})"


def _at(file: File, number: int) -> str:
    return f"{file.name}, {files.unit(file.name)} {number}"
