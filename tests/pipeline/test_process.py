"""The process of a stage ends, and when: as soon as Python is done."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_WAITS = "import ctypes; c = ctypes.CDLL(None); c.on_exit(c.pause, None)\n"
"""As Ray's library now and then does, when it is taken down."""


@pytest.mark.parametrize("code", [0, 3])
def test_nothing_that_a_library_waits_for_at_the_end_keeps_it(code: int) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{_WAITS}import atexit\nfrom raybench.pipeline.process import prepare\nprepare()\n"
            "atexit.register(print, 'of Python')\nprint('said', end=' ')\n"
            f"raise SystemExit({code})",
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (code, "said of Python\n")


class _Stage:
    """A process of Ray's, with the stages' preparation or without."""

    def __init__(self, prepared: bool) -> None:
        if prepared:
            from raybench.pipeline.process import prepare

            prepare()

    def process(self) -> int:
        return os.getpid()


@pytest.fixture
def ray_itself(own_ray: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    import ray

    # Not above: Ray's processes import this file, and do not find what else lies in this folder.
    from clusters import PATIENT

    for name, value in PATIENT.items():
        monkeypatch.setenv(name, value)
    # One of its own, although another may be there: tests beside it share one.
    ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize("prepared", [False, True])
def test_ray_is_not_taken_down_in_it(ray_itself: Any, prepared: bool) -> None:
    session = Path(ray_itself._private.worker._global_node.get_session_dir_path())
    actor = ray_itself.remote(num_cpus=0)(_Stage).remote(prepared)
    process = ray_itself.get(actor.process.remote())
    del actor
    until = time.monotonic() + 30
    while Path(f"/proc/{process}").exists():
        assert time.monotonic() < until
        time.sleep(0.1)
    (log,) = (session / "logs").glob(f"python-core-worker-*_{process}.log")
    # Without, it is: and once in a hundred times that has no end.
    assert ("Destructing CoreWorkerProcess" in log.read_text()) is not prepared
