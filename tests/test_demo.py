"""The demo's own path, with real vLLM: killed, interrupted, resumed, and nothing left behind."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from helpers import (
    NEEDS_MODEL,
    engine_processes,
    only_run,
    raybench,
    start_raybench,
    wait_for_silence,
)

from raybench import cli
from raybench.autobench.protocol import replay
from raybench.experiments.autobench.setup import settings

pytestmark = [
    pytest.mark.engine,
    pytest.mark.long(
        short="tests/experiments/test_real.py"
        "::test_a_suite_that_was_killed_goes_on_where_it_was_and_leaves_nothing"
    ),
    pytest.mark.timeout(900),
    NEEDS_MODEL,
]

# The demo, with short replies, an iteration after the other. There are so many that neither kill
# nor Ctrl-C can come too late.
ITERATIONS = 8
DEMO = (
    "+experiment=autobench",
    f"autobench.iterations={ITERATIONS}",
    "autobench.at_once=1",
    "autobench.task_tokens=16",
    "autobench.answer_tokens=16",
)


def units(folder: Path) -> int:
    files = list(folder.glob("runs/autobench/*/journal/iterations.jsonl"))
    return files[0].read_bytes().count(b"\n") if files else 0


def wait_for_units(folder: Path, wanted: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 600
    while units(folder) < wanted:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline, f"no {wanted} units within ten minutes"
        time.sleep(0.2)


def test_killed_interrupted_and_resumed_it_ends_as_one_run(tmp_path: Path) -> None:
    # kill -9 of the driver alone: what it started has to notice by itself, which takes a while.
    # Nobody waits for that with the next try.
    process = start_raybench(*DEMO, cwd=tmp_path)
    wait_for_units(tmp_path, 1, process)
    dying = set(engine_processes())
    process.kill()
    process.wait()
    first = units(tmp_path)
    assert 1 <= first < ITERATIONS - 2

    # Ctrl-C in a terminal reaches the whole process group.
    process = start_raybench(*DEMO, cwd=tmp_path)
    wait_for_units(tmp_path, first + 1, process)
    os.killpg(process.pid, signal.SIGINT)
    told = process.communicate(timeout=180)[0]
    assert f"{only_run(tmp_path).name}: {first} of {ITERATIONS}" in told
    assert process.returncode == 130, told
    assert "Traceback" not in told
    assert wait_for_silence(but=dying) == []

    # The same command ends it.
    done = raybench(*DEMO, cwd=tmp_path, timeout=400)
    assert done.returncode == 0, done.stderr
    assert wait_for_silence(but=dying) == []
    assert wait_for_silence(240) == []
    run = only_run(tmp_path)
    lines = (run / "journal" / "iterations.jsonl").read_bytes().splitlines()
    records = [json.loads(line) for line in lines]
    assert [record["iteration"] for record in records] == [*range(1, ITERATIONS + 1)]
    results = json.loads((run / "results.json").read_text())
    assert results["simulated"] is False
    standing = replay(records, settings(cli.check(cli.compose(DEMO))))
    weights = {name: m["autobench/weight"]["value"] for name, m in results["models"].items()}
    assert weights == standing.weights
    for name in weights:
        assert name in done.stdout
