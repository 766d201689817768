"""Compiled players on the disk: one plain file each, found again by what it was made from.

A file says what its program was made from and for (`about`), what came of that (`made`), and holds
the program as DSPy saves it (`program`). Its name ends in a key, a digest of `about`, of which a
folder has one. To share it, copy the file; whoever gets it puts it into their folder, or names it
as it lies.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raybench.errors import ConfigurationError, Problem, RunFailed
from raybench.pipeline import whole
from raybench.reading import from_json

ABOUT, MADE, DIGEST, PROGRAM = "about", "made", "digest", "program"
_UNSAFE = re.compile(r"[^\w.-]+")
_DIGITS = 12
_LONGEST = 50
"""Letters of a name in a file's: each may take four of the 255 bytes that file systems have."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A compiled player."""

    path: Path
    about: Mapping[str, Any]
    """What it was made from and for; all of it is in the key."""
    made: Mapping[str, Any]
    """What came of it, and when."""
    state: Mapping[str, Any]
    """The program, as DSPy saves it."""

    @property
    def key(self) -> str:
        """What it is found by."""
        return key_of(self.about)


def key_of(about: Mapping[str, Any]) -> str:
    """Return the digest of what a player is made from and for."""
    text = json.dumps(about, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_DIGITS]


def find(folder: Path, about: Mapping[str, Any]) -> Entry | None:
    """Return the player that was made from and for just this; None where there is none.

    Raises ConfigurationError where its file cannot be read.
    """
    for path in _of_key(folder, key_of(about)):
        return read(path)
    return None


def _of_key(folder: Path, key: str) -> list[Path]:
    return sorted(it for it in folder.glob(f"*.{key}.json") if not it.name.startswith("."))


def keep(
    folder: Path, name: str, about: Mapping[str, Any], made: Mapping[str, Any], state: Any
) -> Path:
    """Write a player down, whole or not at all, and return its file; `name` is for people.

    It takes the place of another one of the same key, whatever that is called.
    """
    path = folder / file_of(name, about)
    _write(path, text_of(about, made, state))
    for other in _of_key(folder, key_of(about)):
        if other != path:
            other.unlink(missing_ok=True)
    return path


def file_of(name: str, about: Mapping[str, Any]) -> str:
    """Return the name of a player's file."""
    return f"{_UNSAFE.sub('_', name)[:_LONGEST]}.{key_of(about)}.json"


def text_of(about: Mapping[str, Any], made: Mapping[str, Any], state: Any) -> str:
    """Return what is in a player's file."""
    whole = {ABOUT: about, MADE: made, DIGEST: _digest(made, state), PROGRAM: state}
    return json.dumps(whole, indent=1, ensure_ascii=False, default=str) + "\n"


def read(path: Path) -> Entry:
    """Read a player. Raises ConfigurationError where the file holds none, or was changed."""
    try:
        found = from_json(path.read_text(encoding="utf-8"))
        entry = Entry(path, dict(found[ABOUT]), dict(found[MADE]), dict(found[PROGRAM]))
    except (OSError, ValueError, LookupError, TypeError) as error:
        why = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        raise ConfigurationError(
            Problem(
                "file.format",
                f"'{path}' is no compiled player ({why})",
                given=str(path),
                fix="give a file that +experiment=optimise_players left, or take it out of the "
                "folder",
            )
        ) from error
    if found.get(DIGEST) != _digest(entry.made, entry.state):
        raise ConfigurationError(
            Problem(
                "file.changed",
                f"'{path}' was changed since it was compiled: what it holds is not what it says "
                "it gained",
                given=str(path),
                fix="Take it out of the folder, or name it yourself: {use: program, compiled: "
                "FILE}",
            )
        )
    if not path.stem.endswith(f".{entry.key}"):
        raise ConfigurationError(
            Problem(
                "file.changed",
                f"'{path}' says that it was made from something else than its name does, which "
                f"ends in '.{entry.key}.json' then: it was changed, or renamed",
                given=str(path),
                fix="Take it out of the folder",
            )
        )
    return entry


def every(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that may be players, by name."""
    yield from sorted(it for it in folder.glob("*.json") if not it.name.startswith("."))


def copied(entry: Entry, folder: Path) -> Path:
    """Copy a player's file into a folder and return the copy.

    Raises ConfigurationError where another player of the same key lies there.
    """
    path = folder / entry.path.name
    if (there := find(folder, entry.about)) is not None:
        if there.state != entry.state:
            raise ConfigurationError(
                Problem(
                    "file.changed",
                    f"'{there.path}' is another player of the same key as '{entry.path}': games "
                    "would find either",
                    given=str(there.path),
                    fix="Take the one away that is not wanted",
                )
            )
        return there.path
    _write(path, text_of(entry.about, entry.made, entry.state))
    return path


def _digest(made: Mapping[str, Any], state: Any) -> str:
    text = json.dumps([made, state], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_DIGITS]


def _write(path: Path, text: str) -> None:
    try:
        whole.write(path, [text])
    except OSError as error:
        raise RunFailed(
            Problem(
                "file.unwritable",
                f"the compiled player {path} cannot be written: {error}",
                given=str(path),
                fix="Mend that; what was learned is in the run's journal",
            )
        ) from error
