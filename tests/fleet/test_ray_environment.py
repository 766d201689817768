"""How a Ray of our own is set up: nobody watches it, unless somebody says so."""

import os
from pathlib import Path

import pytest
from own_ray import told

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


@pytest.mark.slow
def test_a_ray_of_our_own_keeps_no_timeline_unless_somebody_wants_one(tmp_path: Path) -> None:
    alone = told(PROGRAM, tmp_path, "local")
    assert not alone["seen"]
    assert UNWATCHED.items() <= alone["set"].items()
    assert told(PROGRAM, tmp_path, "local", RAY_task_events_report_interval_ms="500")["seen"]


@pytest.mark.slow
def test_a_ray_that_is_joined_is_watched_as_its_operator_likes(
    tmp_path: Path, lasting_ray: str
) -> None:
    joined = told(PROGRAM, tmp_path, lasting_ray, RAY_AUTH_MODE="disabled")
    assert joined["seen"]
    assert not UNWATCHED.keys() & joined["set"].keys()


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
