"""Chosen questions on disk, as files that a Ray Data graph streams."""

import json
import shutil
from collections.abc import Iterable, Iterator
from itertools import count, islice
from pathlib import Path

from raybench.errors import RunFailed
from raybench.pipeline.questions import Question

_SHARDS, _FEWEST, _MOST = 32, 25, 1000
"""How many shards are aimed at, and the fewest and most rows of one.

A shard is read by one task and stays one block on its way, so that a small set needs several for
all actors to have work. With fewer rows the task costs more than what it carries; more only make
heavier what is in flight, and what is done again where a task dies.
"""


def write(questions: Iterable[Question], expected: int, folder: Path) -> tuple[Path, ...]:
    """Write the questions as JSON lines; return the files.

    The folder appears when all are in it; what was there before goes.
    """
    size = min(_MOST, max(_FEWEST, -(-expected // _SHARDS)))
    lines = (
        json.dumps(question.row, ensure_ascii=False).encode() + b"\n" for question in questions
    )
    aside = folder.with_name(f".{folder.name}.tmp")
    try:
        for left in (aside, folder):
            if left.exists():
                shutil.rmtree(left)
        aside.mkdir(parents=True)
        names = list(_fill(aside, lines, size))
        aside.rename(folder)
    except OSError as error:
        raise RunFailed(
            f"the questions cannot be written: {error}. Make room, or choose another place with "
            "runs_dir=…"
        ) from error
    return tuple(folder / name for name in names)


def _fill(folder: Path, lines: Iterator[bytes], size: int) -> Iterator[str]:
    for number in count():
        if not (shard := b"".join(islice(lines, size))):
            return
        name = f"{number:05d}.jsonl"
        (folder / name).write_bytes(shard)
        yield name
