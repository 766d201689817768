"""Programs that start a Ray, or join one, as users do: in a process of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from helpers import ROOT


def told(program: str, home: Path, *arguments: str, **given: str) -> Any:
    """Run a program without Ray's variables but those given; return its last line, read as JSON."""
    inherited = {name: it for name, it in os.environ.items() if not name.startswith("RAY_")}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**inherited, "HOME": str(home), "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", **given},
        capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


FACTS = """
import asyncio, json, os, signal, sys, time
from pathlib import Path

import psutil
from listening import listeners
from raybench.config import FleetConf
from raybench.fleet import cluster
from raybench import ray_patches
from raybench.pipeline import process

JOINED = sys.argv[1]
PATIENCE_S = 60

class Deployed:
    def __init__(self) -> None:
        ray_patches.listen_on_loopback()  # as engines and the endpoint do

class Doubled:
    def __call__(self, block):
        return {"id": block["id"] * 2}

class Stage:
    def __init__(self, prepared) -> None:
        if prepared:
            process.prepare()

    def pid(self) -> int:
        return os.getpid()

def work() -> int:
    return os.getpid()

def gone(pid) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE

async def until(there, what) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not there():
        assert time.monotonic() < deadline, f"not in {PATIENCE_S} s: {what}"
        await asyncio.sleep(0.1)

def seen(ray) -> bool:
    return any("work" in it["name"] for it in ray.timeline())

async def doubled(ray) -> dict:
    from ray.data import ActorPoolStrategy
    ray_patches.replace_data_actors()
    ray.data.DataContext.get_current().enable_progress_bars = False
    graph = ray.data.range(100).map_batches(
        Doubled, compute=ActorPoolStrategy(size=1), num_cpus=0.1, batch_size=10
    )
    rows = sorted(row["id"] for row in await asyncio.to_thread(graph.take_all))
    named = ray.util.list_named_actors(all_namespaces=True)  # Serve's are in a namespace of theirs
    return {"rows": rows, "actors": [it["name"] for it in named if it["namespace"] != "serve"]}

async def destructed(ray) -> dict:
    session = Path(ray._private.worker._global_node.get_session_dir_path())
    found = {}
    for prepared in (False, True):
        actor = ray.remote(num_cpus=0)(Stage).remote(prepared)
        pid = ray.get(actor.pid.remote())
        del actor
        await until(lambda: gone(pid), "a stage's process ends")
        (log,) = (session / "logs").glob(f"python-core-worker-*_{pid}.log")
        taken_down = "Destructing CoreWorkerProcess" in log.read_text()
        found["prepared" if prepared else "plain"] = taken_down
    return found

async def own() -> dict:
    facts = {}
    async with cluster.serving(FleetConf(), lambda text: None):
        import ray
        from ray import serve
        # Without a processor: there may be two, and a graph needs more than one.
        deployed = serve.deployment(Deployed).options(ray_actor_options={"num_cpus": 0})
        await asyncio.to_thread(serve.run, deployed.bind(), route_prefix=None)
        facts["listeners"] = listeners()
        ours = psutil.Process().children(recursive=True)
        facts["commands"] = [" ".join(it.cmdline()) for it in ours]
        pid = ray.get(ray.remote(work).remote())
        facts["environment"] = dict(os.environ)
        facts |= await doubled(ray)
        facts["destructed"] = await destructed(ray)
        facts["seen"] = seen(ray)  # after all else: workers report each second, if they do
        os.kill(pid, signal.SIGSTOP)  # it reacts to nothing any more
        facts["stuck"] = pid
    facts["stuck is gone"] = gone(facts["stuck"])
    return facts

async def joined() -> dict:
    os.environ["RAY_AUTH_MODE"] = "disabled"
    try:
        async with cluster.cluster(FleetConf(address=JOINED), lambda text: None):
            import ray
            ray.get(ray.remote(work).remote())
            await until(lambda: seen(ray), "a timeline of a Ray that is joined")
            return {"environment": dict(os.environ), **await doubled(ray)}
    finally:
        del os.environ["RAY_AUTH_MODE"]

async def own_again() -> dict:
    os.environ["RAY_task_events_report_interval_ms"] = "500"
    async with cluster.cluster(FleetConf(), lambda text: None):
        import ray
        actor = ray.remote(Stage).options(num_cpus=0).remote(False)
        works = ray.get(actor.pid.remote(), timeout=PATIENCE_S) > 0
        ray.get(ray.remote(work).remote())
        await until(lambda: seen(ray), "the timeline that a user asks for")
        return {"works": works}

async def main() -> None:
    import ray  # as programs have that use raybench as a library: Ray reads its settings then
    facts = {"own": await own(), "joined": await joined(), "again": await own_again()}
    print(json.dumps({**facts, "mode": os.environ.get("RAY_AUTH_MODE")}))

asyncio.run(main())
"""
"""Starts a Ray, joins one, and starts another; prints what it sees of each."""
