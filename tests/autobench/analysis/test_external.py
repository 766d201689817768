"""Variants of an assessment, and how far each agrees with a table."""

import numpy as np
import pytest
from monte_carlo import least_share
from numpy.typing import NDArray
from panels import held, named, rounded, world
from scipy import stats
from statements import code, values

from raybench.autobench.analysis import external, variants
from raybench.autobench.analysis.resample import draw, replay, resampled
from raybench.autobench.analysis.tables import Table
from raybench.autobench.analysis.variants import FULL, NO_SELF, UNIFORM, Variant
from raybench.autobench.settings import Settings

MODELS = named(6)
SETTINGS = Settings(MODELS)
DRAWS = draw(12, 120)
TRUE = Table("truth", dict(zip(MODELS, (10.0, 20.0, 30.0, 40.0, 50.0, 60.0), strict=True)))


@pytest.fixture(scope="module")
def found() -> tuple[Variant, ...]:
    ballots = held(rounded(world(np.random.default_rng(2), 12, 6)))
    return variants.variants(resampled(ballots, "consensus", DRAWS), SETTINGS, DRAWS)


def test_the_best_judge_comes_first_and_every_variant_follows_its_rule(
    found: tuple[Variant, ...],
) -> None:
    names = [variant.name for variant in found]
    assert names[:4] == [FULL, UNIFORM, NO_SELF, "single judge: m05"]
    assert [bool(it.note) for it in found[3:]] == [True] + [False] * 5
    assert sorted(names[3:]) == [f"single judge: {model}" for model in MODELS]
    ratings = found[0].found.ballots.ratings
    np.testing.assert_allclose(found[1].found.scores, ratings.mean((0, 1)))
    np.testing.assert_allclose(found[3].found.scores, ratings[:, 5].mean(0))
    own = np.array([r[~np.eye(6, dtype=bool)].sum() for r in ratings]).sum()
    assert np.nansum(found[2].found.ballots.ratings) == own


def test_variants_that_would_be_the_run_itself_are_left_out() -> None:
    outside = held(rounded(world(np.random.default_rng(3), 5, 3)), judges=("x", "y", "z"))
    draws = draw(5, 10)
    made = variants.variants(
        resampled(outside, "uniform", draws), Settings(named(3), weights="uniform"), draws
    )
    assert [v.name for v in made][:2] == [FULL, "consensus weights"]
    assert not any(v.name == NO_SELF or v.note for v in made)
    alone = resampled(outside.by(["x"]), "uniform", draws)
    assert len(variants.variants(alone, Settings(named(3)), draws)) == 1


def test_agreement_has_two_intervals_and_a_paired_difference(found: tuple[Variant, ...]) -> None:
    made = {it.variant: it for it in external.compared(found, [TRUE])}
    full = made[FULL].kendall
    assert full.ahead is None
    assert full.iterations.value == full.models.value
    for estimate in (full.iterations, full.models, made[FULL].spearman.iterations):
        assert estimate.n == 6
        assert estimate.value is not None
        assert estimate.ci95 is not None
        assert -1 <= estimate.ci95[0] <= estimate.value <= estimate.ci95[1] <= 1
    assert full.models.ci95 and full.iterations.ci95
    assert np.ptp(full.models.ci95) > np.ptp(full.iterations.ci95)
    single = made["single judge: m00"].spearman
    assert single.ahead and single.ahead.value is not None
    own, other = made[FULL].spearman.iterations.value, single.iterations.value
    assert own is not None and other is not None
    assert single.ahead.value == pytest.approx(own - other)


def test_a_rule_that_is_the_same_is_never_ahead(found: tuple[Variant, ...]) -> None:
    twin = Variant("twin", found[0].found)
    made = external.compared([found[0], twin], [TRUE])[1].kendall
    assert made.ahead and made.ahead.ci95 == (0.0, 0.0)


def test_what_cannot_be_correlated_is_refused(found: tuple[Variant, ...]) -> None:
    few = Table("few", {"m00": 1.0, "m01": 2.0})
    flat = Table("flat", dict.fromkeys(MODELS, 3.0))
    first, second = external.compared(found[:1], [few, flat])
    assert code(first.kendall.iterations.method) == "refused.few_in_table"
    assert code(second.spearman.models.method) == "refused.table_equal"
    same = Variant(FULL, resampled(held(np.full((4, 3, 3), 3.0)), "uniform", draw(4, 9)))
    (third,) = external.compared([same], [TRUE])
    assert code(third.kendall.iterations.method) == "refused.scores_equal"


