"""How a Ray of our own is set up: nobody watches it, unless somebody says so."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT

from raybench.fleet.ray_environment import UNWATCHED, meanwhile

PROGRAM = """
import asyncio, json, os, sys, time
from raybench.config import FleetConf
from raybench.fleet import cluster

def work() -> int:
    return 1

async def main() -> None:
    async with cluster.cluster(FleetConf(address=sys.argv[1]), lambda text: None):
        import ray
        ray.get(ray.remote(work).remote())
        deadline = time.monotonic() + 5
        while not (seen := [it for it in ray.timeline() if "work" in it["name"]]):
            if time.monotonic() > deadline:
                break
            await asyncio.sleep(0.5)
        print(json.dumps({"seen": bool(seen), "set": dict(os.environ)}))

asyncio.run(main())
"""


def run(address: str, folder: Path, **given: str) -> Any:
    """Have a task done on a Ray; return whether its timeline knows of it, and what is set."""
    inherited = {name: it for name, it in os.environ.items() if not name.startswith("RAY_")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, address],
        env={**inherited, "HOME": str(folder), "PYTHONPATH": str(ROOT), **given},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_a_ray_of_our_own_keeps_no_timeline_unless_somebody_wants_one(tmp_path: Path) -> None:
    told = run("local", tmp_path)
    assert not told["seen"]
    assert UNWATCHED.items() <= told["set"].items()
    assert run("local", tmp_path, RAY_task_events_report_interval_ms="500")["seen"]


@pytest.mark.slow
def test_a_ray_that_is_joined_is_watched_as_its_operator_likes(
    tmp_path: Path, lasting_ray: str
) -> None:
    told = run(lasting_ray, tmp_path, RAY_AUTH_MODE="disabled")
    assert told["seen"]
    assert not UNWATCHED.keys() & told["set"].keys()


def test_what_is_set_meanwhile_is_gone_afterwards_and_what_was_there_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("THERE", "before")
    monkeypatch.delenv("OURS", raising=False)
    with pytest.raises(RuntimeError), meanwhile({"THERE": "ours", "OURS": "ours"}):
        assert (os.environ["THERE"], os.environ["OURS"]) == ("before", "ours")
        raise RuntimeError
    assert os.environ["THERE"] == "before"
    assert "OURS" not in os.environ
