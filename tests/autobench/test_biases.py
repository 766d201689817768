"""The populations: what is planted in whom, and what stays the same."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.autobench.biases import ABILITIES, BIASES, MODELS, Bias, population
from raybench.fleet.simulated import problems
from raybench.types import ModelSpec

seeds = st.integers(0, 2**31)
biases = st.sampled_from(BIASES)


def planted(model: ModelSpec) -> dict[str, Any]:
    return {name: value for name, value in model.options.items() if name != "ability"}


def test_names_tell_biases_apart_and_fit_the_plot() -> None:
    names = [bias.name for bias in BIASES]
    assert len(set(names)) == len(BIASES)
    assert max(map(len, names)) <= 28


@given(biases | st.none(), seeds)
def test_every_population_is_sound_and_has_the_same_abilities(bias: Bias | None, seed: int) -> None:
    found = population(bias, seed)
    assert [model.name for model in found.models] == list(MODELS)
    for model in found.models:
        assert list(problems(model.name, model.options)) == []
        assert model.options["ability"] == ABILITIES[model.name]
    assert found == population(bias, seed)


@given(seeds)
def test_without_a_bias_nothing_is_planted(seed: int) -> None:
    found = population(None, seed)
    assert (found.biased, found.favoured) == ((), ())
    assert all(not planted(model) for model in found.models)


@given(biases, seeds)
def test_a_bias_is_planted_in_as_many_as_it_says(bias: Bias, seed: int) -> None:
    found = population(bias, seed)
    judging = {model.name for model in found.models if set(planted(model)) - {"words"}}
    assert judging == set(found.biased)
    assert len(found.biased) == bias.judges
    wordy = {model.name for model in found.models if "words" in model.options}
    match bias.kind:
        case "random":
            assert not found.favoured
        case "verbosity":
            assert wordy == set(found.favoured)
            assert len(wordy) == 4
        case _:
            assert found.favoured == found.biased
    assert bool(wordy) == (bias.kind == "verbosity")
    ends = {"weakest": MODELS[: bias.judges], "strongest": MODELS[-bias.judges :]}
    if bias.among != "drawn":
        assert set(found.biased) == set(ends[bias.among])


@given(seeds)
def test_higher_doses_take_the_same_judges_and_more(seed: int) -> None:
    one, three = (population(Bias("random", count), seed).biased for count in (1, 3))
    assert one == three[:1]
    half, whole = (population(Bias("favouritism", 4, points), seed) for points in (0.5, 1))
    assert half.favoured == whole.favoured


def test_who_is_drawn_differs_from_seed_to_seed() -> None:
    drawn = {population(Bias("adversary", 1), seed).biased for seed in range(40)}
    assert len(drawn) > 6


@pytest.mark.parametrize(
    ("bias", "name"),
    [
        (Bias("random", 1), "1 random judge"),
        (Bias("random", 6, among="weakest"), "6 random judges (weakest)"),
        (Bias("adversary", 2), "2 adversaries"),
        (Bias("favouritism", 4, 0.5), "family of 4 +0.5"),
    ],
)
def test_a_bias_says_what_it_is(bias: Bias, name: str) -> None:
    assert bias.name == name