def test_a_judge_that_skips_itself_is_compared_without_itself(found: tuple[Variant, ...]) -> None:
    full = found[0].found
    alone = resampled(full.ballots.without_self().by(["m02"]), "uniform", DRAWS)
    made = external.compared([found[0], Variant("m02", alone)], [TRUE])[1]
    assert made.kendall.iterations.n == 5
    assert made.kendall.ahead and made.kendall.ahead.n == 5
    # Over the same five models, as run.
    places = [0, 1, 3, 4, 5]
    own = stats.kendalltau(full.scores[places], [10, 20, 40, 50, 60]).statistic
    other = made.kendall.iterations.value
    assert other is not None
    assert made.kendall.ahead.value == pytest.approx(own - other)


def close(rng: np.random.Generator, tasks: int) -> NDArray[np.float64]:
    """Return ratings of ten models within 0.8 points, as eight judges see them."""
    truth = np.linspace(3.0, 3.8, 10) + rng.normal(0, 0.6, (tasks, 1))
    truth = truth + rng.normal(0, 0.8, (tasks, 10))
    return rounded(truth[:, None] + rng.normal(0, 0.7, (tasks, 8, 10)))


def ranked(theirs: list[float]) -> Table:
    return Table("theirs", dict(zip(named(10), theirs, strict=True)))


def agreed(tasks: int, table: Table, seed: int) -> external.Compared:
    ballots = held(close(np.random.default_rng(seed), tasks), judges=[f"j{at}" for at in range(8)])
    run = Variant(FULL, resampled(ballots, "consensus", draw(tasks, 200, seed=seed)))
    return external.compared([run], [table], seed=seed)[0]


def test_an_order_that_does_not_hold_may_be_the_tables() -> None:
    made = agreed(6, ranked([*range(10)]), seed=1)
    for agreement in (made.kendall, made.spearman):
        for estimate in (agreement.iterations, agreement.models):
            assert estimate.value is not None and estimate.value < 0.8
            assert estimate.ci95 is not None and estimate.ci95[1] == pytest.approx(1)
            assert values(estimate.method)["furthest"] == pytest.approx(1)
    turned = agreed(6, ranked([*range(10, 0, -1)]), seed=1)
    assert turned.kendall.iterations.ci95 is not None
    assert turned.kendall.iterations.ci95[0] == pytest.approx(-1)


def test_orders_that_hold_against_the_table_keep_it_from_1(found: tuple[Variant, ...]) -> None:
    # m05 surely stands above m00, and the table has it the other way round.
    odd = Table("odd", dict(zip(MODELS, (6.0, 2.0, 3.0, 4.0, 5.0, 1.0), strict=True)))
    (made,) = external.compared(found[:1], [odd])
    assert made.kendall.iterations.ci95 is not None
    assert made.kendall.iterations.ci95[1] <= 1 - 2 / 15


def coverage(tasks: int, swapped: bool, runs: int) -> float:
    """Return how often intervals of the agreement hold what ever more tasks would show."""
    theirs = [0.0, 2.0, 1.0, 3.0, 4.0, 6.0, 5.0, 7.0, 8.0, 9.0] if swapped else [*range(10)]
    once = np.arange(20_000, dtype=np.int32)[None]
    many = held(close(np.random.default_rng(99), 20_000), judges=[f"j{at}" for at in range(8)])
    true = replay(many, "consensus", once).scores[0]
    assert true.argsort().tolist() == [*range(10)]
    tau = stats.kendalltau(true, theirs).statistic
    rho = stats.spearmanr(true, theirs).statistic
    hits = []
    for seed in range(runs):
        made = agreed(tasks, ranked(theirs), seed)
        for agreement, truth in ((made.kendall, tau), (made.spearman, rho)):
            ci95 = agreement.iterations.ci95
            assert ci95 is not None
            hits.append(ci95[0] - 1e-9 <= truth <= ci95[1] + 1e-9)
    return float(np.mean(hits))


@pytest.mark.parametrize(("tasks", "swapped"), [(4, False), (20, True)])
def test_intervals_cover_what_ever_more_tasks_would_show(tasks: int, swapped: bool) -> None:
    assert coverage(tasks, swapped, runs=25) >= least_share(25)


@pytest.mark.long(
    short="tests/autobench/analysis/test_external.py"
    "::test_intervals_cover_what_ever_more_tasks_would_show"
)
@pytest.mark.parametrize("tasks", [4, 6, 20])
@pytest.mark.parametrize("swapped", [False, True])
def test_intervals_cover_the_agreement_as_often_as_they_say(tasks: int, swapped: bool) -> None:
    assert coverage(tasks, swapped, runs=100) >= 0.92
