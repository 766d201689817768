"""How far a planted bias moves the ranking, with judging weights and without.

Both rankings come from the same ratings: the journal is replayed with weights by equation 3, and
with the same weight for everybody. Each is compared with the ranking of the same population and
seed without the bias, by the same weights; what is estimated is the mean of these differences over
seeds.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scipy import stats

from raybench.autobench.biases import MODELS, Population
from raybench.autobench.protocol import Record, replay
from raybench.autobench.settings import Settings, Weights
from raybench.stats import intervals
from raybench.stats.paired import holm
from raybench.types import Estimate

BY: tuple[Weights, ...] = ("consensus", "uniform")
TAU, PLACES, POINTS = "bias/tau_lost", "bias/places_gained", "bias/points_gained"
"""Kendall's tau to the true order that is lost; places and points that the favoured gain."""
SAVED = "_saved"
"""What uniform weights lose or give away more than the consensus's: above 0 the weights help."""
SAY = "bias/say"
"""The judging weight of the biased by equation 3, over what they have by their number."""

_LEVEL = 0.05


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

    @property
    def complete(self) -> bool:
        """Whether everybody has a score: else there is no ranking."""
        return all(score is not None for of in self.scores.values() for score in of.values())

    def tau(self, by: Weights) -> float:
        """Return Kendall's tau-b between the final order and the true one."""
        scores = [self._score(by, name) for name in MODELS]
        return float(stats.kendalltau(range(len(MODELS)), scores).statistic)

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


def effects(pairs: Iterable[tuple[Trial, Trial]]) -> dict[str, Estimate]:
    """Estimate what a bias does, from pairs of a trial with it and one without, a pair a seed.

    A pair in which somebody has no score has no order, and does not count.
    """
    ranked = [pair for pair in pairs if all(trial.complete for trial in pair)]
    lost = {by: [fair.tau(by) - biased.tau(by) for biased, fair in ranked] for by in BY}
    found = _told(TAU, lost)
    favoured = [pair for pair in ranked if pair[0].favoured]
    if ranked and not favoured:
        refused = Estimate(None, None, None, 0, "refused: noise favours nobody")
        names = [f"{name}{end}" for name in (PLACES, POINTS) for end in ("", "_uniform", SAVED)]
        found |= dict.fromkeys(names, refused)
    else:
        found |= _told(PLACES, {by: _gained(favoured, Trial.place, by, -1) for by in BY})
        found |= _told(POINTS, {by: _gained(favoured, Trial.points, by, 1) for by in BY})
    says = [biased.say for biased, _ in ranked if biased.say is not None]
    found[SAY] = _mean(says, "over their share of heads")
    return found


def verdict(found: Mapping[str, Mapping[str, Estimate]]) -> dict[str, list[str]]:
    """Say against which biases the weights help, which they make worse, and what is open.

    By the differences of tau and of places: points that move nobody move no ranking. So many tests
    find something by luck: Holm's steps bound the chance that any of them does.
    """
    tests = {
        (bias, name): estimate
        for bias, of in found.items()
        for name in (TAU + SAVED, PLACES + SAVED)
        if (estimate := of[name]).value is not None and estimate.stderr
    }
    raised = holm({f"{bias}\n{name}": _p(it) for (bias, name), it in tests.items()})
    said: dict[str, list[str]] = {"help": [], "hurt": [], "open": []}
    for bias in found:
        signs = {
            (it.value or 0.0) > 0
            for (of, name), it in tests.items()
            if of == bias and raised[f"{of}\n{name}"] < _LEVEL
        }
        # One measure may move for the better and another for the worse: then it is open.
        said["open" if len(signs) != 1 else "help" if signs.pop() else "hurt"].append(bias)
    return said


def _gained(
    pairs: Sequence[tuple[Trial, Trial]],
    measure: Callable[[Trial, Weights, str], float],
    by: Weights,
    sign: int,
) -> list[float]:
    """Return what the favoured gain on average, a number a seed."""
    return [
        sign
        * sum(measure(biased, by, name) - measure(fair, by, name) for name in biased.favoured)
        / len(biased.favoured)
        for biased, fair in pairs
    ]


def _told(name: str, values: Mapping[Weights, Sequence[float]]) -> dict[str, Estimate]:
    by_weights, uniform = values["consensus"], values["uniform"]
    saved = [u - c for c, u in zip(by_weights, uniform, strict=True)]
    return {
        name: _mean(by_weights, "less the same without the bias"),
        f"{name}_uniform": _mean(uniform, "less the same without the bias"),
        name + SAVED: _mean(saved, "uniform weights less the consensus's"),
    }


def _mean(values: Sequence[float], what: str) -> Estimate:
    """Return the mean over seeds; the method says first what all have in common."""
    found = intervals.mean(values, over="seeds")
    if found.value is None:
        return found
    why = "" if found.ci95 else "; no interval: " + ("one seed" if found.n == 1 else "all equal")
    return replace(found, method=f"mean over seeds, {what}, Student's t{why}")


def _p(estimate: Estimate) -> float:
    """Return how often chance alone would set a mean this far from 0, by Student's t."""
    distance = abs(estimate.value or 0.0) / (estimate.stderr or 1.0)
    return float(2 * stats.t.sf(distance, estimate.n - 1))


def to_json(trial: Trial) -> dict[str, Any]:
    """Return what a journal keeps of a trial."""
    return {
        "scores": {by: dict(of) for by, of in trial.scores.items()},
        "say": trial.say,
        "favoured": list(trial.favoured),
        "tasks": trial.tasks,
    }


def from_json(kept: Mapping[str, Any]) -> Trial:
    """Return the trial that a journal's record keeps."""
    return Trial(kept["scores"], kept["say"], kept["favoured"], kept["tasks"])
