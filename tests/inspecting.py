"""Inspect itself, in an environment of its own: its list has other versions than ours."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perf.peers import environments


@pytest.fixture(scope="session")
def with_inspect() -> Iterator[Path]:
    """The folder of the programs of Inspect's environment: `inspect` and a `python` that knows it.

    Tests that ask for it need `@pytest.mark.timeout`: making it may take minutes by pip.
    """
    try:
        yield environments.made("inspect") / "bin"
    except subprocess.CalledProcessError as error:
        why: Any = (error.stderr or "").strip().splitlines()[-1:] or [error]
        pytest.skip(f"requirements/inspect.txt cannot be installed: {why[0]}")
