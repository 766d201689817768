"""What a test run starts ends with it, even when it is killed."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.process

_STARTS_ONE = """\
import signal, subprocess, sys, time
import dying
child = subprocess.Popen(["sleep", "600"], preexec_fn=dying.with_parent(signal.SIGTERM))
print(child.pid, flush=True)
time.sleep(600)
"""


def test_a_program_ends_with_a_parent_that_is_killed() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", _STARTS_ONE], cwd=Path(__file__).parent, stdout=subprocess.PIPE
    )
    with parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    gone, alive = psutil.wait_procs([child], timeout=60)
    assert (gone, alive) == ([child], [])
