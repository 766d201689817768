"""What commands take is seen from outside, and engines write down when they made tokens."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import ROOT

from perf.measured import in_turn

# What vLLM does with its plugins, and of its scheduler what the clock is put into.
_VLLM = {
    "vllm/__init__.py": "",
    "vllm/v1/__init__.py": "",
    "vllm/v1/core/__init__.py": "",
    "vllm/v1/core/sched/__init__.py": "",
    "vllm/v1/core/sched/scheduler.py": """\
from types import SimpleNamespace as it

class Scheduler:
    def update_from_output(self, tokens):
        return {0: it(outputs=[it(new_token_ids=[1] * count) for count in tokens])}
""",
    "engine.py": """\
import time
from pathlib import Path
from importlib.metadata import entry_points

for one in entry_points(group="vllm.general_plugins"):
    if one.name.startswith("raybench"):
        one.load()()
        one.load()()
from vllm.v1.core.sched.scheduler import Scheduler

for tokens in ([2, 1], [], [3]):
    assert Scheduler().update_from_output(tokens)[0].outputs is not None
    time.sleep(0.4)
kept = bytearray(64 * 2**20)
until = time.process_time() + 0.6
while time.process_time() < until:
    kept[::4096] = bytes(len(kept[::4096]))
for _ in range(2):  # whole looks at this process after all that it did
    Path("looked").unlink(missing_ok=True)
    while not Path("looked").exists():
        time.sleep(0.01)
""",
}


_MEASURE = """
import dataclasses, json, pathlib, sys
from perf.measured import Family, took

class Noted(Family):
    def look(self, *given):
        found = super().look(*given)
        pathlib.Path("looked").touch()
        return found

import perf.measured
perf.measured.Family = Noted
print(json.dumps(dataclasses.asdict(took(sys.argv[1:], cwd=pathlib.Path.cwd()))))
"""
"""Measures a command, and leaves a file whenever it has looked at the command's processes."""


def measured(folder: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    """Measure a command in a process of its own: whoever measures ends all that it has started."""
    return subprocess.run(
        [sys.executable, "-c", _MEASURE, sys.executable, *command],
        cwd=folder, env={**os.environ, "PYTHONPATH": f"{ROOT}:{folder}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.process
def test_tokens_time_processors_and_memory(tmp_path: Path) -> None:
    for name, text in _VLLM.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    done = measured(tmp_path, "engine.py")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["tokens"] == 6
    assert 0 < found["first_s"] < found["first_s"] + 0.79 < found["last_s"] < found["seconds"]
    assert found["cpu_s"] > 0.6
    assert found["peak_mib"] > 64


@pytest.mark.process
def test_who_asks_no_engine_made_no_token(tmp_path: Path) -> None:
    found = json.loads(measured(tmp_path, "-c", "pass").stdout)
    assert (found["tokens"], found["first_s"], found["last_s"]) == (0, 0.0, 0.0)


@pytest.mark.process
def test_what_fails_is_no_measurement(tmp_path: Path) -> None:
    done = measured(tmp_path, "-c", "exit('nothing')")
    assert done.returncode == 1
    assert "code 1:\nnothing" in done.stderr
    assert "Traceback" not in done.stderr


def test_rounds_go_there_and_back() -> None:
    found = [*in_turn(3, "ab")]
    assert found == [(1, "a"), (1, "b"), (2, "b"), (2, "a"), (3, "a"), (3, "b")]
