"""How runs grow with the nodes of a cluster: rates on 1, 2 and 4 raylets, in one run.

    PYTHONPATH=. python -m perf.scaling                 a quarter of an hour
    PYTHONPATH=. python -m perf.scaling games           matches alone
    PYTHONPATH=. python -m perf.scaling --rounds 1      shorter

*games*: liar's dice between stand-ins of which each takes 50 ms for a move, 16 matches at once for
each node (`--matches`). *index*: the graph of a run of benchmarks, from questions to graded units,
with simulated models that take four to twelve seconds for a batch of 32, and 64 batches at once for
each node. So four nodes ask for a quarter to a third of what two cores can compute.

Efficiency is the rate by what so many nodes would make of the rate of one. All raylets share this
machine's processors, so that what they compute (prompts, replies read and graded, journals, Ray's
own work) is paid for by one machine, however many there are: more than some 5,000 moves or 3,500
units a second no two cores make. Each number is a median over rounds, in turn. PYTHONPATH has to
name this checkout: Ray's workers import it, too. Exit code 1 where an efficiency is below `LEAST`.
"""

import argparse
import asyncio
import os
import random
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from perf.games_pool import Rate, with_latency
from raybench import benchmarks
from raybench.config import DataConf, FleetConf
from raybench.fleet import Fleet, group_engines
from raybench.fleet.link import Link
from raybench.fleet.simulated import SimulatedEngine
from raybench.fleet.streams import Room
from raybench.pipeline import datasets, graph
from raybench.pipeline.datasets import Selection
from raybench.pipeline.stages import Asking
from raybench.pipeline.units import Job
from raybench.types import Completion, ModelSpec, Request

LEAST = 0.9
_NODES = (1, 2, 4)
_TAKES_S = (4.0, 12.0)
_BATCH = 32
_BATCHES = 64
"""What the engines of one node are asked at once."""
_WARM_S = 16.0
"""After the first units of a graph, until all of its processes are up and have others to grade."""
_ENGINES_EACH = 8
"""Engines of a node: the graph opens a process more that asks for each eight of them."""
_ROW = "{:>6} {:>6} {:>8} {:>9} {:>11} {:>17}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("ways", nargs="*", metavar="WAY", default=["index", "games"])
    parser.add_argument("--seconds", type=float, default=12.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3, help="of each")
    parser.add_argument("--matches", type=int, default=16, help="at once, of a node")
    asked = parser.parse_args()
    ways: dict[str, tuple[int, Callable[[int], float]]] = {
        "games": (
            asked.matches,
            lambda count: with_latency(asked.matches * count, asked.seconds, count),
        ),
        "index": (
            _BATCHES * _BATCH,
            lambda count: asyncio.run(units(count, asked.seconds)),
        ),
    }
    if unknown := set(asked.ways) - ways.keys():
        parser.error(f"{', '.join(sorted(unknown))}: there are {', '.join(ways)}")
    print(_ROW.format("", "nodes", "at once", "a second", "efficiency", "rounds"), flush=True)
    worst = min(_measured(name, *ways[name], asked.rounds) for name in asked.ways)
    sys.exit(worst < LEAST)


def _measured(name: str, each: int, rate: Callable[[int], float], rounds: int) -> float:
    """Print the rows of one way; return the worst efficiency."""
    rates: dict[int, list[float]] = {count: [] for count in _NODES}
    for _ in range(rounds):
        for count in _NODES:
            with nodes(count):
                rates[count].append(rate(count))
    one, worst = statistics.median(rates[1]), 1.0
    for count in _NODES:
        shares = sorted(it / (count * one) for it in rates[count])
        spread = f"{shares[0]:.3f}-{shares[-1]:.3f}"
        median, share = statistics.median(rates[count]), statistics.median(shares)
        print(
            _ROW.format(name, count, each * count, f"{median:,.0f}", f"{share:.3f}", spread),
            flush=True,
        )
        worst = min(worst, share)
    return worst


@contextmanager
def nodes(count: int) -> Iterator[None]:
    """Have a cluster of so many raylets, which this process has joined."""
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"include_dashboard": False})
    try:
        for _ in range(count - 1):
            cluster.add_node()
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        yield
    finally:
        ray.shutdown()
        cluster.shutdown()


async def units(count: int, seconds: float) -> float:
    """Return how many units a second come out of a graph with so many processes that ask."""
    model = ModelSpec("stand-in", "simulated", "")
    specs = group_engines([model])
    fleet = Fleet(specs, {spec.name: Ponders() for spec in specs})
    link, rate = Pondering.to(fleet, [model], FleetConf()), Rate(_WARM_S + seconds, _WARM_S)
    processes = graph.generators(link, _ENGINES_EACH * count, 0, os.cpu_count() or 1)
    link = replace(link, at_once=_BATCHES * _BATCH * count // processes)
    with tempfile.TemporaryDirectory() as folder:
        (found,) = datasets.prepare(
            [benchmarks.load("mmlu_pro")], DataConf(source="samples"), Selection(), Path(folder)
        )
        shard = str(found.shards[0])
        # Twice what there is time for: the graph is left while all of its processes are busy.
        enough = int(2 * count * _BATCHES * (4 * _WARM_S + seconds) / statistics.mean(_TAKES_S))
        jobs = [
            Job(model.name, "mmlu_pro", shard, 0, 1, repeats=_BATCH, first=_BATCH * number)
            for number in range(enough)
        ]
        work = graph.Work(jobs, Asking({model.name: model}, 0), awake=_ENGINES_EACH * count)
        async with aclosing(graph.stream(work, link)) as blocks:
            async for some in blocks:
                for unit in some:
                    rate.count(unit)
                if rate.passed_s > rate.seconds:
                    break
    return rate.per_second


@dataclass(frozen=True)
class Pondering(Link):
    """A link to stand-ins that take a while, each process having its own."""

    at_once: int = 0
    """Requests that a process asks them at once."""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Fleet]:
        """Open them in this process."""
        specs = group_engines(self.models)
        yield Fleet(specs, {spec.name: Ponders(self.at_once) for spec in specs})


class Ponders(SimulatedEngine):
    """An engine of which every batch takes another time."""

    def __init__(self, at_once: int = 0) -> None:
        super().__init__()
        self._room = Room(at_once)

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        """Answer when the time is over."""
        await asyncio.sleep(random.uniform(*_TAKES_S))
        return await super().complete(model, requests)


if __name__ == "__main__":
    main()
