"""How busy are 8 GPUs kept by the real scheduler, controller, feeders and replica servers?

    python -m perf.feeding_real [--questions 12000] [--gpus 8] [--models 33]

Case `a` of perf.feeding without its simulation of clients and replicas: only the engines, Ray and
the time that calls take are simulated (perf/rig/world.py). Printed is `total: X x ideal`, where the
ideal has no loads and every GPU always a full batch. Bars: 1.10, with at most 40 loads.
"""

import asyncio
import math
import sys
import time
from contextlib import aclosing

from perf import arguments
from perf.feeding import LOAD_S, mixed
from perf.rig.profile import EngineProfile
from perf.rig.virtual_time import VirtualLoop
from perf.rig.world import VirtualWorld
from raybench.engines.feeder import EngineFeeder
from raybench.engines.scheduler.messages import Device, EngineNeed, MemoryBudget, Node
from raybench.types import Message, Request

_BATCH, _MEDIAN, _SPREAD, _MOST = 256, 200.0, 0.5, 1024
_BAR_TOTAL, _BAR_LOADS = 1.10, 40


def main() -> int:
    """Answer all questions; return 1 where a bar is missed."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--questions", type=arguments.count, default=12_000)
    parser.add_argument("--gpus", type=arguments.count, default=8)
    parser.add_argument("--models", type=arguments.count, default=33)
    given = parser.parse_args()
    speeds = mixed(given.models)
    begun = time.process_time()
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        seconds, loads, wakes = runner.run(_answer(speeds, given.questions, given.gpus))
    ideal = sum(given.questions / speed for speed in speeds.values()) / given.gpus
    cost = (time.process_time() - begun) / (given.questions * given.models)
    print(
        f"total: {seconds / ideal:.3f} x ideal ({seconds:,.0f} s of {ideal:,.0f} s); {loads} loads "
        f"and {wakes} wakes; {cost * 1e6:.0f} us of a processor a request"
    )
    return int(seconds / ideal > _BAR_TOTAL or loads > _BAR_LOADS)


async def _answer(speeds: dict[str, float], questions: int, gpus: int) -> tuple[float, int, int]:
    """Ask every model all questions; return the seconds, the loads and the wakes."""
    needs = [
        EngineNeed(name, MemoryBudget(16.0), 0.9, can_sleep=frozenset({1, 2}), load_s=LOAD_S)
        for name in speeds
    ]
    devices = tuple(Device(f"n/{number}", 80.0) for number in range(gpus))
    world = VirtualWorld(
        [Node("n", devices, host_gib=1000.0)],
        needs,
        {name: _profile(speed) for name, speed in speeds.items()},
    )
    await world.start()
    begun = asyncio.get_running_loop().time()
    feeders = world.client("driver")
    requests = [
        Request((Message("user", f"Question {number}"),), seed=number, max_tokens=_MOST)
        for number in range(questions)
    ]
    await asyncio.gather(*(_ask(feeder, requests) for feeder in feeders.values()))
    seconds = asyncio.get_running_loop().time() - begun
    costs = world.scheduler.costs
    await world.stop()
    return seconds, costs.loads, costs.wakes


async def _ask(feeder: EngineFeeder, requests: list[Request]) -> None:
    async with aclosing(feeder.stream(requests)) as replies:
        async for _, completion in replies:
            if completion.error is not None:
                raise RuntimeError(completion.error)


def _profile(speed: float) -> EngineProfile:
    """Return an engine that answers this many requests a second with a full batch."""
    usual = EngineProfile()
    mean = _MEDIAN * math.exp(_SPREAD**2 / 2)
    slower = _BATCH / (speed * mean * usual.step_seconds(_BATCH))
    return EngineProfile(
        load_s=LOAD_S,
        reply_tokens=_MEDIAN,
        reply_spread=_SPREAD,
        step_s=usual.step_s * slower,
        step_s_per_request=usual.step_s_per_request * slower,
        prefill_tokens_per_s=1e6,
        max_num_seqs=_BATCH,
    )


if __name__ == "__main__":
    sys.exit(main())
