"""Grading as a stage: by the methodology's rules alone, or by the improved ones beside them."""

import json
from collections.abc import Callable
from typing import Any, cast

import contest
import pyarrow
import pytest
import scicode_steps

from raybench import benchmarks
from raybench.benchmarks import Draw, Grade, Row
from raybench.fleet.link import Link
from raybench.grading.suspicion.telling import EXIT
from raybench.pipeline import stages
from raybench.pipeline.checker import Check, Verdicts
from raybench.pipeline.generation import Generate
from raybench.pipeline.judges import Judge, Panel
from raybench.pipeline.programs import Programs, Slots
from raybench.pipeline.stages import Asking, Unit
from raybench.types import Completion, Grader, ModelSpec, Retries

ROW = {"unique_id": "1", "problem": "?", "answer": "1, 2", "subject": "Algebra"}

ASKING = Asking({}, 0)


def graded(response: str, grader: Grader, **columns: Any) -> Unit:
    unit = {"benchmark": "math_500", "repeat": 0, "row": ROW, "request": {}, "finish": "stop"}
    unit |= {"error": None, "response": response} | columns
    (found,) = stages.unpacked(stages.Grade(ASKING, grader)(stages.packed([unit])))
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
    assert unit["judge_error"].endswith(": too deep")
    assert graded(r"\boxed{1, 2}", "parity")["correct"]


QUIT = "input()\nprint(sum(map(int, input().split())), end='')\nquit()"


def program(text: str, grader: Grader = "parity", **columns: Any) -> Unit:
    """Grade a program as a slot does, by default for a question about a sum."""
    unit = {"benchmark": "livecodebench", "repeat": 0, "row": contest.row(), "finish": "stop"}
    return stages.graded(
        unit | {"error": None, "response": contest.reply(text)} | columns, Draw(), grader
    )


@pytest.mark.sandbox
@pytest.mark.parametrize("grader", ["parity", "improved"])
def test_a_program_runs_once_and_what_is_known_of_it_is_carried_on(
    grader: Grader, monkeypatch: pytest.MonkeyPatch
) -> None:
    grades = []
    grade = contest.LCB.grade

    def counted(row: Row, response: str, *, draw: Draw) -> Grade:
        grades.append(grade(row, response, draw=draw))
        return grades[-1]

    monkeypatch.setattr(contest.LCB, "grade", counted)
    unit = program(QUIT, grader)
    assert len(grades) == 1
    assert (unit["correct"], unit["reason"], unit["by"]) == (True, "right", "script")
    assert unit["details"] == json.loads(json.dumps(dict(grades[0].details)))
    assert (unit["details"]["tests"], unit["details"]["official"]) == (2, False)
    assert unit["truth"] == contest.LCB.truth(contest.row())
    assert ("parity" in unit) == (grader == "improved")
    assert "flags" not in unit


@pytest.mark.sandbox
def test_the_improved_grader_runs_another_program_where_it_reads_another() -> None:
    row = scicode_steps.doubling()
    bare = "def double(x):\n    return 2 * x"
    asked: dict[str, Any] = {"benchmark": "scicode", "row": row, "response": bare}
    parity, improved = program("", "parity", **asked), program("", "improved", **asked)
    assert (parity["correct"], parity["answer"], parity["by"]) == (False, None, None)
    assert (improved["correct"], improved["by"]) == (True, "script")
    assert improved["parity"] == {"correct": False, "answer": None}


@pytest.mark.sandbox
def test_flags_are_carried_on() -> None:
    function = contest.row(contest.HEADS, function="head")
    cheat = "import os\ndef head(a, k): os._exit(0)"
    unit = program(cheat, row=function)
    assert (unit["correct"], unit["flags"]) == (False, [EXIT])


def test_what_has_no_grade_for_no_fault_of_its_model_waits_for_a_person() -> None:
    broken = {**contest.row(), "private_test_cases": "%"}
    unit = program(QUIT, row=broken)
    assert ": question rb9_a: 'private_test_cases" in unit["judge_error"]
    assert (unit["correct"], unit["by"]) == (False, None)


def test_a_stand_in_is_told_the_gold_where_there_is_any() -> None:
    model = ModelSpec("able", engine="simulated", weights="")
    asking = stages.Asking({"able": model}, 0)
    unit = {"model": "able", "benchmark": "livecodebench", "repeat": 0, "language": "en"}
    unit |= {"key": "rb9_a", "row": contest.row()}
    assert asking.request(contest.LCB, unit).gold is None
    unit["row"] = {**contest.row(), "solution": "print()"}
    assert asking.request(contest.LCB, unit).gold == "```python\nprint()\n```"


LINK = cast(Link, None)


@pytest.mark.parametrize(
    "stage",
    [
        lambda: Generate(LINK, ASKING),
        lambda: Programs(Slots(), LINK, ASKING, "parity"),
        lambda: Judge(LINK, Panel({}, 0), ASKING, "parity"),
        lambda: Check(LINK, Verdicts(ModelSpec("able", "simulated", ""), 0, None)),
    ],
    ids=["Generate", "Programs", "Judge", "Check"],
)
def test_a_stage_with_many_threads_has_them_share_their_memory(stage: Callable[[], object]) -> None:
    before = pyarrow.default_memory_pool()
    try:
        pyarrow.set_memory_pool(pyarrow.mimalloc_memory_pool())
        stage()
        assert pyarrow.default_memory_pool().backend_name == "system"
    finally:
        pyarrow.set_memory_pool(before)


def test_what_few_replies_have_is_kept_of_those() -> None:
    """A reply that is taken again could have no more tokens; its retries are not had again."""
    plain = stages.reply_of(Completion("4", "stop"))
    assert not plain.keys() & {"token_limit", "retries"}
    told = stages.reply_of(
        Completion("4", "stop", token_limit=100, retries=Retries(rate_limited=2, pauses=1))
    )
    assert told == plain | {"token_limit": 100, "retries": {"rate_limited": 2, "pauses": 1}}
    assert stages.response(told) == plain | {"token_limit": 100}
    json.dumps(told)
