"""What guessing would score: `stats/guessing.py` holds accuracies against it."""

import math
from collections import Counter
from collections.abc import Sequence

from raybench.benchmarks.parts.contract import Benchmark, Row


class Guessing:
    """How likely a guess is right, added up question by question."""

    def __init__(self) -> None:
        self._chances: dict[tuple[str, str], Counter[float | None]] = {}
        """By benchmark and language: how many questions have which chance."""

    def add(self, benchmark: Benchmark, row: Row) -> None:
        """Count a question."""
        of = self._chances.setdefault((benchmark.name, benchmark.language(row)), Counter())
        of[benchmark.chance(row)] += 1

    def score(self, benchmark: str, languages: Sequence[str]) -> float | None:
        """Return the accuracy that guesses would come to, languages weighed the same.

        None where there is a question that cannot be guessed, or none at all.
        """
        there = [of for it in languages if (of := self._chances.get((benchmark, it)))]
        means = [_mean(of) for of in there]
        known = [mean for mean in means if mean is not None]
        return math.fsum(known) / len(known) if means and len(known) == len(means) else None


def _mean(chances: Counter[float | None]) -> float | None:
    known = [chance * count for chance, count in chances.items() if chance is not None]
    return None if None in chances else math.fsum(known) / chances.total()
