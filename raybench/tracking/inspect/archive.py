"""Inspect's archives (`.eval`): a zip with a file for each sample, a list of them and a head.

Samples are written as they come, and none is kept: the list waits in a file of its own.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile

from raybench.tracking.inspect.samples import Sample, summary

_START, _HEADER, _SUMMARIES = "_journal/start.json", "header.json", "summaries.json"


class Archive:
    """A log that is being written."""

    def __init__(self, file: ZipFile, listed: IO[bytes]) -> None:
        self._file = file
        self._listed = listed
        self._between = b"["

    def start(self, head: Mapping[str, Any]) -> None:
        """Write what is known before any sample."""
        self._file.writestr(_START, encoded(head))

    def add(self, sample: Sample) -> None:
        """Write a sample."""
        self._file.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", encoded(sample))
        self._listed.write(self._between + encoded(summary(sample)))
        self._between = b",\n"

    def finish(self, header: Mapping[str, Any]) -> None:
        """Write the list of the samples and, last, the head, by which the log is a whole one."""
        self._listed.write(b"]" if self._between != b"[" else b"[]")
        self._listed.seek(0)
        with self._file.open(_SUMMARIES, "w", force_zip64=True) as member:
            copyfileobj(self._listed, member)
        self._file.writestr(_HEADER, encoded(header))


@contextmanager
def archive(path: Path) -> Iterator[Archive]:
    """Open a log that appears under its name when it is whole. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")  # another process may write it, too
    try:
        with (
            TemporaryFile(dir=path.parent) as listed,
            ZipFile(aside, "w", compression=ZIP_DEFLATED) as file,
        ):
            yield Archive(file, listed)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def encoded(value: Any) -> bytes:
    """Return JSON that every reader takes: half a surrogate pair, which is no text, becomes '?'."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "replace")
