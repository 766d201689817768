"""Tasks that are given instead of generated: read from a file of JSON lines."""

import json
from collections.abc import Iterator
from pathlib import Path

from raybench.autobench.settings import Task
from raybench.errors import ConfigurationError

_MEND = "each line is a JSON object with task, and perhaps topic and difficulty"


def read(path: str) -> tuple[Task, ...]:
    """Return the tasks of a file; a run's journal/iterations.jsonl is one, too."""
    try:
        lines = Path(path).expanduser().read_bytes().splitlines()
    except OSError as error:
        raise ConfigurationError(
            f"autobench.tasks: {path} cannot be read ({error.strerror or error}): name a file "
            f"in which {_MEND}"
        ) from error
    found = tuple(_tasks(path, lines))
    if not found:
        raise ConfigurationError(f"autobench.tasks: {path} holds no task: {_MEND}")
    return found


def _tasks(path: str, lines: list[bytes]) -> Iterator[Task]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            text, *labels = (row.get(name) or "" for name in ("task", "topic", "difficulty"))
            if not all(isinstance(it, str) for it in (text, *labels)):
                raise ValueError("not all of its fields are texts")
        except (ValueError, AttributeError) as error:
            raise ConfigurationError(
                f"autobench.tasks: {path}, line {number}, is no task ({error}): {_MEND}"
            ) from error
        if text.strip():  # an iteration that found no task has none to give
            yield Task(text.strip(), *labels)
