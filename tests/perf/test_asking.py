"""Whoever asks for what is not there is told what is."""

import subprocess
import sys

import pytest
from helpers import ROOT


@pytest.mark.process
@pytest.mark.parametrize(
    ("module", "told"),
    [
        ("perf", "static, orchestration, "),
        ("perf.load", "index, games"),
        ("perf.scaling", "games, index"),
    ],
)
def test_an_unknown_name_is_told_with_those_that_there_are(module: str, told: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", module, "bogus"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
