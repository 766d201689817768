"""What does it cost to send each request by itself through Ray Serve's routers?

    python -m perf.routers [--requests 4000] [--outstanding 512] [--replicas 2] [--rounds 3]

A Serve deployment replies at once. Its requests are sent, `--outstanding` at a time, through

    serve      a call for each request, by Serve's default router (the power of two choices)
    prefix     the same by ray.serve.llm's PrefixCacheAffinityRouter
    raybench   calls that stream, each with all requests for which a replica has room

in turn. Printed are requests a second, and milliseconds of a processor for each (this process and
all others of its Ray): what an engine's node has left is what its engine can use. The prompts
begin alike in groups of eight, as a benchmark's do.
"""

import asyncio
import statistics
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from typing import Any

import psutil

from perf import arguments

Ask = Callable[[Any, Sequence["Prompt"], int], Coroutine[Any, Any, None]]
_BATCH = 32
"""Requests in a streaming call: about as many as an engine finishes in 20 ms."""


class Prompt:
    """A request as `ray.serve.llm` has it, as far as its router looks at it."""

    def __init__(self, text: str) -> None:
        self.prompt = text


class Echo:
    """Replies at once."""

    async def one(self, prompt: Prompt) -> str:
        """Reply to one request."""
        return prompt.prompt

    async def stream(self, prompts: Sequence[Prompt]) -> AsyncGenerator[list[str]]:
        """Reply to several."""
        yield [prompt.prompt for prompt in prompts]


def main() -> None:
    """Send the requests by each router, in turn."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--requests", type=arguments.count, default=4000)
    parser.add_argument("--outstanding", type=arguments.count, default=512)
    parser.add_argument("--replicas", type=arguments.count, default=2)
    parser.add_argument("--rounds", type=arguments.count, default=3)
    given = parser.parse_args()
    import ray
    from ray import serve

    ray.init(
        num_cpus=2 + given.replicas, include_dashboard=False, log_to_driver=False,
        logging_level="ERROR",
    )  # fmt: skip
    try:
        handles = _deployed(given.replicas)
        prompts = [
            Prompt(f"{number // 8:06d} " * 40 + f"{number}") for number in range(given.requests)
        ]
        seen: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for _ in range(given.rounds):
            for name, (handle, ask) in handles.items():
                asyncio.run(ask(handle, prompts[: given.outstanding], given.outstanding))
                begun, busy = time.perf_counter(), _processor_s()
                asyncio.run(ask(handle, prompts, given.outstanding))
                seconds = time.perf_counter() - begun
                seen[name].append((given.requests / seconds, _processor_s() - busy))
        for name, rounds in seen.items():
            rate = statistics.median(rate for rate, _ in rounds)
            cost = statistics.median(busy for _, busy in rounds) / given.requests
            print(f"{name:10} {rate:8.0f} requests/s  {cost * 1000:6.2f} ms of a processor each")
    finally:
        serve.shutdown()
        ray.shutdown()


def _deployed(replicas: int) -> dict[str, tuple[Any, Ask]]:
    """Deploy the replicas for each router; return handles, and how each is asked."""
    from ray import serve
    from ray.serve.config import RequestRouterConfig
    from ray.serve.llm.request_router import PrefixCacheAffinityRouter

    options: dict[str, Any] = {
        "num_replicas": replicas,
        "max_ongoing_requests": 10_000,
        "ray_actor_options": {"num_cpus": 0},
    }
    prefix = RequestRouterConfig(request_router_class=PrefixCacheAffinityRouter)
    usual = serve.deployment(Echo).options(**options)
    handles = {
        "serve": serve.run(usual.bind(), name="serve", route_prefix=None),
        "prefix": serve.run(
            usual.options(request_router_config=prefix).bind(), name="prefix", route_prefix=None
        ),
    }
    each = [
        serve.run(usual.options(num_replicas=1).bind(), name=f"replica-{n}", route_prefix=None)
        for n in range(replicas)
    ]
    return {
        "serve": (handles["serve"], _one_by_one),
        "prefix": (handles["prefix"], _one_by_one),
        "raybench": (each, _streamed),
    }


async def _one_by_one(handle: Any, prompts: Sequence[Prompt], outstanding: int) -> None:
    room = asyncio.Semaphore(outstanding)

    async def one(prompt: Prompt) -> None:
        async with room:
            assert await handle.one.remote(prompt) == prompt.prompt

    await asyncio.gather(*(one(prompt) for prompt in prompts))


async def _streamed(handles: Sequence[Any], prompts: Sequence[Prompt], outstanding: int) -> None:
    rooms = [asyncio.Semaphore(max(1, outstanding // _BATCH // len(handles))) for _ in handles]

    async def several(number: int, batch: Sequence[Prompt]) -> None:
        place = number % len(handles)
        async with rooms[place]:
            async for replies in handles[place].options(stream=True).stream.remote(batch):
                assert len(replies) == len(batch)

    batches = [prompts[begin : begin + _BATCH] for begin in range(0, len(prompts), _BATCH)]
    await asyncio.gather(*(several(*each) for each in enumerate(batches)))


def _processor_s() -> float:
    """Return what this process and its children have used of processors."""
    own = psutil.Process()
    used = 0.0
    for process in [own, *own.children(recursive=True)]:
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        used += times.user + times.system
    return used


if __name__ == "__main__":
    main()
