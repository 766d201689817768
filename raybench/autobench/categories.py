"""The leaderboard of each topic and each difficulty: scores over its iterations alone."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from raybench.autobench.protocol import Counted
from raybench.autobench.settings import Settings
from raybench.autobench.sources import Sources
from raybench.autobench.standing import SCALE
from raybench.stats import grouped, intervals
from raybench.types import Estimate

Kind = Literal["topic", "difficulty"]

_LEAST = 2


@dataclass(frozen=True, slots=True)
class Category:
    """One topic or difficulty."""

    name: str
    iterations: int
    scored: int
    """Those in which somebody got a score."""
    scores: Mapping[str, Estimate]

    @property
    def ranks(self) -> dict[str, int]:
        """The places of the models that have a number; equal numbers share one."""
        values = {model: it.value for model, it in self.scores.items() if it.value is not None}
        return {
            model: 1 + sum(other > value for other in values.values())
            for model, value in values.items()
        }


def categories(
    played: Iterable[Counted], settings: Settings, kind: Kind = "topic"
) -> list[Category]:
    """Return the categories that were played, in the order of the settings.

    Names that differ in case and punctuation only are one category: they share their metric's name.
    Iterations without a category, as given tasks may be, belong to none.
    """
    every = list(played)
    sources = Sources.of((iteration.record for iteration in every), settings)
    told = (
        [difficulty.label for difficulty in settings.difficulties]
        if kind == "difficulty"
        else settings.topics
    )
    names = {key(name): name for name in reversed(told)}
    found: dict[str, list[tuple[Counted, int]]] = {of: [] for of in reversed(names)}
    for iteration, number in zip(every, sources.numbers(len(every)).tolist(), strict=True):
        if name := (iteration.record.get(kind) or "").strip():
            names.setdefault(key(name), name)
            found.setdefault(key(name), []).append((iteration, number))
    return [_category(names[of], those, settings.models) for of, those in found.items() if those]


def metrics(topics: Iterable[Category], prefix: str) -> dict[str, dict[str, Estimate]]:
    """Return every model's score in each topic, under names that results.json has."""
    found: dict[str, dict[str, Estimate]] = {}
    for topic in topics:
        for model, estimate in topic.scores.items():
            found.setdefault(model, {})[f"{prefix}/{key(topic.name)}"] = estimate
    return found


def key(name: str) -> str:
    """Return a category's part of a metric's name: 'general_culture'."""
    return re.sub(r"[\W_]+", "_", name.lower()).strip("_") or "unnamed"


def _category(name: str, those: Sequence[tuple[Counted, int]], models: Sequence[str]) -> Category:
    scored = sum(
        any(score is not None for score in iteration.scores.values()) for iteration, _ in those
    )
    return Category(name, len(those), scored, {model: _score(model, those) for model in models})


def _score(model: str, those: Sequence[tuple[Counted, int]]) -> Estimate:
    seen = [
        (score, number)
        for iteration, number in those
        if (score := iteration.scores.get(model)) is not None
    ]
    if len(seen) < _LEAST:
        why = f"not computed: fewer than {_LEAST} scored iterations"
        return Estimate(None, None, None, len(seen), why)
    scores, numbers = zip(*seen, strict=True)
    if len(set(numbers)) == len(numbers):
        return intervals.cut(intervals.mean(scores, over="scored iterations"), SCALE)
    values, groups = np.array(scores), np.array(numbers)
    return intervals.cut(grouped.mean(values, groups, over="scored iterations by task"), SCALE)
