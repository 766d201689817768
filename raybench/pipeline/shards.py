"""Chosen questions on disk, as files that a Ray Data graph streams."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from itertools import count, islice
from pathlib import Path

from raybench.errors import Problem, RunFailed
from raybench.pipeline.questions import Question

_SHARDS, _FEWEST, _MOST = 32, 25, 1000
"""How many shards are aimed at, and the fewest and most rows of one.

A shard is read by one task and stays one block on its way, so that a small set needs several for
all actors to have work. With fewer rows the task costs more than what it carries; more only make
heavier what is in flight, and what is done again where a task dies.
"""
_PREFIX = "raybench-questions-"
_ROOM = "Make room, or choose another place with TMPDIR=FOLDER in the environment"


@contextmanager
def scratch() -> Iterator[Path]:
    """Make a folder for the questions of one run, gone when it ends.

    A run that is killed cannot clean up, so the next one does: a folder is locked for as long as
    its process lives, however that ends, and one that nobody holds is nobody's.
    """
    try:
        _sweep(Path(tempfile.gettempdir()))
        # It gets the name that others look for only when it is locked.
        new = Path(tempfile.mkdtemp(prefix=f".{_PREFIX}"))
        lock = _open(new)
        flock(lock, LOCK_EX | LOCK_NB)
        folder = new.rename(new.with_name(new.name.removeprefix(".")))
    except OSError as error:
        raise RunFailed(
            Problem("file.unwritable", f"there is no place for the questions: {error}", fix=_ROOM)
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _sweep(folder: Path) -> None:
    """Remove what killed runs of this user left; what is in use, or not ours, stays."""
    for left in folder.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # it has just gone, or somebody holds it
            lock = _open(left)
            try:
                if os.fstat(lock).st_uid == os.getuid():
                    flock(lock, LOCK_EX | LOCK_NB)
                    shutil.rmtree(left)
            finally:
                os.close(lock)


def _open(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def write(questions: Iterable[Question], expected: int, folder: Path) -> tuple[Path, ...]:
    """Write the questions as JSON lines; return the files.

    The folder appears when all are in it; what was there before goes.
    """
    size = min(_MOST, max(_FEWEST, -(-expected // _SHARDS)))
    lines = (
        (json.dumps(it.row, ensure_ascii=False).encode() + b"\n", it.follows) for it in questions
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
            Problem("file.unwritable", f"the questions cannot be written: {error}", fix=_ROOM)
        ) from error
    return tuple(folder / name for name in names)


def _fill(folder: Path, lines: Iterator[tuple[bytes, bool]], size: int) -> Iterator[str]:
    """Write files of so many lines, or more: one that follows another stays behind it."""
    after: list[bytes] = []
    for number in count():
        shard = [*after, *(line for line, _ in islice(lines, size - len(after)))]
        if not shard:
            return
        after = []
        for line, follows in lines:
            if not follows:
                after = [line]
                break
            shard.append(line)
        name = f"{number:05d}.jsonl"
        (folder / name).write_bytes(b"".join(shard))
        yield name
