"""Clusters of judges are found where they were planted, and nowhere else mostly."""

import numpy as np
import pytest
from panels import held, named, rounded, world

from raybench.autobench.analysis import echoes, tastes
from raybench.autobench.analysis.echoes import Company, Echoes, Swap
from raybench.autobench.analysis.resample import draw, resampled

SEEDS = range(12)


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
    assert exact >= 0.8 * len(SEEDS)


def test_a_judge_that_says_the_same_of_all_goes_with_nobody() -> None:
    said = rounded(world(np.random.default_rng(0), 20, 6))
    said[:, 2] = 3
    said[:5, 4] = np.nan
    together = tastes.shared(said)
    assert np.isfinite(together).all()
    assert np.delete(together[2], 2) == pytest.approx(0, abs=1e-6)


def test_too_few_judges_and_iterations_are_refused() -> None:
    ratings = rounded(world(np.random.default_rng(0), 8, 4))
    draws = draw(8, 20)
    few = echoes.echoes(resampled(held(ratings).by(named(3)), "consensus", draws), draws, {})
    assert few.refusal == "refused: clusters take 4 judges, there are 3"
    short = resampled(held(ratings[:4]), "consensus", draw(4, 20))
    assert echoes.echoes(short, draw(4, 20), {}).refusal == (
        "refused: clusters take 5 iterations with a task, not 4"
    )


def favoured() -> tuple[Echoes, dict[str, str]]:
    """A family of three of which the judges lift m03, its own, above m04."""
    rng = np.random.default_rng(4)
    said = world(rng, 60, 6)
    said[:, 3:6, 4] -= 0.9
    said[:, 3:6, 3] += 0.9
    families = dict.fromkeys(("m03", "m04", "m05"), "kin")
    draws = draw(60, 200)
    return echoes.echoes(resampled(held(rounded(said)), "consensus", draws), draws, families), (
        families
    )


def test_a_family_that_lifts_its_own_is_warned_of() -> None:
    found, families = favoured()
    (kin,) = found.families
    assert kin.judges == ("m03", "m04", "m05")
    assert 0.5 < kin.weight < 0.65
    swap = next(swap for swap in kin.swaps if (swap.up, swap.down) == ("m03", "m04"))
    assert swap.sure
    assert kin.without["m03"].value is not None
    warned = [text for text in echoes.warnings(found, families) if "of kin" in text]
    assert warned[0].startswith("without the 3 judges of kin, m03 (its own) falls below m04")
    assert "of draws)" in warned[0]


def test_fair_judges_are_not_warned_of() -> None:
    draws = draw(40, 100)
    found = resampled(held(rounded(world(np.random.default_rng(8), 40, 6))), "consensus", draws)
    families = {model: "one" if model < "m03" else "two" for model in named(6)}
    looked = echoes.echoes(found, draws, families)
    assert [family.name for family in looked.families] == ["one", "two"]
    assert list(echoes.warnings(looked, families)) == []


def test_a_family_that_is_all_the_judges_cannot_be_left_out() -> None:
    draws = draw(10, 20)
    found = resampled(held(rounded(world(np.random.default_rng(1), 10, 4))), "consensus", draws)
    (family,) = echoes.echoes(found, draws, dict.fromkeys(named(4), "one")).families
    assert family.refusal == "refused: no other judge is left"
    assert family.weight == pytest.approx(1)
    assert not family.swaps


def test_a_toss_up_is_no_warning() -> None:
    company = Company("kin", ("a", "b"), 0.4, {}, (Swap("a", "b", 0.3), Swap("a", "c", None)))
    assert list(echoes.warnings(Echoes((), (company,)), {})) == []
