"""What `ray job submit` shows of a run: lines, also where its driver has a pseudo-terminal."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from clusters import NO_TOKEN, RAY, head
from helpers import SIMULATED
from ports import free_port

pytestmark = pytest.mark.slow

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
RUN = f"{sys.executable} -m raybench {' '.join(SIMULATED)} autobench.iterations=3"


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Yield the address to which jobs are submitted, of a cluster that is ours alone."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"

    def listens(_: str) -> bool:
        with suppress(URLError, OSError):
            urlopen(f"{address}/api/version", timeout=5).close()
            return True
        return False

    options = ("--port=0", "--num-cpus=1", "--include-dashboard=true", f"--dashboard-port={port}")
    with head(*options, up=listens):
        yield address


def submitted(address: str, command: str, folder: Path) -> str:
    """Return what a job wrote, as Ray shows it."""
    done = subprocess.run(
        [
            RAY, "job", "submit", "--address", address, "--log-color=false", "--",
            "bash", "-c", f"cd {folder} && export TERM=xterm && echo BEGINS; {command}; echo ENDS",
        ],
        env={**os.environ, **NO_TOKEN},
        capture_output=True, text=True, timeout=300, check=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    # The first of these words is in Ray's repetition of the command.
    return done.stdout.rpartition("\nBEGINS\n")[2].partition("\nENDS")[0]


def check(log: str) -> None:
    assert not CONTROL.search(log.replace("\r\n", "\n"))
    assert "3/3 iterations (100%)" in log
    assert "Score (1-5)" in log


def test_a_job_is_told_in_lines(cluster: str, tmp_path: Path) -> None:
    check(submitted(cluster, RUN, tmp_path))


@pytest.mark.skipif(shutil.which("script") is None, reason="there is no `script` here")
def test_a_job_with_a_terminal_of_its_own_is_told_in_lines(cluster: str, tmp_path: Path) -> None:
    check(submitted(cluster, f"script -qec '{RUN}' /dev/null", tmp_path))
