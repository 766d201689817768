"""Chosen questions on disk, as files that a Ray Data graph streams, and the digest of them all."""

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from itertools import count, islice
from pathlib import Path
from typing import Any

from raybench.errors import RunFailed
from raybench.pipeline.questions import Question

_SHARDS, _FEWEST, _MOST = 32, 25, 1000
"""How many shards are aimed at, and the fewest and most rows of one.

A shard is read by one task and stays one block on its way, so that a small set needs several for
all actors to have work. With fewer rows the task costs more than what it carries; more only make
heavier what is in flight, and what is done again where a task dies.
"""


def write(
    questions: Iterable[Question], expected: int, folder: Path
) -> tuple[tuple[Path, ...], str]:
    """Write the questions as JSON lines; return the files and the digest of what they say.

    The folder appears when all are in it; what was there before goes.
    """
    hashes: list[bytes] = []
    size = min(_MOST, max(_FEWEST, -(-expected // _SHARDS)))
    aside = folder.with_name(f".{folder.name}.tmp")
    try:
        for left in (aside, folder):
            if left.exists():
                shutil.rmtree(left)
        aside.mkdir(parents=True)
        names = list(_fill(aside, _lines(questions, hashes), size))
        aside.rename(folder)
    except OSError as error:
        raise RunFailed(
            f"the questions cannot be written: {error}. Make room, or choose another place with "
            "runs_dir=…"
        ) from error
    # Sorted: neither the order of the rows nor that of the files is of any account.
    digest = hashlib.sha256(b"".join(sorted(hashes))).hexdigest()
    return tuple(folder / name for name in names), digest


def _fill(folder: Path, lines: Iterator[bytes], size: int) -> Iterator[str]:
    for number in count():
        if not (shard := b"".join(islice(lines, size))):
            return
        name = f"{number:05d}.jsonl"
        (folder / name).write_bytes(shard)
        yield name


def _lines(questions: Iterable[Question], hashes: list[bytes]) -> Iterator[bytes]:
    for question in questions:
        said = json.dumps(_said(question.row), ensure_ascii=False, sort_keys=True)
        hashes.append(hashlib.sha256(said.encode()).digest())
        yield json.dumps(question.row, ensure_ascii=False).encode() + b"\n"


def _said(value: Any) -> Any:
    """Return what a value says, be it of a typed file or of a table, whose cells are all text."""
    if isinstance(value, Mapping):
        return {name: _said(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_said(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value)
