"""The acceptance test on GPUs, in full but for plain vLLM, on nodes with virtual GPUs."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT
from rig.nodes import Rig, nodes

from perf.rig import node
from perf.rig.faults import Fault
from perf.rig.weights import write_weights

pytestmark = pytest.mark.ray
LONG = pytest.mark.long(short="tests/rig/test_gpu_check.py::test_claims_that_hold_pass")
QUICK = {
    "load_s": 0.5, "profile_s": 0.1, "step_s": 0.001, "prefill_tokens_per_s": 1e6,
    "sleep_s": 0.2, "wake_s": 0.2, "reload_s": 0.2, "left_asleep_gib": 1.0,
}  # fmt: skip
Rows = Mapping[str, Mapping[str, Any]]


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    """Keep two nodes: a with one GPU, b with two."""
    with nodes([1, 2], 80) as started:
        yield started


@pytest.fixture(scope="module")
def slept(rig: Rig, tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """Check sleep on a node with one GPU, on which a wake from level 2 brings another model."""
    rig.faults.order(Fault("garbage_after_wake", value=2))
    return check(rig, "a", "start,sleep_1,sleep_2", tmp_path_factory.mktemp("slept"), code=1)


@pytest.fixture(scope="module")
def on_one(rig: Rig, tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """Check the rest on it."""
    steps = "start,refill,side_by_side,suite,replicas"
    return check(rig, "a", steps, tmp_path_factory.mktemp("one"))


def check(rig: Rig, name: str, steps: str, folder: Path, code: int | None = None) -> Rows:
    """Check a node of the rig; return its rows by step."""
    environment = {
        **os.environ,
        **rig.environment,
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "perf" / "rig" / "nvml", ROOT))),
        node.FOLDER: str(rig.folder),
        node.NODE: name,
    }
    done = subprocess.run(
        [
            sys.executable, "-m", "perf.gpu_check", "--device", "rig", "--steps", steps,
            "--nodes", json.dumps({"rig": name}), "--out", "out",
            "--weights", write_weights(folder / "weights", 14, **QUICK),
        ],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=580, check=False,
    )  # fmt: skip
    lines = (folder / "out" / "steps.jsonl").read_text().splitlines()
    rows = {row["step"]: row for row in map(json.loads, lines)}
    assert [*rows] == steps.split(","), done.stderr
    assert code in (None, done.returncode), done.stdout
    return rows


def test_claims_that_hold_pass(slept: Rows) -> None:
    assert [step for step, row in slept.items() if row["outcome"] == "pass"] == ["start", "sleep_1"]


def test_memory_is_that_of_the_gpu(slept: Rows) -> None:
    values = slept["sleep_1"]["values"]
    assert values["asleep_gib"] - values["before_gib"] == pytest.approx(1.0)
    assert values["awake_gib"] > values["weights_gib"] == pytest.approx(14)


def test_another_model_after_a_wake_fails(slept: Rows) -> None:
    assert slept["sleep_2"]["outcome"] == "fail"
    assert slept["sleep_2"]["values"]["same"] is False


@LONG
def test_engines_are_refilled_and_share_a_gpu(on_one: Rows) -> None:
    # Whether refill is fast enough depends on what else this machine does.
    assert on_one["refill"]["values"]["failed"] == 0
    assert on_one["side_by_side"]["outcome"] == "pass"


@LONG
def test_two_models_take_turns_in_the_suite(on_one: Rows) -> None:
    values = on_one["suite"]["values"]
    assert values["samples"] == values["distinct"] == values["expected"]
    assert values["swaps"] > 0


@LONG
def test_replicas_need_two_gpus(on_one: Rows, rig: Rig, tmp_path: Path) -> None:
    assert on_one["replicas"]["outcome"] == "skipped"
    (row,) = check(rig, "b", "replicas", tmp_path).values()
    assert row["values"]["failed"] == 0
    assert row["values"]["one_s"] > 0 < row["values"]["two_s"]
