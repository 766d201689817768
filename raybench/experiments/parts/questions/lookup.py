"""The questions, read once more when the run is over: what guessing scores, and some of them."""

from collections.abc import Collection, Iterable
from typing import Any

from raybench import benchmarks
from raybench.benchmarks.parts.guessing import Guessing
from raybench.experiments.parts.questions.reading import Place
from raybench.pipeline.datasets import Dataset, Prepared


def looked_up(data: Prepared, wanted: Collection[Place]) -> tuple[Guessing, dict[Place, Any]]:
    """Return what guessing would score, and the rows of those wanted."""
    guessing, rows = Guessing(), {}
    for part in data:
        benchmark = benchmarks.load(part.benchmark)
        for row in part.rows():
            guessing.add(benchmark, row)
            place = (part.benchmark, benchmark.language(row), benchmark.key(row))
            if place in wanted:
                rows[place] = row
    return guessing, rows


def withheld(data: Iterable[Dataset]) -> list[str]:
    """Return the benchmarks whose questions are not to be published."""
    return [part.benchmark for part in data if part.withheld]
