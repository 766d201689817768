"""Graders that are given what stops some of them."""

import sys
from pathlib import Path

import pytest

from perf import grading_math
from perf.grading_math import decided

pytestmark = pytest.mark.process

GRADER = """
import json, os, sys, time
print(flush=True)
for line in sys.stdin:
    given, truth = json.loads(line)
    if given == "stops":
        time.sleep(600)
    if given == "dies":
        os._exit(3)
    print(json.dumps([given == truth, 0.25]), flush=True)
"""


def test_who_is_stopped_by_an_answer_goes_on_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grading_math, "PATIENCE_S", 2.0)
    grader = tmp_path / "grader.py"
    grader.write_text(GRADER)
    answers = ("1", "stops", "2", "dies", "dies", "1")
    found = decided([sys.executable, str(grader)], [(it, "1") for it in answers])
    assert found.right == [True, None, False, None, None, True]
    assert found.seconds == [0.25, 2.0, 0.25, 2.0, 2.0, 0.25]
    assert found.late == 3


def test_a_grader_that_does_not_start_is_told() -> None:
    with pytest.raises(SystemExit, match="not start"):
        decided([sys.executable, "-c", "raise SystemExit(1)"], [("1", "1")])
