"""The ratings of a journal as arrays: what everything that replays them many times reads."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raybench.autobench.settings import Settings
from raybench.autobench.sources import OWN, Sources
from raybench.autobench.standing import is_empty

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Ballots:
    """Who gave whom what, over the iterations that found a task."""

    judges: tuple[str, ...]
    contestants: tuple[str, ...]
    ratings: NDArray[np.float32]
    """Iterations by judges by contestants; NaN where there is none. A rating is a small whole
    number, so that half the usual size holds it exactly."""
    empty: Flags
    """Iterations by contestants: answers without a word, which score FLOOR and nobody rates."""
    topics: tuple[str, ...]
    iterations: int
    """How many the journal has, with those that found no task and say nothing."""
    sources: Sources = OWN
    """Which of those that found one share it."""

    @property
    def tasks(self) -> int:
        """How many iterations found a task."""
        return len(self.topics)

    @property
    def distinct(self) -> int:
        """How many tasks these iterations found: as many, but for given ones that repeat."""
        return self.sources.count(self.tasks)

    @property
    def scored(self) -> NDArray[np.int64]:
        """In how many iterations each contestant is scored; those of a task count once."""
        scored = ~np.isnan(self.ratings).all(axis=1) | self.empty
        if self.sources.shared is not None:
            scored = np.array(
                [scored[self.sources.shared == task].any(axis=0) for task in range(self.distinct)]
            )
        return np.asarray(scored.sum(axis=0), dtype=np.int64)

    @property
    def places(self) -> NDArray[np.int64]:
        """Each judge's place among the contestants, -1 for those that are none."""
        place = {model: at for at, model in enumerate(self.contestants)}
        return np.array([place.get(judge, -1) for judge in self.judges], dtype=np.int64)

    def by(self, judges: Sequence[str]) -> "Ballots":
        """Return what these judges gave."""
        kept = [self.judges.index(judge) for judge in judges]
        return replace(self, judges=tuple(judges), ratings=self.ratings[:, kept])

    def without_self(self) -> "Ballots":
        """Return it without what judges gave their own answers."""
        ratings = self.ratings.copy()
        for row, column in enumerate(self.places):
            if column >= 0:
                ratings[:, row, column] = np.nan
        return replace(self, ratings=ratings)


def ballots(records: Iterable[Mapping[str, Any]], settings: Settings) -> Ballots:
    """Return the ratings that these settings count: of their panel, for their contestants.

    Scores, weights and acceptance written in the records are not read; an iteration without a task
    changes no standing, and is left out.
    """
    every = sorted(records, key=lambda record: record["iteration"])
    held = [record for record in every if record["task"] is not None]
    judges, contestants = settings.panel, settings.models
    ratings = np.full((len(held), len(judges), len(contestants)), np.nan, dtype=np.float32)
    empty = np.zeros((len(held), len(contestants)), dtype=bool)
    for number, record in enumerate(held):
        answers = record["answers"]
        here = [(at, model) for at, model in enumerate(contestants) if model in answers]
        empty[number, [at for at, model in here if is_empty(answers[model])]] = True
        for row, judge in enumerate(judges):
            given = record["judgments"].get(judge, {})
            for column, model in here:
                rating = given.get(model)
                if rating is not None and (settings.self_judgement or judge != model):
                    ratings[number, row, column] = rating
    # Of an empty answer nobody is asked.
    ratings[np.broadcast_to(empty[:, None], ratings.shape)] = np.nan
    topics = tuple(str(record.get("topic", "")) for record in held)
    sources = Sources.of(held, settings)
    return Ballots(judges, contestants, ratings, empty, topics, len(every), sources)
