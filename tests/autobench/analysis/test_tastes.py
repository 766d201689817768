"""Clusters of judges are found where they were planted, and nowhere else mostly."""

import numpy as np
import pytest
from panels import held, rounded, world

from raybench.autobench.analysis import tastes
from raybench.autobench.analysis.chances import rounding
from raybench.autobench.analysis.shared import shared

SEEDS = range(6)


@pytest.mark.parametrize("kind", ["independent", "random", "own favourites", "some random"])
def test_judges_that_share_no_taste_are_mostly_no_cluster(kind: str) -> None:
    none = 0
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        said = world(rng, 40, 8)
        if kind == "random":
            said = rng.uniform(0.5, 5.5, said.shape)
        if kind == "own favourites":  # each judge likes some models, itself most, at every task
            said = said + rng.normal(0, 0.5, (8, 8)) + np.eye(8)
        if kind == "some random":
            said[:, :3] = rng.uniform(0.5, 5.5, (40, 3, 8))
        none += not tastes.clusters(held(rounded(said)), seed=seed)
    assert none >= 0.7 * len(SEEDS)


def test_a_planted_taste_is_found_with_those_that_share_it() -> None:
    exact = 0
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        said = world(rng, 40, 8)
        said[:, [1, 4, 6]] += 0.6 * rng.normal(0, 1, (40, 1, 8))
        found = tastes.clusters(held(rounded(said)), seed=seed)
        exact += bool(found) and found[0] == ("m01", "m04", "m06")
    assert exact >= 0.6 * len(SEEDS)


def test_a_judge_that_says_the_same_of_all_goes_with_nobody() -> None:
    said = rounded(world(np.random.default_rng(0), 20, 6))
    said[:, 2] = 3
    said[:5, 4] = np.nan
    together = shared(said)
    assert np.isfinite(together).all()
    assert np.delete(together[2], 2) == pytest.approx(0, abs=1e-6)


def test_judges_that_are_severe_alike_share_no_taste() -> None:
    found = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        severity = rng.permutation(np.linspace(-0.8, 0.8, 10))
        said = world(rng, 40, 10) + severity[:, None]
        found += bool(tastes.clusters(held(rounded(said)), seed=seed))
    assert found <= 1


def test_judges_that_are_severe_by_topic_each_by_itself_share_no_taste() -> None:
    found = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        severity = rng.normal(0, 0.5, (10, 12))[rng.integers(0, 10, 60)]
        said = world(rng, 60, 12) + severity[:, :, None]
        found += bool(tastes.clusters(held(rounded(said)), seed=seed))
    assert found <= 1


def test_what_was_not_rated_is_no_taste() -> None:
    rng = np.random.default_rng(0)
    ratings = rounded(world(rng, 40, 8))
    ratings[:, np.arange(8), np.arange(8)] = np.nan
    ratings[rng.random(ratings.shape) < 0.1] = np.nan
    ratings[:, 2] = np.nan
    ratings[:, 5] = 3
    assert tastes.clusters(held(ratings)) == ()


def test_clusters_follow_from_the_seed() -> None:
    ratings = rounded(world(np.random.default_rng(0), 20, 8))
    first, again, other = (rounding(ratings, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first == again != other
    assert 0 < first < 1
