"""Inspect itself, in an environment of its own: its list has other versions than ours.

It is made once from requirements/inspect.txt, in the user's cache, and kept there until the list or
the interpreter is another.
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from helpers import ROOT

_LIST = ROOT / "requirements" / "inspect.txt"
_MADE = "raybench-made"
"""Written last, so that it never vouches for half an environment."""


def _environment() -> Path:
    """Return the environment's folder; raise CalledProcessError where it cannot be made."""
    made_from = f"{sys.executable} {sys.version}\n{_LIST.read_text()}"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "raybench-tests"
    folder = cache / f"inspect-{hashlib.sha256(made_from.encode()).hexdigest()[:16]}"
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not (folder / _MADE).exists():
            subprocess.run(
                [sys.executable, "-m", "venv", "--clear", "--without-pip", folder], check=True
            )
            _install(folder / "bin" / "python")
            (folder / _MADE).touch()
    return folder


def _install(python: Path) -> None:
    """Install the list by uv, which takes seconds, or by pip, which may know of other sources."""
    uv: list[str | Path] = [sys.executable, "-m", "uv", "pip", "install", "--python", python]
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", python, "install"]
    common: list[str | Path] = ["--quiet", "--no-deps", "-r", _LIST]
    for command, last in (([*uv, *common], False), ([*pip, *common], True)):
        done = subprocess.run(
            command, check=last, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        if done.returncode == 0:
            return


@pytest.fixture(scope="session")
def with_inspect() -> Iterator[Path]:
    """The folder of the programs of Inspect's environment: `inspect` and a `python` that knows it.

    Tests that ask for it need `@pytest.mark.timeout`: making it may take minutes by pip.
    """
    try:
        yield _environment() / "bin"
    except subprocess.CalledProcessError as error:
        why: Any = (error.stderr or "").strip().splitlines()[-1:] or [error]
        pytest.skip(f"requirements/inspect.txt cannot be installed: {why[0]}")
