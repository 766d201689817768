"""Runs that `ray job submit` starts, on a cluster of several raylets.

They are told in lines, also where the driver has a pseudo-terminal.
"""

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
from clusters import NO_TOKEN, RAY, head, worker
from helpers import SIMULATED, results_of, units_of
from ports import free

pytestmark = pytest.mark.slow

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
RUN = f"{sys.executable} -m raybench {' '.join(SIMULATED)} autobench.iterations=3"


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Yield the address to which jobs are submitted, of a cluster that is ours alone."""
    port, gcs = free(2)
    address = f"http://127.0.0.1:{port}"

    def listens(_: str) -> bool:
        with suppress(URLError, OSError):
            urlopen(f"{address}/api/version", timeout=5).close()
            return True
        return False

    own = "127.0.0.1"
    options = (
        f"--port={gcs}", f"--node-ip-address={own}", "--num-cpus=1", "--include-dashboard=true",
        f"--dashboard-port={port}",
    )  # fmt: skip
    with head(*options, up=listens), worker(f"{own}:{gcs}", "--num-cpus=2", "--labels=far=yes"):
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


def test_a_job_works_on_all_nodes(cluster: str, tmp_path: Path) -> None:
    """Programs run where they are meant to, which is not where the driver is."""
    log = submitted(
        cluster,
        f"{sys.executable} -m raybench +experiment=index roster=simulated data=samples "
        "index.benchmarks=[humaneval] index.limit=4 'sandbox.nodes={far: yes}'",
        tmp_path,
    )
    assert "48/48 units (100%)" in log, log
    assert len(units_of(tmp_path, "index")) == 48
    kinds = results_of(tmp_path, "index")["run"]["hardware"]["cluster"]
    assert sorted((it["nodes"], it["cpus"]) for it in kinds) == [(1, 1), (1, 2)]
