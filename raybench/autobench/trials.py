"""What came of a population with a seed: its ranking by judging weights, and by uniform ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from raybench.autobench.biases import MODELS, Population
from raybench.autobench.protocol import Record, replay
from raybench.autobench.settings import Settings, Weights
from raybench.stats.ranks import kendall, order

BY: tuple[Weights, ...] = ("consensus", "uniform")


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of one population with one seed."""

    scores: Mapping[str, Mapping[str, float | None]]
    """The final scores of all models, by whose weights."""
    say: float | None
    favoured: Sequence[str]
    tasks: int
    """Iterations that found a task; the others rate nobody."""

    @classmethod
    def of(cls, records: Sequence[Record], population: Population, settings: Settings) -> "Trial":
        """Score the same ratings by both kinds of weights."""
        ends = {by: replay(records, replace(settings, weights=by)) for by in BY}
        weights = ends["consensus"].weights
        heads = len(population.biased) / len(weights)
        return cls(
            scores={by: dict(end.scores) for by, end in ends.items()},
            say=sum(weights[name] for name in population.biased) / heads if heads else None,
            favoured=population.favoured,
            tasks=sum(record["task"] is not None for record in records),
        )

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> "Trial":
        """Return the trial that a journal's record keeps."""
        return cls(kept["scores"], kept["say"], kept["favoured"], kept["tasks"])

    def to_json(self) -> dict[str, Any]:
        """Return what a journal keeps of it."""
        return {
            "scores": {by: dict(of) for by, of in self.scores.items()},
            "say": self.say,
            "favoured": list(self.favoured),
            "tasks": self.tasks,
        }

    @property
    def complete(self) -> bool:
        """Whether everybody has a score: else there is no ranking."""
        return all(score is not None for of in self.scores.values() for score in of.values())

    def tau(self, by: Weights) -> float:
        """Return Kendall's tau-b between the final order and the true one."""
        scores = np.array([self._score(by, name) for name in MODELS])
        return float(kendall(order(np.arange(len(MODELS), dtype=np.float64)), order(scores)))

    def place(self, by: Weights, name: str) -> float:
        """Return a model's place, 1 for the best; equal ones share theirs."""
        own = self._score(by, name)
        others = [self._score(by, other) for other in MODELS if other != name]
        return 1 + sum(it > own for it in others) + sum(it == own for it in others) / 2

    def points(self, by: Weights, name: str) -> float:
        """Return a model's final score."""
        return self._score(by, name)

    def _score(self, by: Weights, name: str) -> float:
        score = self.scores[by][name]
        if score is None:
            raise ValueError(f"{name} has no score, and so the population no order")
        return score
