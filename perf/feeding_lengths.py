"""Is a replica full while replies have different lengths? And what does a request cost its client?

    python -m perf.feeding_lengths [--requests 16000] [--max-num-seqs 1024]

Requests whose replies have lognormal lengths (short answers, long answers, reasoning) go through
`EngineFeeder` and `ReplicaServer` to a virtual engine, which makes a token a step for each request
in its batch (perf/rig). Time is virtual. A call reaches its replica after 4 ms.

Printed for each kind: the mean number of requests in the batch, and its ratio to the ideal, which
is min(max_num_seqs, unfinished requests) at every moment. The last column is the processor time of
a request from the stream of its caller to the engine and back. The time of the same engine asked
without a feeder is subtracted. The exit code is 1 where a ratio is below 0.95.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from perf.rig.devices import DeviceMemory
from perf.rig.engine import VirtualEngine
from perf.rig.profile import EngineProfile
from perf.rig.request_engine import RequestEngine
from perf.rig.virtual_time import VirtualLoop
from raybench.engines.base import ReplicaEvent
from raybench.engines.feeder import EngineFeeder, FeederConf
from raybench.engines.replica_server import ReplicaServer
from raybench.types import Completion, Message, Request

CALL_S = 0.004
"""Seconds that a call and its first reply are under way."""
REPLY_DEADLINE_S = 600.0
BAR = 0.95


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long replies are, in tokens."""

    name: str
    median: float
    spread: float
    """Standard deviation of the logarithm."""
    most: int


KINDS = (
    Lengths("short answers", 300, 0.6, 4096),
    Lengths("long answers", 800, 0.9, 4096),
    Lengths("reasoning", 3000, 1.0, 32_000),
)


class ServedEngine(RequestEngine):
    """A virtual engine below a ReplicaServer, which notes when requests are in its batch."""

    def __init__(self, engine: VirtualEngine) -> None:
        super().__init__(engine)
        self.spans: list[tuple[float, float]] = []
        """Of each reply, when its request joined the batch and when it left it."""

    async def generate(self, request: Request) -> Completion:
        """Answer one request."""
        completion = await super().generate(request)
        end = asyncio.get_running_loop().time()
        self.spans.append((end - completion.own_seconds, end))
        return completion


class LocalReplica:
    """The handle of a replica in this process."""

    def __init__(self, server: ReplicaServer, call_s: float = CALL_S) -> None:
        self._server = server
        self._call_s = call_s

    async def stream(self, requests: Sequence[Request]) -> AsyncGenerator[ReplicaEvent]:
        """Answer these requests."""
        await asyncio.sleep(self._call_s)
        async with aclosing(self._server.stream(requests)) as events:
            async for event in events:
                yield event


@dataclass(frozen=True, slots=True)
class BatchUse:
    """How full the batch was, in how much time."""

    seconds: float
    mean_batch: float
    ideal_batch: float
    processor_s: float


def main() -> None:
    """Print how full the batch is, for each kind of lengths."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--requests", type=int, default=16_000)
    parser.add_argument("--max-num-seqs", type=int, default=1024)
    given = parser.parse_args()
    missed = False
    for kind in KINDS:
        fed = measure(kind, given.requests, given.max_num_seqs, ask_through_feeder)
        direct = measure(kind, given.requests, given.max_num_seqs, ask_engine)
        share = fed.mean_batch / fed.ideal_batch
        missed |= share < BAR
        cost_s = (fed.processor_s - direct.processor_s) / given.requests
        print(
            f"{kind.name:14} busy: {share:.3f} of ideal; mean batch {fed.mean_batch:.0f} of "
            f"{fed.ideal_batch:.0f}; {fed.seconds / 3600:.2f} h; {cost_s * 1e6:.0f} us a request"
        )
    sys.exit(missed)


def measure(
    kind: Lengths,
    requests: int,
    max_num_seqs: int,
    ask: Callable[[ServedEngine, Iterator[Request]], Awaitable[None]],
) -> BatchUse:
    """Answer requests with replies of a kind, in virtual time."""
    profile = EngineProfile(
        load_s=0.0, reply_tokens=kind.median, reply_spread=kind.spread, max_num_seqs=max_num_seqs
    )

    async def run() -> BatchUse:
        engine = VirtualEngine(profile, DeviceMemory({"gpu": 80.0}), ["gpu"], name="engine")
        await engine.start()
        served = ServedEngine(engine)
        begun, worked_since = asyncio.get_running_loop().time(), time.process_time()
        await ask(served, requests_of(kind, requests))
        processor_s = time.process_time() - worked_since
        ends = sorted(end for _, end in served.spans)
        seconds = ends[-1] - begun
        possible, since = 0.0, begun
        for finished, end in enumerate(ends):
            possible += min(max_num_seqs, requests - finished) * (end - since)
            since = end
        running = sum(end - joined for joined, end in served.spans)
        return BatchUse(seconds, running / seconds, possible / seconds, processor_s)

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(run())


def requests_of(kind: Lengths, requests: int) -> Iterator[Request]:
    """Yield requests whose replies have the lengths of a kind."""
    for number in range(requests):
        message = Message("user", f"Question {number}: which of these is right?")
        yield Request((message,), seed=number, max_tokens=kind.most)


async def ask_through_feeder(engine: ServedEngine, requests: Iterator[Request]) -> None:
    """Answer the requests with a feeder and a replica."""
    loop = asyncio.get_running_loop()
    server = ReplicaServer(engine, REPLY_DEADLINE_S, end_process=_end, clock=loop.time)
    feeder = EngineFeeder("engine", FeederConf("perf"), loop.time)
    feeder.set_replicas({"engine-r0": LocalReplica(server)})
    async with aclosing(feeder.stream(requests)) as replies:
        async for _, completion in replies:
            if completion.error is not None:
                raise RuntimeError(completion.error)


async def ask_engine(engine: ServedEngine, requests: Iterator[Request]) -> None:
    """Answer the requests with the engine alone, all at once."""
    await asyncio.gather(*map(engine.generate, requests))


def _end() -> None:
    raise RuntimeError("the replica ended")


if __name__ == "__main__":
    main()
