"""Runs of planted biases: what each bias does in both, seed by seed."""

import operator
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from raybench.autobench import displacement
from raybench.autobench.biases import FAIR, MODELS
from raybench.autobench.trials import BY, Trial
from raybench.compare import means, settings
from raybench.compare.flips import MOST, Done, between, reply
from raybench.compare.found import Compared, Flip, Flips, Pair, Score
from raybench.compare.runs import Stored
from raybench.errors import ConfigurationError, Problem
from raybench.tracking import addresses

_JOURNAL, _ITERATIONS = "trials", "iterations"
_Scores = Mapping[int, Mapping[str, Any]]
"""Every model's, by iteration."""
_TITLES = {displacement.TAU: "τ lost", displacement.PLACES: "places gained by the favoured"}


class Told(NamedTuple):
    """A trial, and where the journal tells of it."""

    trial: Trial
    line: int
    offset: int


Trials = Mapping[tuple[str, object], Told]
"""By bias and seed."""


def compare(pairs: Sequence[Pair], most: int = MOST) -> Iterator[Compared]:
    """Yield what is found of each pair of runs. Raises ConfigurationError without common seeds."""
    for pair in pairs:
        one, other = (_trials(it.run) for it in (pair.baseline, pair.candidate))
        biases = list(dict.fromkeys(name for name, _ in one if name != FAIR))
        found = [it for name in biases for it in _found(pair, name, one, other, most)]
        scores, flips = [score for score, _ in found], [it for _, it in found]
        if not scores:
            raise ConfigurationError(
                Problem(
                    "compare.nothing",
                    f"{pair.baseline.run.folder} and {pair.candidate.run.folder} have no bias in "
                    "common that was planted with the same seeds",
                    fix="run one again with the other's seed=… seeds=… and kinds=[…]",
                )
            )
        notes = [
            "Harm done by a bias under judging weights, less is better. Paired over the seeds of "
            "both: each is the same population."
        ]
        if lacking := [name for name, _ in other if name not in {*biases, FAIR}]:
            notes.append(f"Only the candidate has: {', '.join(dict.fromkeys(lacking))}")
        if lacking := sorted({*biases} - {name for name, _ in other}):
            notes.append(f"Only the baseline has: {', '.join(lacking)}")
        yield Compared(pair, scores, settings.different(pair), notes, flips)


def _trials(run: Stored) -> Trials:
    found = {}
    for number, offset, record in run.lines(_JOURNAL):
        try:
            trial = Trial.from_json(record)
            for by in BY:
                operator.itemgetter(*MODELS)(trial.scores[by])  # all of them are there
            found[record["bias"], record["seed"]] = Told(trial, number, offset)
        except (LookupError, TypeError, AttributeError) as error:
            raise run.unlike(_JOURNAL, number, error) from error
    return found


def _found(
    pair: Pair, bias: str, one: Trials, other: Trials, most: int
) -> Iterator[tuple[Score, Flips]]:
    """Yield how much more harm a bias does in the other run, and with which seeds most."""
    sides = [_effects(bias, it) for it in (one, other)]
    for metric, title in _TITLES.items():
        a, b = ({seed: done for (name, seed), done in it.items() if name == metric} for it in sides)
        if common := [seed for seed in a if seed in b]:
            both = [a[it].value for it in common], [b[it].value for it in common]
            name, called = f"{metric}/{bias}", f"{bias}: {title}"
            flips = Flips(name, called, of="seeds", higher_is_better=False)
            yield (
                means.paired(name, called, both, of="seeds", higher_is_better=False),
                between(flips, (a, b), partial(_flip, pair, bias), most),
            )


def _flip(pair: Pair, bias: str, seed: object, one: Done, other: Done) -> Flip:
    """Return what a bias did with a seed: the iteration in which scores moved most shows it."""
    sides = (pair.baseline, one), (pair.candidate, other)
    records = [it.run.at_offset(_JOURNAL, done.line, done.offset) for it, done in sides]
    number = _moved(*({it["iteration"]: it["scores"] for it in record.get(_ITERATIONS, ())}
                      for record in records))  # fmt: skip
    unit = "" if number is None else addresses.iteration(number, addresses.trial(bias, seed))
    replies = [
        reply(side, _JOURNAL, done, unit, f"{done.value:.3g}", {"bias": bias, "seed": seed})
        for side, done in sides
    ]
    return Flip(str(seed), f"seed {seed}", other.value - one.value, replies[0], replies[1])


def _moved(one: _Scores, other: _Scores) -> int | None:
    """Return the iteration in which any model's score moved most; None without a common one."""

    def distance(number: int) -> float:
        a, b = one[number], other[number]
        moves = (abs(b[it] - a[it]) for it in a if a[it] is not None and b.get(it) is not None)
        return max(moves, default=0.0)

    return max((it for it in one if it in other), key=distance, default=None)


def _effects(bias: str, trials: Trials) -> dict[tuple[str, object], Done]:
    """Return what a bias does with each seed, by metric and seed."""
    found = {}
    for (name, seed), it in trials.items():
        if name != bias or (FAIR, seed) not in trials:
            continue
        told = displacement.effects([(it.trial, trials[FAIR, seed].trial)])
        for metric in _TITLES:
            if (value := told[metric].value) is not None:
                found[metric, seed] = Done(value, it.line, it.offset)
    return found
