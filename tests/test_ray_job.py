"""Runs that `ray job submit` starts, on a cluster of several raylets.

They are told in lines, also where the driver has a pseudo-terminal.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest
from clusters import NO_TOKEN, RAY, head, worker
from helpers import SIMULATED, results_of, units_of, with_store
from ports import free

pytestmark = [pytest.mark.ray, pytest.mark.timeout(900)]

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
RUN = f"{sys.executable} -m raybench {' '.join(SIMULATED)} autobench.iterations=3"
FAR = ("one", "other")
"""The nodes beside the head, by a label of theirs."""
SLOWLY = " ".join(f"++roster.models.{place}.options.latency_s=5" for place in range(12))


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Yield the address to which jobs are submitted, of a cluster of three that is ours alone."""
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
    far = [(f"{own}:{gcs}", "--num-cpus=1", f"--labels=far=yes,name={it}") for it in FAR]
    with head(*options, up=listens), worker(*far[0]), worker(*far[1]):
        yield address


def listed(address: str, what: str) -> list[dict[str, Any]]:
    """Return what Ray has on record of its nodes, tasks or actors."""
    with urlopen(f"{address}/api/v0/{what}?limit=10000&detail=true", timeout=60) as reply:
        rows: list[dict[str, Any]] = json.load(reply)["data"]["result"]["result"]
    return rows


def workers(address: str, before: Container[str]) -> dict[str, Counter[str | None]]:
    """Return how many actors of ours, by kind, each node has or had, by its name.

    The head has no name. Those `before` are left out, by their ids, and what is not placed yet.
    """
    names = {it["node_id"]: it["labels"].get("name") for it in listed(address, "nodes")}
    found = dict[str, Counter[str | None]]()
    for it in listed(address, "actors"):
        ours = re.fullmatch(r"MapWorker\(MapBatches\((\w+)\)\)|(_Remote|Slot)", it["class_name"])
        if ours and it["actor_id"] not in before and it["node_id"] is not None:
            found.setdefault(ours[1] or ours[2], Counter())[names[it["node_id"]]] += 1
    return found


@contextmanager
def begun(address: str, command: str) -> Iterator[None]:
    """Have a job go on meanwhile."""

    def asked(method: str, path: str = "", **body: str) -> Any:
        content = {"Content-Type": "application/json"}
        data = json.dumps(body).encode() if body else None
        request = Request(f"{address}/api/jobs/{path}", data, content, method=method)
        with urlopen(request, timeout=60) as reply:
            return json.load(reply)

    job = asked("POST", entrypoint=f"bash -c {shlex.quote(command)}")["submission_id"]
    try:
        yield
    finally:
        asked("POST", f"{job}/stop")
        until = time.monotonic() + 60
        while asked("GET", job)["status"] not in ("STOPPED", "FAILED", "SUCCEEDED"):
            assert time.monotonic() < until
            time.sleep(0.5)


def submitted(address: str, command: str, folder: Path) -> str:
    """Return what a job wrote, as Ray shows it."""
    job = subprocess.run(
        [
            RAY, "job", "submit", "--address", address, "--log-color=false", "--",
            "bash", "-c", f"cd {folder} && export TERM=xterm && echo BEGINS; {command}; echo ENDS",
        ],
        env={**os.environ, **NO_TOKEN},
        capture_output=True, text=True, timeout=600, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert job.returncode == 0, f"{job.stdout}\n{job.stderr}"
    # The first of these words is in Ray's repetition of the command.
    return job.stdout.rpartition("\nBEGINS\n")[2].partition("\nENDS")[0]


def check(log: str) -> None:
    assert not CONTROL.search(log.replace("\r\n", "\n"))
    assert "3/3 iterations (100%)" in log
    assert "Score (1-5)" in log


def test_a_job_is_told_in_lines(cluster: str, tmp_path: Path) -> None:
    check(submitted(cluster, RUN, tmp_path))


@pytest.mark.long(short="tests/test_ray_job.py::test_a_job_is_told_in_lines")
@pytest.mark.skipif(shutil.which("script") is None, reason="there is no `script` here")
def test_a_job_with_a_terminal_of_its_own_is_told_in_lines(cluster: str, tmp_path: Path) -> None:
    check(submitted(cluster, f"script -qec '{RUN}' /dev/null", tmp_path))


def test_a_job_works_on_all_nodes(cluster: str, ready: Path) -> None:
    """Questions are put where the driver is; slots for programs are on both nodes meant for them.

    How programs spread over slots is for `sandbox/test_pool_of_nodes.py`. Here everything else
    shares one processor, and nothing waits for another's.
    """
    before = {it["actor_id"] for it in listed(cluster, "actors")}
    log = submitted(
        cluster,
        f"{sys.executable} -m raybench +experiment=index roster=simulated data=samples "
        "index.benchmarks=[humaneval] index.limit=4 'sandbox.nodes={far: yes}' "
        "\"fleet.work_nodes={far: '!yes'}\"",
        ready,
    )
    assert "48/48 units (100%)" in log, log
    units = {(it["model"], it["key"]) for it in units_of(ready, "index")}
    assert len(units) == len(units_of(ready, "index")) == 48
    kinds = results_of(ready, "index")["run"]["hardware"]["cluster"]
    # By kind: what Ray leaves of the memory to each that came up differs.
    assert sum(it["nodes"] for it in kinds) == 3
    assert {it["cpus"] for it in kinds} == {1}

    assert len(listed(cluster, "nodes")) == 3
    assert {kind: {*it} for kind, it in workers(cluster, before).items()} == {
        "Generate": {None}, "InTurn": {None}, "Slot": {*FAR},
    }  # fmt: skip


def test_work_is_on_the_nodes_that_are_meant_and_on_no_other(cluster: str, tmp_path: Path) -> None:
    """One of three nodes is meant to work, and it is not the driver's, which asks the models."""
    asked = (
        f"{sys.executable} -m raybench roster=simulated {SLOWLY} 'fleet.work_nodes={{name: one}}'"
    )
    graded = f"{asked} +experiment=index data=samples index.benchmarks=[mmlu_pro]"
    played = f"{asked} +experiment=games games.names=[liars_dice] games.matches=4000"
    both = " & ".join(
        f"(cd {with_store(tmp_path / name)} && {command})"
        for name, command in {"graded": graded, "played": played}.items()
    )
    wanted = {"Generate": 1, "Grade": 1, "_Remote": min(os.cpu_count() or 1, 2)}
    before = {it["actor_id"] for it in listed(cluster, "actors")}
    with begun(cluster, f"{both} & wait"):
        until = time.monotonic() + 200
        found = workers(cluster, before)
        while {kind: it.total() for kind, it in found.items()} != wanted:
            assert time.monotonic() < until, found
            time.sleep(0.5)
            found = workers(cluster, before)
    assert found.pop("Generate") == {None: 1}
    assert found == {kind: {"one": wanted[kind]} for kind in found}
