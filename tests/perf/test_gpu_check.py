"""The acceptance test on GPUs: what it decides, and how it gets along with workers that fail."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from helpers import NEEDS_MODEL, ROOT

from perf.gpu_check.claims import STEPS, Measured, Row, Step, make_row, make_table
from perf.gpu_check.random_weights import Shape
from perf.gpu_check.step_runner import (
    Budget,
    StepFailedError,
    WorkerEndedError,
    run_steps,
)

BY_NAME = {step.name: step for step in STEPS}
SLEEP = {
    "same": True, "failed": 0, "before_gib": 1.0, "asleep_gib": 2.0, "awake_gib": 40.0,
    "weights_gib": 10.0, "sleep_s": 1.0, "wake_s": 1.0,
}  # fmt: skip
SUITE = {"code": 0, "samples": 24, "distinct": 24, "expected": 24, "swaps": 2, "failed": 0}
PAIR = {"awake": 2, "loads": 2, "swaps": 0, "used_gib": 9.0, "replies": 8, "failed": 0}
HOLDS: dict[str, dict[str, Any]] = {
    "start": {"nvcc": False, "up_s": 50.0, "replies": 8, "failed": 0},
    "throughput": {"fleet": [96.0, 90.0, 99.0], "offline": [100.0, 100.0, 100.0], "failed": 0},
    "refill": {"refill_s": 10.0, "barrier_s": 15.0, "failed": 0},
    "sleep_1": {**SLEEP, "level": 1, "host_gib": 11.0},
    "sleep_2": {**SLEEP, "level": 2, "host_gib": 0.2},
    "side_by_side": PAIR,
    "suite": SUITE,
    "replicas": {"one_s": 19.0, "two_s": 10.0, "failed": 0},
}
"""Values with which each claim holds, some of them just so."""
BREAKS: list[tuple[str, dict[str, Any]]] = [
    ("start", {"nvcc": True}),
    ("start", {"replies": 0}),
    ("throughput", {"fleet": [94.0, 94.0, 99.0]}),
    ("refill", {"barrier_s": 14.0}),
    ("sleep_1", {"same": False}),
    ("sleep_1", {"asleep_gib": 3.0}),
    ("sleep_1", {"host_gib": 18.0}),
    ("sleep_2", {"same": False}),
    ("sleep_2", {"host_gib": 10.0}),
    ("side_by_side", {"awake": 1}),
    ("side_by_side", {"loads": 3}),
    ("side_by_side", {"swaps": 1}),
    ("suite", {"code": 1}),
    ("suite", {"samples": 25}),
    ("suite", {"distinct": 23}),
    ("suite", {"swaps": 0}),
    ("replicas", {"two_s": 10.1}),
]


@dataclass
class Clock:
    """Time that passes where something takes time."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Workers:
    """Workers that take ten seconds for a step, but for those that fail."""

    fails: dict[str, Exception] = field(default_factory=dict)
    takes_s: float = 10.0
    clock: Clock = field(default_factory=Clock)
    started: list[list[str]] = field(default_factory=list)
    ended: int = 0

    def start(self, steps: Sequence[Step]) -> "Workers":
        self.started.append([step.name for step in steps])
        return self

    def measure(self, step: Step, within_s: float) -> Measured:
        self.clock.now += min(self.takes_s, within_s)
        if step.name in self.fails:
            raise self.fails[step.name]
        if self.takes_s > within_s:
            raise TimeoutError
        return HOLDS[step.name]

    def end(self, within_s: float) -> None:
        self.ended += 1


def run(
    workers: Workers, names: Sequence[str] = tuple(BY_NAME), *, seconds: float = 600, gpus: int = 2
) -> dict[str, Row]:
    """Return the rows of these steps."""
    reported: list[Row] = []
    steps = [BY_NAME[name] for name in names]
    budget = Budget(seconds, workers.clock)
    rows = run_steps(steps, workers.start, budget, gpus, reported.append)
    assert rows == reported
    assert [row.step for row in rows] == [*names]
    assert workers.ended == len(workers.started)
    return {row.step: row for row in rows}


def outcomes(rows: dict[str, Row]) -> list[str]:
    return [row.outcome for row in rows.values()]


@pytest.mark.parametrize("name", BY_NAME)
def test_a_claim_holds_up_to_its_limit(name: str) -> None:
    assert make_row(BY_NAME[name], HOLDS[name], 1.0).outcome == "pass"


@pytest.mark.parametrize(("name", "values"), BREAKS)
def test_a_claim_breaks_beyond_its_limit(name: str, values: dict[str, Any]) -> None:
    assert make_row(BY_NAME[name], HOLDS[name] | values, 1.0).outcome == "fail"


@pytest.mark.parametrize("name", BY_NAME)
def test_no_claim_holds_where_requests_failed(name: str) -> None:
    assert make_row(BY_NAME[name], HOLDS[name] | {"failed": 1}, 1.0).outcome == "fail"


def test_steps_of_a_worker_share_it() -> None:
    workers = Workers()
    assert {*outcomes(run(workers))} == {"pass"}
    assert workers.started == [
        ["start", "throughput", "refill", "sleep_1", "sleep_2"],
        ["side_by_side"], ["suite"], ["replicas"],
    ]  # fmt: skip


