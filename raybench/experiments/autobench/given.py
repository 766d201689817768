"""Tasks that are given instead of generated: read from a file of JSON lines."""

from collections.abc import Iterator
from pathlib import Path

from raybench import autobench
from raybench.autobench.settings import Task
from raybench.errors import ConfigurationError, Problem
from raybench.paths import expanded
from raybench.reading import from_json

_MEND = "each line is a JSON object with task, and perhaps topic and difficulty"


SHIPPED = Path(autobench.__file__).parent / "samples" / "tasks.jsonl"
"""Thirty tasks of our own: the paper's ten topics in turn, each once in every difficulty."""


def read(path: str | Path, setting: str = "autobench.tasks") -> tuple[Task, ...]:
    """Return the tasks of a file; a run's journal/iterations.jsonl is one, too.

    `setting` is what names the file: mistakes are told with it.
    """
    try:
        lines = expanded(path).read_bytes().splitlines()
    except OSError as error:
        raise ConfigurationError(
            Problem(
                "file.unreadable",
                f"{setting}: {path} cannot be read ({error.strerror or error})",
                setting=setting,
                given=str(path),
                fix=f"name a file in which {_MEND}",
            )
        ) from error
    found = tuple(_tasks(path, lines, setting))
    if not found:
        raise ConfigurationError(
            Problem(
                "file.format",
                f"{setting}: {path} holds no task",
                setting=setting,
                given=str(path),
                fix=_MEND,
            )
        )
    return found


def _tasks(path: str | Path, lines: list[bytes], setting: str) -> Iterator[Task]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = from_json(line)
            if not isinstance(row, dict):
                raise ValueError("no object")
            text, *labels = (row.get(name) or "" for name in ("task", "topic", "difficulty"))
            if not all(isinstance(it, str) for it in (text, *labels)):
                raise ValueError("not all of its fields are texts")
        except ValueError as error:
            raise ConfigurationError(
                Problem(
                    "file.format",
                    f"{setting}: {path}, line {number}, is no task ({error})",
                    setting=setting,
                    given=f"{path}, line {number}",
                    fix=_MEND,
                )
            ) from error
        if text.strip():  # an iteration that found no task has none to give
            yield Task(text.strip(), *labels)
