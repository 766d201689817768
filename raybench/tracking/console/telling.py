"""Words to the person on stderr, and what a command leaves on stdout when it ends."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from raybench.errors import RaybenchError
from raybench.tracking.console import events, modes
from raybench.tracking.console.progress import shown
from raybench.tracking.console.streams import write
from raybench.tracking.text import printable


def say(text: str, *, needed: bool = False) -> None:
    """Tell the person something, on stderr and above a progress line.

    What is `needed` is told also where little is.
    """
    if modes.is_quiet():
        if needed:
            write(sys.stderr, printable(text))
    elif (progress := shown()) is not None:
        progress.say(text)
    elif modes.is_json():
        events.emit("note", text=text)
    else:
        write(sys.stderr, printable(text))


def warn(text: str) -> None:
    """Tell the person about something that may need them."""
    if modes.is_json():
        events.emit("warning", text=text)
    else:
        say(f"warning: {text}", needed=True)


class _Ending:
    """What is known of a command's end before it is there."""

    def __init__(self) -> None:
        self.facts: dict[str, Any] = {}
        self.said: list[str] = []
        self.runs: list[dict[str, Any]] = []
        """What runs came to, where several are made by one command: its own is the last."""
        self.folder: Path | None = None
        """The command's own run, which is the first to begin."""

    @property
    def own(self) -> dict[str, Any] | None:
        """What the command's own run came to; None where only parts of it are over."""
        if not self.runs:
            return None
        last = self.runs[-1]
        if self.folder is None or "folder" not in last["paths"]:
            return last
        return last if last["paths"]["folder"] == str(self.folder.absolute()) else None


_ending = _Ending()
_kept: int | None = None
"""What stdout was, where only the command's end may be written on it."""


def begin() -> None:
    """Begin a command, or one job of several."""
    global _ending
    _ending = _Ending()


def keep_stdout() -> None:
    """Keep stdout to what a program reads: whatever libraries print there goes to stderr.

    In other modes everybody may write on it.
    """
    global _kept
    if not is_for_people():
        _kept = os.dup(sys.stdout.fileno())
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())


def out(text: str, *, quiet: str = "", **facts: Any) -> None:
    """Give what was asked for: text to a person, facts to a program, `quiet` to a script."""
    if modes.is_json():
        _ending.facts |= facts
        if not facts:
            _ending.said.append(text)
        if quiet:  # whoever waits for it need not wait for the end
            events.emit("told", **facts)
    elif not modes.is_quiet():
        print(text, flush=True)
    elif quiet:
        _write(quiet)


def began(folder: Path) -> None:
    """Note where a run is kept."""
    _ending.folder = _ending.folder or folder
    if modes.is_json():
        events.emit("run", folder=str(folder.absolute()))


def came_to(results: Mapping[str, Any], paths: Mapping[str, Any]) -> None:
    """Note what a run came to, for programs and scripts."""
    absolute = {
        name: str(it.absolute()) if isinstance(it, Path) else it for name, it in paths.items()
    }
    _ending.runs.append({**results, "paths": absolute})


def is_for_people() -> bool:
    """Tell whether tables and sentences are read by somebody."""
    return not (modes.is_json() or modes.is_quiet())


def end(code: int, error: BaseException | None = None, *, kind: str = "") -> None:
    """End a command: its error in words, or what programs and scripts get of it."""
    if error is not None and not modes.is_json():
        write(sys.stderr, f"raybench: {error}")
    if modes.is_json():
        _write(json.dumps(_document(code, error, kind), allow_nan=False, default=str))
    elif modes.is_quiet() and (own := _ending.own) and (path := own["paths"]["results"]):
        _write(path)


def failed(error: Exception) -> None:
    """Tell programs of what nobody foresaw; people are shown its traceback."""
    if modes.is_json():
        _write(json.dumps(_document(1, error, "")))


def _document(code: int, error: BaseException | None, kind: str) -> dict[str, Any]:
    told: dict[str, Any] | None = None
    if error is not None or kind:
        told = {"kind": kind or type(error).__name__, "message": str(error or kind)}
        if isinstance(error, RaybenchError):
            problems = [problem.to_json() for problem in error.problems]
            told = {**problems[0], **told, "problems": problems}
        events.emit("error", exit_code=code, **told)
    document: dict[str, Any] = {"exit_code": code, "error": told, **_ending.facts}
    if _ending.said:
        document["said"] = _ending.said
    own = _ending.own
    if own is not None:
        document |= own
    elif _ending.folder is not None:
        document["paths"] = {"folder": str(_ending.folder.absolute())}
    if others := [it for it in _ending.runs if it is not own]:
        document["parts"] = [
            {"experiment": it["run"]["experiment"], "paths": it["paths"]} for it in others
        ]
    return document


def _write(line: str) -> None:
    """Write a line where a program reads; whoever has gone is told as anywhere (BrokenPipe)."""
    if _kept is None:
        print(line, flush=True)
        return
    left = f"{line}\n".encode()
    while left:
        left = left[os.write(_kept, left) :]
