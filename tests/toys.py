"""Small benchmarks that tests read, with the rows they are made of."""

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from raybench.benchmarks import Benchmark, Draw, Grade, Row, Source
from raybench.errors import Problem
from raybench.types import Message

REVISION = "0123456789abcdef0123456789abcdef01234567"
LETTERS = "AB"
FIRST = Draw()


class Toy(Benchmark):
    """Questions with two options each, in one language."""

    name = "toy"
    title = "Toy"
    source = Source("org/toy", REVISION, {"en": "data/test-0.parquet"}, licence="MIT")
    columns = ("label", "ask", "options", "gold", "field")
    stems: ClassVar[tuple[str, ...]] = ("toys_test",)
    weights: ClassVar[Mapping[str, Fraction]] = {}

    def key(self, row: Row) -> str:
        return str(row["label"])

    def belongs(self, row: Row) -> bool:
        return bool(row["field"] != "elsewhere")

    def problems(self, row: Row) -> Iterator[Problem]:
        if not row["gold"]:
            yield Problem("data.invalid", "'gold' is empty", "gold")
        if len(row["options"]) != len(LETTERS):
            message = f"'options' has {len(row['options'])} entries"
            yield Problem("data.invalid", message, "options", fix=f"give {len(LETTERS)}")

    def subject(self, row: Row) -> str | None:
        return row["field"] and str(row["field"])

    def from_common(self, row: Row) -> dict[str, Any]:
        return {
            "label": row["id"],
            "ask": row["question"],
            "options": row["options"],
            "gold": row["answer"],
            "field": row["subject"],
        }

    def prompt(
        self, row: Row, *, reasoning: bool = False, draw: Draw = FIRST
    ) -> tuple[Message, ...]:
        return (Message("user", row["ask"]),)

    def grade(self, row: Row, response: str, *, draw: Draw = FIRST) -> Grade:
        return Grade(response == row["gold"], "right", response)

    def truth(self, row: Row, *, draw: Draw = FIRST) -> str:
        return str(row["gold"])

    def gold(self, row: Row, *, draw: Draw = FIRST) -> str:
        return self.truth(row)


class Tongues(Toy):
    """The same questions in several languages, of which one is published elsewhere."""

    name = "tongues"
    source = Source(
        "org/tongues",
        REVISION,
        {
            "de": "test/tongues_DE-DE.csv",
            "sw": "test/tongues_SW-KE.csv",
            "te": "test/tongues_TE.csv",
        },
        licence="MIT",
        elsewhere={"en": Source("org/english", REVISION, {"en": "all.jsonl"}, licence="MIT")},
    )
    stems = ()

    def from_hub(self, row: Row) -> dict[str, Any]:
        """The English dataset says 'topic' for 'field'."""
        return {**row, "field": row["topic"]} if "topic" in row else dict(row)


class Dialects(Tongues):
    """Another set in several languages."""

    name = "dialects"
    source = Source(
        "org/dialects",
        REVISION,
        {"de": "dialects_de.csv", "sw": "dialects_sw.csv"},
        licence="MIT",
    )


class Sayings(Toy):
    """Rows without ids, known by their place in the file."""

    name = "sayings"
    stems = ()

    def from_hub(self, row: Row) -> dict[str, Any]:
        return {"label": row["number"], **row}


class Closed(Toy):
    """Questions that the hub hands out to some."""

    name = "closed"
    source = Source("org/closed", REVISION, {"en": "all.csv"}, licence="none", gated=True)


def rows(count: int, *, start: int = 0, language: str | None = None) -> list[dict[str, Any]]:
    """Return rows in the hub's columns."""
    made = [
        {
            "label": number,
            "ask": f'"{number}", ist das gerade — ja, oder nein?',
            "options": ["yes, it is", 'no, it is "odd"'],
            "gold": LETTERS[number % 2],
            "field": ("number theory", "logic", "set_theory")[number % 3],
            "explanation": None,
        }
        for number in range(start, start + count)
    ]
    return [{**row, "language": language} for row in made] if language else made


def plain(made: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the same rows in plain columns."""
    names = {"label": "id", "ask": "question", "gold": "answer", "field": "subject"}
    return [
        {names.get(name, name): value for name, value in row.items() if name != "explanation"}
        for row in made
    ]


def write(path: Path, made: Sequence[dict[str, Any]]) -> Path:
    """Write rows in the format that the file's name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(WRITERS[path.name.partition(".")[2]](made))
    return path


def _json_lines(made: Sequence[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in made).encode()


def _zipped(made: Sequence[dict[str, Any]]) -> bytes:
    return gzip.compress(_json_lines(made))


def _csv(made: Sequence[dict[str, Any]]) -> bytes:
    text = io.StringIO(newline="")
    table = csv.DictWriter(text, list(made[0]))
    table.writeheader()
    table.writerows({**row, "options": json.dumps(row["options"])} for row in made)
    return text.getvalue().encode()


def _tsv(made: Sequence[dict[str, Any]]) -> bytes:
    lines = [list(made[0])]
    for row in made:
        cells = {**row, "options": json.dumps(row["options"])}.values()
        lines.append(["" if cell is None else str(cell) for cell in cells])
    return "".join("\t".join(line) + "\n" for line in lines).encode()


def _parquet(made: Sequence[dict[str, Any]]) -> bytes:
    import pyarrow
    import pyarrow.parquet

    sink = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(made)), sink)
    return sink.getvalue()


WRITERS: dict[str, Callable[[Sequence[dict[str, Any]]], bytes]] = {
    "jsonl": _json_lines,
    "jsonl.gz": _zipped,
    "parquet": _parquet,
    "csv": _csv,
    "tsv": _tsv,
}
