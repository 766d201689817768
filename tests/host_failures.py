"""Runs on the first of several hosts, of which another one is cut off while it works."""

import re
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from helpers import with_store
from hosts import Host, Lan
from undisturbed import Verdict, compared, count_units

FAR = ("--num-cpus=2", "--labels=far=yes")
"""Options of the hosts that are to work."""
WORK_FAR = "fleet.work_nodes={far: yes}"
NODE_DIED = re.compile(r"node 10\.233\.0\.\d of the cluster died")
_PATIENCE_S = 400
_WORK = r"ray::(MapWorker\(MapBatches\(Grade\)|_Seated|_Remote|ServeReplica)"


def start(lan: Lan, folder: Path, *arguments: str) -> "Popen[str]":
    """Start a run on the first host; it writes to that host's disk only."""
    (folder / "scratch").mkdir(parents=True)
    return lan.raybench(*arguments, cwd=with_store(folder), scratch=folder / "scratch")


def wait_until(run: "Popen[str]", happened: Callable[[], Any]) -> Any:
    """Wait until something has happened in a run that is going on; return what."""
    deadline = time.monotonic() + _PATIENCE_S
    while not (result := happened()):
        if run.poll() is not None or time.monotonic() > deadline:
            output = run.stdout.read() if run.stdout and run.poll() is not None else "no end"
            pytest.fail(f"it never happened: {output}")
        time.sleep(0.2)
    return result


def finish(run: "Popen[str]") -> str:
    """Wait until a run has ended well; return its output, in which Ray says nothing."""
    output, _ = run.communicate(timeout=_PATIENCE_S)
    assert run.returncode == 0, output
    assert "raylet" not in output
    return output


def working_host(lan: Lan, actor: str) -> Host | None:
    """Return a host on which such an actor works; on the first one none may."""
    assert not lan.hosts[0].actors(actor)
    connected = (host for host in lan.hosts[1:] if host not in lan.off)
    return next((host for host in connected if host.actors(actor)), None)


def cut_off(lan: Lan, host: Host) -> None:
    """Pull a host's cable, and kill its raylet a little later."""
    lan.cut(host)
    time.sleep(1)
    host.kill("raylet")


def check_that_others_finish(
    lan: Lan, place: Path, experiment: str, arguments: list[str], actor: str, *, units: int
) -> None:
    """Cut off a host that works once a run has finished some units; compare with a calm run.

    No unit may be lost or run twice, and the results have to be those of the calm run.
    """
    calm, rough = place / f"{experiment}-calm", place / f"{experiment}-rough"
    command = [f"+experiment={experiment}", "roster=simulated", WORK_FAR, *arguments]
    finish(start(lan, calm, *command))
    run = start(lan, rough, *command)
    host = wait_until(run, lambda: working_host(lan, actor))
    wait_until(run, lambda: count_units(rough, experiment) >= units)
    assert not lan.hosts[0].processes(_WORK)
    cut_off(lan, host)
    output = finish(run)
    assert NODE_DIED.search(output), output
    verdict = compared(rough, calm, experiment)
    assert verdict.planned > 100
    assert verdict == Verdict(verdict.planned, lost=0, doubled=0)
