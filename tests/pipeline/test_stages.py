"""Grading as a stage: by the methodology's rules alone, or by the improved ones beside them."""

import json
from typing import Any

import numpy as np
import pytest

from raybench import benchmarks
from raybench.benchmarks import Draw, Grade, Row
from raybench.pipeline import stages
from raybench.pipeline.stages import UNIT, Unit
from raybench.types import Grader

ROW = {"unique_id": "1", "problem": "?", "answer": "1, 2", "subject": "Algebra"}


def graded(response: str, grader: Grader, **columns: Any) -> Unit:
    unit = {"benchmark": "math_500", "repeat": 0, "row": ROW, "request": {}, "finish": "stop"}
    unit |= {"error": None, "response": response} | columns
    block = stages.Grade(0, grader)({UNIT: np.array([json.dumps(unit)], dtype=object)})
    found: Unit = json.loads(block[UNIT][0])
    return found


def test_parity_grades_alone() -> None:
    unit = graded(r"\boxed{2, 1}", "parity")
    assert (unit["correct"], unit["answer"], unit["by"]) == (False, "2, 1", "script")
    assert "parity" not in unit


def test_improved_decides_and_parity_is_carried_beside_it() -> None:
    unit = graded(r"\boxed{2, 1}", "improved")
    assert (unit["correct"], unit["answer"], unit["reason"]) == (True, "2, 1", "right")
    assert unit["parity"] == {"correct": False, "answer": "2, 1"}
    assert (unit["by"], unit["truth"]) == ("script", "1, 2")


def test_what_has_no_reply_has_no_second_verdict_either() -> None:
    unit = graded("", "improved", finish="error", error="gone")
    assert (unit["correct"], unit["reason"], unit["judge_error"]) == (False, "gone", None)
    assert "parity" not in unit


def test_a_grader_that_breaks_is_ours_to_look_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(row: Row, response: str, *, draw: Draw) -> Grade:
        raise RecursionError("too deep")

    monkeypatch.setattr(benchmarks.load("math_500"), "improved", broken)
    unit = graded(r"\boxed{2, 1}", "improved")
    assert unit["judge_error"] == "grading failed: RecursionError: too deep"
    assert graded(r"\boxed{1, 2}", "parity")["correct"]
