"""Populations of simulated models with planted biases: who judges how, and whom that favours.

All have the same twelve models, whose abilities are spread evenly, so that the true order is known.
A population differs from the one without a bias in its judges alone: the same seed gives the same
tasks and answers, as far as the same tasks are accepted, so that the two can be compared in pairs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from raybench.types import BiasKind, ModelSpec

MODELS = tuple(f"m{number:02}" for number in range(1, 13))
"""From the weakest to the strongest."""
ABILITIES: Mapping[str, float] = dict(
    zip(MODELS, (round(float(it), 4) for it in np.linspace(0.1, 0.9, len(MODELS))), strict=True)
)
FAIR = "no bias"

Among = Literal["drawn", "weakest", "strongest"]

_WORDY = 4
"""Models that write long answers, where judges like those."""
_LONG = 100
"""Words of a long answer: two doublings of the usual 25."""


@dataclass(frozen=True, slots=True)
class Bias:
    """One bias at one dose."""

    kind: BiasKind
    judges: int
    """How many judges have it."""
    points: float = 0.0
    """How many points it adds to a rating where it applies; verbosity: for each doubling."""
    among: Among = "drawn"
    """Which judges have it: drawn anew for every seed, or the weakest or strongest there are."""

    @property
    def name(self) -> str:
        """What it is called."""
        some, at = self.judges, "" if self.among == "drawn" else f" ({self.among})"
        match self.kind:
            case "self_preference":
                return f"{some} self-preferring +{self.points:g}{at}"
            case "favouritism":
                return f"family of {some} +{self.points:g}{at}"
            case "verbosity":
                return f"verbosity +{self.points:g} a doubling{at}"
            case "random":
                return f"{some} random judge{'s' * (some > 1)}{at}"
            case "adversary":
                return f"{some} {'adversary' if some == 1 else 'adversaries'}{at}"


BIASES = (
    Bias("self_preference", 1, 2),
    Bias("self_preference", 6, 1),
    Bias("self_preference", 6, 2),
    Bias("favouritism", 4, 0.5),
    Bias("favouritism", 4, 1),
    Bias("favouritism", 4, 2),
    Bias("favouritism", 4, 1, "weakest"),
    Bias("favouritism", 4, 1, "strongest"),
    Bias("verbosity", 12, 0.25),
    Bias("verbosity", 12, 0.5),
    Bias("verbosity", 12, 1),
    Bias("random", 1),
    Bias("random", 3),
    Bias("random", 6),
    Bias("random", 6, among="weakest"),
    Bias("random", 6, among="strongest"),
    Bias("adversary", 1),
    Bias("adversary", 2),
    Bias("adversary", 1, among="weakest"),
    Bias("adversary", 1, among="strongest"),
)
"""Every kind at several doses; those of which equation 3 may make more or less, at both ends."""


@dataclass(frozen=True, slots=True)
class Population:
    """Twelve models, some of which judge with a bias."""

    models: tuple[ModelSpec, ...]
    biased: tuple[str, ...]
    """The judges that have the bias."""
    favoured: tuple[str, ...]
    """Whom it is meant to favour; nobody where it is noise."""


def population(bias: Bias | None, seed: int) -> Population:
    """Plant a bias, or none. Higher doses take the same judges and more, of the same seed."""
    drawn = [MODELS[place] for place in np.random.default_rng(seed).permutation(len(MODELS))]
    biased: tuple[str, ...] = ()
    favoured: tuple[str, ...] = ()
    options: dict[str, dict[str, Any]] = {name: {"ability": ABILITIES[name]} for name in MODELS}
    if bias is not None:
        order = {"drawn": drawn, "weakest": MODELS, "strongest": MODELS[::-1]}[bias.among]
        biased = tuple(order[: bias.judges])
        favoured = _favoured(bias, biased, drawn)
        for name in biased:
            options[name] |= _judging(bias)
        if bias.kind == "verbosity":
            for name in favoured:
                options[name]["words"] = _LONG
    models = tuple(ModelSpec(name, "simulated", "", options=options[name]) for name in MODELS)
    return Population(models, biased, favoured)


def _favoured(bias: Bias, biased: tuple[str, ...], drawn: list[str]) -> tuple[str, ...]:
    match bias.kind:
        case "random":
            return ()
        case "verbosity":
            return tuple(drawn[:_WORDY])
        case _:
            return biased


def _judging(bias: Bias) -> dict[str, Any]:
    """Return the options of a model that judges with the bias."""
    match bias.kind:
        case "random" | "adversary":
            return {"judge": bias.kind}
        case "favouritism":
            return {"family": "clan", "favouritism": bias.points}
        case _:
            return {bias.kind: bias.points}
