"""How many iterations does a peer assessment need to tell two of its models apart?

    python -m raybench +experiment=autobench autobench.iterations=150
    python perf/telling_apart.py RUN_FOLDER

Prints, for every pair of models, the mean difference of their scores over the iterations in which
both were scored, its 95 % interval (paired, Student's t), and how long a run has to be for four in
five such runs to tell the two apart (a difference of 2.8 standard errors), with the lengths at the
ends of the interval: a difference that may be 0 may need any length.
"""

import argparse
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from raybench.stats import intervals
from raybench.types import Estimate

_TELLING = 2.8  # 1.96 for the 95 % interval to exclude 0, and 0.84 for that to happen in 80 %
Scores = Mapping[str, float | None]


def main() -> None:
    """Print a line per pair of models."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", type=Path, help="the folder of a run")
    scores = read(parser.parse_args().run)
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


if __name__ == "__main__":
    main()
