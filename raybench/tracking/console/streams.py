"""Writing to streams that may lack letters, or whose reader may have gone."""

import os
from collections.abc import Mapping
from typing import TextIO

_OFF = ("", "0", "false", "no")


def write(stream: TextIO, text: str) -> None:
    """Write a line; a terminal that went away must not end the run."""
    letters = encoding(stream)
    try:
        stream.write(text.encode(letters, "replace").decode(letters) + "\n")
        stream.flush()
    except (OSError, ValueError):
        pass


def encoding(stream: TextIO) -> str:
    """Return what the stream can carry: a name in letters that it lacks must not end the run."""
    return (getattr(stream, "encoding", None) or "utf-8").lower()


def is_terminal(stream: TextIO) -> bool:
    """Tell whether somebody looks at it, as far as that can be known."""
    try:
        return stream.isatty()
    except ValueError:  # it is closed
        return False


def can_move(stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether the cursor can go back there, and frames and dots are among its letters."""
    able = environment.get("TERM", "") not in ("", "dumb", "unknown")
    able = able and environment.get("TTY_COMPATIBLE") != "0"  # as rich has it
    return able and is_terminal(stream) and encoding(stream).startswith("utf")


def is_logged(environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether what is written goes into somebody's log, be it through a pseudo-terminal.

    A driver that `ray job submit` starts has its job's configuration in its environment; Kubernetes
    operators name the job in theirs.
    """
    if "RAY_JOB_CONFIG_JSON_ENV_VAR" in environment or "RAY_JOB_SUBMISSION_ID" in environment:
        return True
    return environment.get("CI", "").lower() not in _OFF
