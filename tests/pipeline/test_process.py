"""The process of a stage ends as soon as Python is done.

tests/fleet/test_own_ray.py looks at a process of Ray itself.
"""

import subprocess
import sys

import pytest

_WAITS = "import ctypes; c = ctypes.CDLL(None); c.on_exit(c.pause, None)\n"
"""As Ray's library now and then does, when it is taken down."""


@pytest.mark.process
@pytest.mark.parametrize("code", [0, 3])
def test_nothing_that_a_library_waits_for_at_the_end_keeps_it(code: int) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{_WAITS}import atexit\nfrom raybench.pipeline.process import prepare\nprepare()\n"
            "atexit.register(print, 'Python')\nprint('said', end=' ')\n"
            f"raise SystemExit({code})",
        ],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert (done.returncode, done.stdout) == (code, "said Python\n")
