"""Running the program in this process, which has imported already what takes seconds to import.

That is for tests of what a run says and leaves. Those of how a process begins and ends (signals,
kills, its own Ray) start one: `helpers.raybench`, `helpers.start_raybench`.
"""

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from helpers import MARK

from raybench import cli

Here = Callable[..., CompletedProcess[str]]
"""Runs the program as `raybench_here` does."""

# As a run has it by itself, and until nobody reads any more.
_RAY = """\
import sys, ray
begun = ray.init(address="local", include_dashboard=False, log_to_driver=False)
print(begun.address_info["gcs_address"], flush=True)
sys.stdin.read()
"""


def raybench_here(*arguments: str, cwd: Path, **environment: str) -> CompletedProcess[str]:
    """Do what `python -m raybench` does in a folder, from its arguments to its exit code."""
    told, said = io.StringIO(), io.StringIO()
    code: object = 0
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(cwd)
        patched.setattr(sys, "argv", ["raybench", *arguments])
        for name, value in {"NO_COLOR": "1", **environment}.items():
            patched.setenv(name, value)
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(said):
            try:
                cli.main()
            except SystemExit as end:
                code = end.code or 0
    assert isinstance(code, int), code
    return CompletedProcess(arguments, code, told.getvalue(), said.getvalue())


@contextlib.contextmanager
def on_one_ray() -> Iterator[Here]:
    """Yield `raybench_here` for runs that join a Ray, which is started once for all of them."""
    from ray._private.authentication import authentication_token_setup

    with subprocess.Popen(
        [sys.executable, "-c", _RAY],
        # Unmarked: it is none of what a test starts and has to end.
        env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0", MARK: ""},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as ray:
        assert ray.stdin and ray.stdout
        address = ray.stdout.readline().strip()
        assert address, "Ray did not start"
        # A Ray of one's own asks for a token; who joins sends one only where told to in time.
        authentication_token_setup.maybe_enable_token_auth_if_token_available(False)
        yield partial(raybench_here, RAY_ADDRESS=address)
        ray.stdin.close()
