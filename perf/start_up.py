"""How long is it from the start of a process to an engine's first reply, and what is kept for it?

    python perf/start_up.py [--rounds 3] [--against ANOTHER_CHECKOUT]

Each round is a process of its own that opens a fleet of one hosted model (the embedded one) in a
Ray of its own, asks for one token, and counts what its processes take of memory (proportionally:
pages that they share are counted once). Prints medians, and with another checkout those of that,
measured by turns with ours, and the ratios.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).parents[1]
_MIB = 2**20


def main() -> None:
    """Compare checkouts by turns, or be the process that measures one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--begun", type=float, help=argparse.SUPPRESS)
    told = parser.parse_args()
    if told.begun:
        print(json.dumps(asyncio.run(_start(told.begun))))
        return
    trees = [HERE] + [told.against.resolve()] * bool(told.against)
    found = [[_measured(tree) for tree in trees] for _ in range(told.rounds)]
    names = ["this"] + ["that", "this / that"] * bool(told.against)
    print(f"{'median of ' + str(told.rounds):44}" + "".join(f"{name:>12}" for name in names))
    for what in found[0][0]:
        medians = [statistics.median(each[what] for each in of) for of in zip(*found, strict=True)]
        compared = [f"{medians[0] / medians[1]:12.2f}"] if told.against else []
        print(f"{what:44}" + "".join([*(f"{it:12.1f}" for it in medians), *compared]))


def _measured(tree: Path) -> dict[str, float]:
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    command = [sys.executable, str(Path(__file__).resolve()), "--begun", str(time.time())]
    # Ray's workers look in the folder that it is started from.
    done = subprocess.run(
        command, cwd=tree, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    print(json.dumps({"tree": tree.name, **measured}), file=sys.stderr)
    return measured


async def _start(begun: float) -> dict[str, float]:
    """Return what it took, in a process that began then."""
    from raybench.config import FleetConf
    from raybench.fleet import open_fleet
    from raybench.types import Message, ModelSpec, Request

    model = ModelSpec("small", "vllm", "embedded")
    asked = Request((Message("user", "Say yes."),), seed=0, max_tokens=1)
    async with open_fleet([model], FleetConf(kv_cache_gib=0.5), lambda text: None) as fleet:
        ready = time.time()
        (reply,) = await fleet.complete(model.name, [asked])
        answered = time.time()
        assert not reply.error, reply.error
        memory, processors = _used()
    return {
        "s until the engine is up": ready - begun,
        "s until the first reply": answered - begun,
        "processor seconds until then": processors,
        "MiB of all processes then": memory,
    }


def _used() -> tuple[float, float]:
    """Return the memory and the processor seconds of this process and those beneath it."""
    import psutil

    memory = processors = 0.0
    for process in [ours := psutil.Process(), *ours.children(recursive=True)]:
        with suppress(psutil.Error):
            memory += process.memory_full_info().pss / _MIB
            times = process.cpu_times()
            processors += times.user + times.system + times.children_user + times.children_system
    return memory, processors


if __name__ == "__main__":
    main()
