"""What does an engine on CPUs gain by leaving one core to others?

    python perf/engine_cores.py [--rounds 3] [--tokens 64] [--busy 1]

An engine of the embedded model answers one prompt, and 16 at once, with a thread for every core and
with a thread for all but one, which is vLLM's own way and raybench's: alone on the machine, and
beside so many processes that keep a core busy, as drivers, graders and sandboxes do. Prints the
median output tokens a second and how they compare. A machine with one core has nothing to compare.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from raybench.config import FleetConf
from raybench.fleet import Fleet, open_fleet
from raybench.types import Message, ModelSpec, Request

_ALL, _BUT_ONE = "every core", "all but one"
_RESERVED = {_ALL: "0", _BUT_ONE: "1"}
_AT_ONCE = (1, 16)
_BUSY = "while True: pass"


def main() -> None:
    """Measure one way of placing threads after the other, or be the process that measures one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--busy", type=int, default=1)
    parser.add_argument("--arm", action="store_true", help=argparse.SUPPRESS)
    told = parser.parse_args()
    if told.arm:
        print(json.dumps(asyncio.run(rates(told.rounds, told.tokens, told.busy))))
        return
    if len(os.sched_getaffinity(0)) == 1:
        sys.exit("engine_cores: this machine has one core, of which none can be left free")
    found = {way: _measured(way) for way in _RESERVED}
    print(f"{'output tokens a second':34}{_ALL:>12}{_BUT_ONE:>14}{'ratio':>8}")
    for name, rate in found[_ALL].items():
        other = found[_BUT_ONE][name]
        print(f"{name:34}{rate:12.1f}{other:14.1f}{other / rate:8.2f}")


def _measured(way: str) -> dict[str, float]:
    environment = {**os.environ, "VLLM_CPU_NUM_OF_RESERVED_CPU": _RESERVED[way]}
    command = [sys.executable, *sys.argv, "--arm"]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    rate: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return rate


async def rates(rounds: int, tokens: int, busy: int) -> dict[str, float]:
    """Return the output tokens a second of an engine, by what it does and beside what."""
    model = ModelSpec("small", "vllm", "embedded")
    found: dict[str, list[float]] = {}
    async with open_fleet([model], FleetConf(kv_cache_gib=0.5), lambda text: None) as fleet:
        await _rate(fleet, 1, tokens, "to warm up")
        for number in range(rounds):
            for others, at_once in ((others, it) for others in (0, busy) for it in _AT_ONCE):
                name = f"{at_once} at once, {f'beside {others} busy' if others else 'alone'}"
                with _beside(others):
                    rate = await _rate(fleet, at_once, tokens, f"{number} {others}")
                found.setdefault(name, []).append(rate)
    return {name: statistics.median(several) for name, several in found.items()}


async def _rate(fleet: Fleet, at_once: int, tokens: int, name: str) -> float:
    asked = [
        Request(
            (Message("user", f"{name}: write on the number {number}."),),
            seed=number,
            max_tokens=tokens,
            regex=f"(word ){{{tokens}}}",  # nobody stops before
        )
        for number in range(at_once)
    ]
    began = time.monotonic()
    replies = await fleet.complete("small", asked)
    took = time.monotonic() - began
    return sum(reply.output_tokens for reply in replies) / took


@contextmanager
def _beside(others: int) -> Iterator[None]:
    busy = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(others)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
