"""Folders of rows that are written once, whole or not at all, and numbered in their order."""

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from raybench.errors import ConfigurationError, Problem
from raybench.pipeline import files
from raybench.pipeline.digests import digest

Row = Mapping[str, Any]
Rows = tuple[Row, ...]
ABOUT = "revision.json"
"""The file that says of the rows what they are."""
_NAME = re.compile(r"\d{4,}")
_ASIDE = ".unfinished-"


def numbers(parent: Path) -> list[int]:
    """Return the numbers of the folders that are there."""
    try:
        return sorted(int(each.name) for each in parent.iterdir() if _NAME.fullmatch(each.name))
    except (FileNotFoundError, NotADirectoryError):
        return []


def at(parent: Path, number: int) -> Path:
    """Return the folder of a number."""
    return parent / f"{number:04d}"


def is_one(folder: Path) -> bool:
    """Tell whether a folder is one of these."""
    return _NAME.fullmatch(folder.name) is not None and (folder / ABOUT).is_file()


def digest_of(rows: Iterable[Row]) -> str:
    """Return the digest of rows in whatever order."""
    return f"{sum(map(digest, rows)) % 2**256:064x}"


def about(folder: Path) -> dict[str, Any]:
    """Return what is said about the rows of a folder.

    Raises ConfigurationError where that is not what was written.
    """
    try:
        told: dict[str, Any] = json.loads((folder / ABOUT).read_bytes())
        told["digest"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ConfigurationError(
            Problem(
                "file.unreadable",
                f"{folder / ABOUT} cannot be read ({error})",
                fix="put back what was published",
            )
        ) from error
    return told


def read(folder: Path, name: str) -> tuple[Rows, dict[str, Any]]:
    """Return the rows of a folder's file, and what is said about them.

    Raises ConfigurationError where they are not what was written.
    """
    told = about(folder)
    rows: list[Row] = []
    for line, row in files.rows(folder / name):
        if isinstance(row, str):
            raise ConfigurationError(
                Problem("data.changed", f"{folder / name}, line {line}, {row}", fix=_MEND)
            )
        rows.append(row)
    if digest_of(rows) != told["digest"]:
        raise ConfigurationError(
            Problem("data.changed", f"{folder / name} was changed after it was written", fix=_MEND)
        )
    return tuple(rows), told


def write(
    parent: Path, number: int, name: str, rows: Sequence[Row], about: Mapping[str, Any]
) -> None:
    """Write a folder; whoever looks sees all of it or nothing, whenever this process is killed."""
    parent.mkdir(parents=True, exist_ok=True)
    aside = parent / f"{_ASIDE}{number:04d}"
    aside.mkdir()
    _write(aside / name, "".join(f"{json.dumps(dict(row), ensure_ascii=False)}\n" for row in rows))
    whole = {**about, "digest": digest_of(rows)}
    _write(aside / ABOUT, json.dumps(whole, indent=2, ensure_ascii=False) + "\n")
    _settle(aside)
    aside.rename(at(parent, number))
    _settle(parent)


def sweep(parent: Path) -> None:
    """Remove what a process that was killed left unfinished; nobody else may be writing."""
    for left in parent.glob(f"{_ASIDE}*"):
        shutil.rmtree(left)


_MEND = "put back what was published, or leave mending to a revision of its own"


def _write(path: Path, text: str) -> None:
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _settle(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
