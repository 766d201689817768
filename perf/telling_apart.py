"""How many iterations does a peer assessment need to tell two of its models apart?

    python perf/telling_apart.py RUN_FOLDER          from a run's journal
    python perf/telling_apart.py --gather 100        from the demo's roster, many iterations at once

Prints, for every pair of models, the mean difference of their scores over the iterations in which
both were scored, its 95 % interval (paired, Student's t), and how long a run has to be for four in
five such runs to tell the two apart (a difference of 2.8 standard errors), with the lengths at the
ends of the interval: a difference that may be 0 may need any length.

Gathering runs iterations side by side, several times faster than the experiment, which runs one
after the other. It is exact here because the demo's thresholds accept a task as soon as anybody
rates it above 1, whatever the weights: they enter only the scores, which are replayed in order.
"""

import argparse
import asyncio
import itertools
import json
import math
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from raybench import cli
from raybench.arena.peers import run_iteration
from raybench.autobench.protocol import Record
from raybench.autobench.standing import Standing, advance, contestant_scores
from raybench.experiments.autobench.setup import decoding, settings
from raybench.fleet import Fleet, open_fleet
from raybench.stats import intervals
from raybench.types import Estimate

_AT_ONCE = 12
_TELLING = 2.8  # 1.96 for the 95 % interval to exclude 0, and 0.84 for that to happen in 80 %
Scores = Mapping[str, float | None]


def main() -> None:
    """Print a line per pair of models."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("run", type=Path, nargs="?")
    source.add_argument("--gather", type=int, metavar="ITERATIONS")
    arguments = parser.parse_args()
    scores = asyncio.run(gather(arguments.gather)) if arguments.gather else read(arguments.run)
    for better, worse in itertools.combinations(scores[0], 2):
        print(compare(better, worse, scores))


def compare(better: str, worse: str, scores: Sequence[Scores]) -> str:
    """Return what the iterations say about two models."""
    pairs = [(row.get(better), row.get(worse)) for row in scores]
    found = intervals.mean(
        [first - second for first, second in pairs if first is not None and second is not None],
        over="iterations",
    )
    if not found.ci95 or not found.stderr or not found.value:
        return f"{better} - {worse}: {found.value} (n = {found.n}; {found.method})"
    low, high = found.ci95
    told = (
        f"{_needed(found, found.value)} iterations tell "
        f"({_needed(found, max(low, high, key=abs))} to {_needed(found, min(low, high, key=abs))})"
        if low * high > 0
        else f"{_needed(found, found.value)} iterations would tell, if the difference is real"
    )
    return (
        f"{better} - {worse}: {found.value:+.3f} [{low:+.3f}, {high:+.3f}], {told}, {found.method}"
    )


def _needed(found: Estimate, difference: float) -> int:
    """Return from how many iterations four in five runs tell such a difference from 0."""
    return math.ceil(found.n * (_TELLING * (found.stderr or 0.0) / difference) ** 2)


def read(run: Path) -> list[Scores]:
    """Return the scores of a run's iterations that found a task."""
    journal = (run / "journal" / "iterations.jsonl").read_bytes()  # texts hold odd line ends
    return [scores for line in journal.splitlines() if (scores := json.loads(line)["scores"])]


async def gather(iterations: int) -> list[Scores]:
    """Return the scores of that many iterations of the demo."""
    config = cli.check(cli.compose(["+experiment=autobench"]))
    protocol = settings(config)
    if protocol.mean_threshold > 1 or protocol.median_threshold >= 1:
        raise SystemExit("the thresholds of the demo depend on the weights: gather a run instead")
    models = [model.spec() for model in config.roster.models]
    gate = asyncio.Semaphore(_AT_ONCE)
    begun = time.monotonic()

    async def one(index: int, fleet: Fleet) -> Record:
        async with gate:
            start = Standing.start(protocol)
            record = await run_iteration(index, start, protocol, fleet, decoding(config))
            print(f"iteration {index}, {time.monotonic() - begun:.0f} s", file=sys.stderr)
            return record

    async with open_fleet(models, config.fleet, lambda text: print(text, file=sys.stderr)) as fleet:
        records = await asyncio.gather(*(one(index, fleet) for index in range(1, iterations + 1)))
    standing = Standing.start(protocol)
    scores = []
    for record in records:
        scores.append(contestant_scores(record["answers"], record["judgments"], standing.weights))
        standing = advance(standing, scores[-1], protocol)
    return [row for row in scores if row]


if __name__ == "__main__":
    main()
