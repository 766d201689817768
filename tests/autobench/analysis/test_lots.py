"""A family is tested beside judges drawn by lot: what is not its doing is not told of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from panels import held, named, rounded, world
from statements import code

from raybench.autobench.analysis import lots
from raybench.autobench.analysis.ballots import Ballots
from raybench.autobench.analysis.resample import replay
from raybench.autobench.settings import Weights


@given(st.integers(0, 2**32 - 1), st.sampled_from(["consensus", "uniform"]))
def test_many_panels_at_once_score_as_each_alone(seed: int, rule: Weights) -> None:
    rng = np.random.default_rng(seed)
    ratings = rounded(world(rng, 7, 5))
    ratings[rng.random(ratings.shape) < 0.5] = np.nan
    empty = rng.random((7, 5)) < 0.2
    ratings[np.broadcast_to(empty[:, None], ratings.shape)] = np.nan
    ballots = held(ratings, ["m00", "out", "m02", "m03", "m04"])
    ballots.empty[:] = empty
    panels = np.array([[1, 1, 1, 1, 1], [0, 1, 0, 1, 1], [0, 1, 0, 0, 0]], dtype=bool)
    once = np.arange(7, dtype=np.int32)[None]
    found = lots.scores(ballots, rule, panels)
    for panel, scores in zip(panels, found, strict=True):
        kept = [judge for judge, stays in zip(ballots.judges, panel, strict=True) if stays]
        alone = replay(ballots.by(kept), rule, once).scores[0]
        assert scores == pytest.approx(alone, nan_ok=True)


def test_what_the_strong_lose_is_not_counted_as_a_fall() -> None:
    before = np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]])
    own = np.array([[False, False, False, False, True, True]])
    flatter = 0.5 * before + 1
    assert lots.fall(before, flatter, own) == pytest.approx(0)
    assert lots.fall(before, flatter - 0.3 * own, own) == pytest.approx(0.3)
    flatter[0, 1] = np.nan
    assert lots.fall(before, flatter - 0.3 * own, own) == pytest.approx(0.3)


def planted(rng: np.random.Generator, models: int = 12, favour: float = 0.0) -> Ballots:
    """Judges with tastes of their own that prefer themselves; the first two favour each other."""
    said = world(rng, 60, models) + rng.normal(0, 0.2, (models, models)) + 0.5 * np.eye(models)
    said[:, :2, :2] += favour
    return held(rounded(said))


def chances(favour: float, seeds: int = 40) -> list[float]:
    own = np.isin(named(12), named(2))
    found = [
        lots.lot(planted(np.random.default_rng(seed), favour=favour), "consensus", named(2), own).p
        for seed in range(seeds)
    ]
    return [p for p in found if p is not None]


def test_judges_that_prefer_themselves_and_are_careless_do_not_pass_for_a_family() -> None:
    found = chances(0.0)
    assert len(found) == 40
    assert np.mean(np.array(found) <= 0.05) <= 0.15


def test_two_that_favour_each_other_are_told() -> None:
    assert np.mean(np.array(chances(1.0)) <= 0.01) >= 0.8


def test_judges_from_outside_are_tested_for_the_models_of_their_family() -> None:
    said = world(np.random.default_rng(2), 60, 8)
    said[:, [2, 5], 3] += 1.5
    judges = [f"out{place}" for place in range(8)]
    own = np.isin(named(8), ["m03"])
    ballots = held(rounded(said), judges)
    p = lots.lot(ballots, "consensus", ("out2", "out5"), own).p
    other = lots.lot(ballots, "consensus", ("out1", "out4"), own).p
    assert p is not None and p < 0.01
    assert other is not None and other > 0.2


@pytest.mark.parametrize(
    ("models", "family", "own", "why"),
    [
        (8, 2, 0, "none_ranked"),
        (5, 2, 2, "few_for_lots"),
        (8, 4, 4, "half_own"),
    ],
)
def test_what_cannot_be_tested_says_why(models: int, family: int, own: int, why: str) -> None:
    ballots = planted(np.random.default_rng(0), models)
    found = lots.lot(ballots, "consensus", named(family), np.arange(models) < own)
    assert (found.p, code(found.refusal)) == (None, f"refused.{why}")


def test_judges_that_all_say_the_same_are_beside_nothing() -> None:
    said = np.broadcast_to(np.arange(8) % 5 + 1.0, (10, 8, 8))
    found = lots.lot(held(said), "uniform", named(2), np.arange(8) < 2)
    assert found == lots.Lot(refusal="not computed: no other set of judges to compare it with")


def test_the_same_seed_draws_the_same_lots() -> None:
    ballots, own = planted(np.random.default_rng(0)), np.arange(12) < 5
    first, again, other = (
        lots.lot(ballots, "consensus", named(5), own, seed=seed).p for seed in (3, 3, 4)
    )
    assert first == again != other