def test_two_gpus_are_needed_for_two_replicas_alone() -> None:
    rows = run(Workers(), gpus=1)
    assert [name for name, row in rows.items() if row.outcome == "skipped"] == ["replicas"]


def test_a_step_that_fails_does_not_stop_those_after_it() -> None:
    workers = Workers({"throughput": StepFailedError("why")})
    rows = run(workers, ["start", "throughput", "refill", "suite"])
    assert outcomes(rows) == ["pass", "fail", "pass", "pass"]
    assert rows["throughput"].measured == "why"
    assert len(workers.started) == 2  # the same worker measured on


@pytest.mark.parametrize("error", [TimeoutError(), WorkerEndedError("gone")])
def test_after_a_step_that_hangs_or_dies_another_worker_measures_the_rest(
    error: Exception,
) -> None:
    workers = Workers({"refill": error})
    rows = run(workers, ["start", "refill", "sleep_1", "sleep_2"])
    assert outcomes(rows) == ["pass", "fail", "pass", "pass"]
    assert workers.started[1:] == [["sleep_1", "sleep_2"]]


def test_a_worker_whose_first_step_fails_measures_no_other() -> None:
    workers = Workers({"start": WorkerEndedError("gone")})
    rows = run(workers, ["start", "refill", "sleep_1", "suite"])
    assert outcomes(rows) == ["fail", "fail", "fail", "pass"]
    assert len(workers.started) == 2


def test_steps_beyond_the_budget_are_not_measured() -> None:
    workers = Workers(takes_s=40.0)
    rows = run(workers, ["start", "refill", "sleep_1", "suite", "replicas"], seconds=100)
    assert outcomes(rows) == ["pass", "pass", "fail", "fail", "fail"]
    assert [bool(row.values) for row in rows.values()] == [True, True, False, False, False]
    assert workers.clock.now <= 100
    assert len(workers.started) == 1


def test_a_row_is_a_line_of_json_and_of_the_table() -> None:
    row = make_row(BY_NAME["suite"], SUITE, 12.3)
    assert json.loads(json.dumps(row.to_json())) == {
        "step": "suite", "claim": row.claim, "outcome": "pass", "measured": row.measured,
        "seconds": 12.3, "values": SUITE,
    }  # fmt: skip
    assert make_table([row]).rows == [(row.claim, row.measured, "pass", "12")]


def test_a_shape_is_read() -> None:
    assert Shape.parse("8,1024") == Shape(layers=8, hidden=1024)
    for wrong in ("0", "8,100,3", "a", "8,1024,16,5"):
        with pytest.raises(ValueError):
            Shape.parse(wrong)


# In a process of its own: whoever starts workers adopts orphans, and ends all its children.
_ENDED_EARLY = """
import os, sys
from pathlib import Path
from perf.gpu_check.claims import STEPS
from perf.gpu_check.step_runner import WorkerEndedError, WorkerProcess

log, step = Path(sys.argv[1]), STEPS[0]
for within_s in (60, 0):  # it ends by itself; it is still there
    worker = WorkerProcess({"nothing": 1}, [step], log, os.environ)
    try:
        worker.measure(step, within_s)
    except WorkerEndedError as error:
        print(str(log) in str(error) and log.stat().st_size > 0)
    except TimeoutError:
        print("late")
    worker.end(5)
    print(Path(f"/proc/{worker.pid}").exists())
"""


@pytest.mark.process
def test_a_worker_that_ends_or_hangs_is_noticed_and_leaves_nothing(tmp_path: Path) -> None:
    done = python(_ENDED_EARLY, str(tmp_path / "log"))
    assert done.stdout.split() == ["True", "False", "late", "False"], done.stderr


@pytest.mark.process
def test_without_a_gpu_it_exits_with_3() -> None:
    done = python("from perf.gpu_check.__main__ import main; raise SystemExit(main())")
    assert done.returncode == 3
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.engine
@NEEDS_MODEL
@pytest.mark.long(short="tests/rig/test_gpu_check.py::test_claims_that_hold_pass")
def test_engines_of_random_weights_are_measured_on_the_cpu(tmp_path: Path) -> None:
    steps = ["start", "throughput", "refill", "sleep_1", "sleep_2"]
    done = subprocess.run(
        [sys.executable, "-m", "perf.gpu_check", "--device", "cpu", "--steps", ",".join(steps)],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=580, check=False,
    )  # fmt: skip
    lines = (tmp_path / "runs/gpu-check/steps.jsonl").read_text().splitlines()
    rows = {row["step"]: row for row in map(json.loads, lines)}
    assert [step for step in steps if not rows[step]["values"]] == [], done.stdout + done.stderr
    assert [row["values"]["failed"] for row in rows.values()] == [0] * len(steps)
    assert rows["start"]["outcome"] == "pass"
    assert rows["sleep_1"]["values"]["same"] and rows["sleep_2"]["values"]["same"]


def python(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program on a machine without GPUs."""
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
