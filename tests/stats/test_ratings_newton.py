"""Steps side by side: what they find, and that they know where there is nothing to find."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from raybench.stats import bradley_terry
from raybench.stats.bradley_terry import Game
from raybench.stats.ratings.components import components, untold
from raybench.stats.ratings.newton import chances, expected, loglikelihood, maximise
from raybench.stats.ratings.tally import Tally, tally

MODELS = tuple("abcd")


def tallied(games: list[Game]) -> Tally:
    bundles = {"": bradley_terry.bundles(games)}
    return tally(bundles, MODELS, [("", "first")], {"": 1.0})


def pinned() -> np.typing.NDArray[np.float64]:
    ground = np.zeros((5, 5))
    ground[:4, :4] = 1
    return ground


def pools() -> st.SearchStrategy[list[Game]]:
    model, score = st.sampled_from(MODELS), st.sampled_from([0.0, 0.5, 1.0])
    return st.lists(st.tuples(model, model, score), min_size=6, max_size=30)


@given(pools())
def test_a_maximum_is_found_where_there_is_one_and_nowhere_else(games: list[Game]) -> None:
    made = tallied(games)
    sums = made.sums(made.times[None].astype(np.float64))
    connected = len(components({"": bradley_terry.bundles(games)}, MODELS)) == 1
    there = connected and not untold(made)
    # Many steps, and as few as a replicate has.
    for steps in (500, 25):
        found = maximise(made.design, *sums, pinned(), start=np.zeros(5), steps=steps)
        assert bool(found.found[0]) == there


def test_steps_never_go_down_however_far_the_start() -> None:
    rng = np.random.default_rng(0)
    games: list[Game] = [
        (str(one), str(other), float(rng.choice([0, 0.5, 1])))
        for one, other in (rng.choice(list(MODELS), 2, replace=False) for _ in range(200))
    ]
    made = tallied(games)
    chosen, drawn = made.sums(made.times[None].astype(np.float64))
    at = np.array([[8.0, -8.0, 3.0, -3.0, 6.0]])
    heights = []
    for _ in range(40):
        heights.append(float(loglikelihood(made.design, chosen, drawn, at)[0]))
        at = maximise(made.design, chosen, drawn, pinned(), start=at[0], steps=1).at
    assert all(after >= before - 1e-9 for before, after in itertools.pairwise(heights))
    slope = chosen - expected(made.design, drawn, chances(made.design, at))
    assert np.abs(slope).max() < 1e-8


def test_many_likelihoods_are_climbed_as_each_alone() -> None:
    rng = np.random.default_rng(1)
    games: list[Game] = [
        (str(one), str(other), float(rng.choice([0, 0.5, 1])))
        for one, other in (rng.choice(list(MODELS), 2, replace=False) for _ in range(150))
    ]
    made = tallied(games)
    counts = rng.multinomial(150, made.times / made.times.sum(), 20).astype(np.float64)
    chosen, drawn = made.sums(counts)
    together = maximise(made.design, chosen, drawn, pinned(), start=np.zeros(5))
    assert together.found.all()
    for number in range(20):
        one = slice(number, number + 1)
        alone = maximise(made.design, chosen[one], drawn[one], pinned(), start=np.ones(5))
        # Another start has another mean, which is no matter.
        at = alone.at[0] - np.append(np.full(4, alone.at[0, :4].mean()), 0)
        assert np.abs(together.at[number] - at).max() < 1e-8
