"""How far a planted bias moves the ranking, with judging weights and without.

Both rankings come from the same ratings: the journal is replayed with weights by equation 3, and
with the same weight for everybody. Each is compared with the ranking of the same population and
seed without the bias, by the same weights; what is estimated is the mean of these differences over
seeds.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from raybench.autobench.settings import Weights
from raybench.autobench.trials import BY, Trial
from raybench.statements import Statement
from raybench.stats import intervals
from raybench.stats.distributions import two_sided
from raybench.stats.paired import holm
from raybench.types import Estimate

TAU, PLACES, POINTS = "bias/tau_lost", "bias/places_gained", "bias/points_gained"
"""Kendall's tau to the true order that is lost; places and points that the favoured gain."""
SAVED = {TAU: "bias/tau_saved", PLACES: "bias/places_saved", POINTS: "bias/points_saved"}
"""What uniform weights lose or give away more than the consensus's: above 0 the weights help."""
SAY = "bias/say"
"""The judging weight of the biased by equation 3, over what they have by their number."""

_LEVEL = 0.05
_ROUNDING = 1e-9


def effects(pairs: Iterable[tuple[Trial, Trial]]) -> dict[str, Estimate]:
    """Estimate what a bias does, from pairs of a trial with it and one without, a pair a seed.

    A pair in which somebody has no score has no order, and does not count.
    """
    ranked = [pair for pair in pairs if all(trial.complete for trial in pair)]
    lost = {by: [fair.tau(by) - biased.tau(by) for biased, fair in ranked] for by in BY}
    found = _told(TAU, lost)
    for by, name in zip(BY, (TAU, f"{TAU}_uniform"), strict=True):
        if all(fair.tau(by) > 1 - _ROUNDING for _, fair in ranked):
            # From a perfect order there is nothing to gain.
            found[name] = intervals.cut(found[name], (0.0, 2.0))
    favoured = [pair for pair in ranked if pair[0].favoured]
    if ranked and not favoured:
        why = Statement("refused.nobody_favoured", "not computed: noise favours nobody")
        refused = Estimate(None, None, None, 0, why)
        names = [it for name in (PLACES, POINTS) for it in (name, f"{name}_uniform", SAVED[name])]
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
    find something by luck: Holm's steps bound the chance that any of them does. How many tests
    there are is settled before anything is seen: one without any spread tells nothing and counts.
    """
    tests = {
        (bias, name): estimate
        for bias, of in found.items()
        for name in (SAVED[TAU], SAVED[PLACES])
        if (estimate := of[name]).value is not None
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
        SAVED[name]: _mean(saved, "uniform weights less the consensus's"),
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
    if not estimate.stderr:
        return 1.0
    return two_sided((estimate.value or 0.0) / estimate.stderr, estimate.n - 1)
