import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statements import code, values

from raybench.stats import intervals
from raybench.types import Estimate

observations = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30)
shares = st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("values", "value", "stderr", "ci95"),
    [
        # s² = 32/7, t(0.975; 7) = 2.364624
        ([2, 4, 4, 4, 5, 5, 7, 9], 5.0, math.sqrt(32 / 7 / 8), (3.212512, 6.787488)),
        # s² = 2, t(0.975; 1) = 12.706205
        ([1, 3], 2.0, 1.0, (-10.706205, 14.706205)),
    ],
)
def test_mean_of_worked_numbers(
    values: list[float], value: float, stderr: float, ci95: tuple[float, float]
) -> None:
    estimate = intervals.mean(values, over="questions")
    assert estimate.value == pytest.approx(value)
    assert estimate.stderr == pytest.approx(stderr)
    assert estimate.ci95 == pytest.approx(ci95, abs=1e-6)
    assert estimate.n == len(values)


def test_an_interval_is_cut_where_the_number_cannot_lie() -> None:
    wide = intervals.mean([1, 3], over="ratings")
    inside = intervals.cut(wide, (1.0, 5.0))
    assert (inside.value, inside.stderr, inside.ci95, inside.n) == (2.0, wide.stderr, (1.0, 5.0), 2)
    assert values(inside.method) == {"method": wide.method}
    assert intervals.cut(wide, (-20.0, 20.0)) == wide
    alone = intervals.mean([1], over="ratings")
    assert intervals.cut(alone, (2.0, 5.0)) == alone


def test_mean_of_nothing_is_refused() -> None:
    estimate = intervals.mean([], over="questions")
    assert (estimate.value, estimate.stderr, estimate.ci95, estimate.n) == (None, None, None, 0)
    assert code(estimate.method) == "refused.empty"


def test_mean_of_one_has_no_interval() -> None:
    estimate = intervals.mean([3.5], over="questions")
    assert (estimate.value, estimate.stderr, estimate.ci95, estimate.n) == (3.5, None, None, 1)
    assert "no interval" in estimate.method


def test_t_interval_covers_the_truth_as_often_as_it_says() -> None:
    samples = np.random.default_rng(20).normal(3.0, 2.0, size=(2000, 5))
    covered = 0
    for sample in samples:
        ci95 = intervals.mean(list(sample), over="draws").ci95
        assert ci95 is not None
        covered += ci95[0] <= 3.0 <= ci95[1]
    # Four standard errors of the simulation; the normal quantile would cover 88 % at n = 5.
    assert covered / 2000 == pytest.approx(0.95, abs=0.02)


def test_what_is_all_equal_has_no_interval() -> None:
    estimate = intervals.mean([4, 4, 4], over="questions")
    assert (estimate.value, estimate.stderr, estimate.ci95, estimate.n) == (4.0, None, None, 3)
    assert code(estimate.method) == "no_interval.all_equal"


def test_what_differs_by_rounding_alone_is_equal() -> None:
    estimate = intervals.mean([0.3 - 0.2, 0.1], over="seeds")
    assert (estimate.stderr, estimate.ci95) == (None, None)


@given(observations, st.randoms(use_true_random=False))
def test_mean_does_not_depend_on_order(values: list[float], random: Random) -> None:
    shuffled = random.sample(values, len(values))
    one, other = intervals.mean(values, over="x"), intervals.mean(shuffled, over="x")
    assert one.value == other.value
    assert (one.stderr is None) == (other.stderr is None)
    assert (one.stderr or 0) == pytest.approx(other.stderr or 0, rel=1e-9, abs=1e-9)


@given(observations)
def test_mean_lies_in_its_interval_and_among_the_values(values: list[float]) -> None:
    estimate = intervals.mean(values, over="x")
    assert estimate.value is not None
    alike = math.isclose(min(values), max(values), rel_tol=1e-12, abs_tol=1e-12)
    assert (estimate.ci95 is None) == alike
    if estimate.ci95 is None:
        return
    assert estimate.ci95[0] <= estimate.value <= estimate.ci95[1]
    assert estimate.value == pytest.approx(sum(estimate.ci95) / 2, abs=1e-6)
    assert min(values) - 1e-9 <= estimate.value <= max(values) + 1e-9


@given(observations, st.floats(0.01, 100), st.floats(-1000, 1000))
def test_mean_moves_with_the_scale(values: list[float], factor: float, shift: float) -> None:
    plain = intervals.mean(values, over="x")
    moved = intervals.mean([factor * value + shift for value in values], over="x")
    assert plain.value is not None
    assert moved.value == pytest.approx(factor * plain.value + shift, rel=1e-6, abs=1e-4)
    # What differs little may be the same after the shift: no standard error, and next to none.
    moved_stderr, plain_stderr = moved.stderr or 0.0, plain.stderr or 0.0
    assert moved_stderr == pytest.approx(factor * plain_stderr, rel=1e-6, abs=1e-4)


@pytest.mark.parametrize(
    ("successes", "n", "ci95"),
    [
        # Newcombe (1998), table I, method 3 (Wilson's score without continuity correction)
        (81, 263, (0.2553, 0.3662)),
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
    ],
)
def test_share_of_worked_numbers(successes: int, n: int, ci95: tuple[float, float]) -> None:
    estimate = intervals.share(successes, n, over="ratings")
    assert estimate.value == successes / n
    assert estimate.ci95 == pytest.approx(ci95, abs=5e-5)
    assert estimate.stderr == pytest.approx(math.sqrt(successes * (n - successes) / n**3))
    assert estimate.n == n


def test_share_of_nothing_is_refused() -> None:
    estimate = intervals.share(0, 0, over="ratings")
    assert (estimate.value, estimate.stderr, estimate.ci95, estimate.n) == (None, None, None, 0)
    assert code(estimate.method) == "refused.empty"


@given(shares)
def test_share_lies_in_its_interval_inside_0_and_1(share: tuple[int, int]) -> None:
    estimate = intervals.share(*share, over="x")
    assert estimate.ci95 is not None
    assert estimate.value is not None
    assert 0 <= estimate.ci95[0] <= estimate.value <= estimate.ci95[1] <= 1
    assert estimate.ci95[0] < estimate.ci95[1]


@given(shares)
def test_share_of_failures_mirrors_that_of_successes(share: tuple[int, int]) -> None:
    successes, n = share
    low, high = intervals.share(successes, n, over="x").ci95 or (math.nan, math.nan)
    mirrored = intervals.share(n - successes, n, over="x").ci95
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-12)


def test_wilson_covers_the_truth_about_as_often_as_it_says() -> None:
    n, truths = 20, np.linspace(0.1, 0.9, 81)
    bounds = np.array([intervals.share(k, n, over="x").ci95 for k in range(n + 1)])
    covers = (bounds[:, :1] <= truths) & (truths <= bounds[:, 1:])
    coverage = (covers * stats.binom.pmf(np.arange(n + 1)[:, None], n, truths)).sum(axis=0)
    # Exact, not simulated. The usual p ± 1.96 s falls to 88 % here.
    assert coverage.mean() == pytest.approx(0.95, abs=0.01)
    assert coverage.min() > 0.91


@given(st.floats(0, 1), st.integers(2, 500))
def test_equal_observations_have_an_interval_for_those_not_seen(value: float, n: int) -> None:
    found = intervals.others(intervals.mean([value] * n, over="things"), n, (0.0, 1.0))
    assert found.ci95 is not None
    low, high = found.ci95
    assert found.value is not None and math.isclose(found.value, value, abs_tol=1e-12)
    assert 0 <= low <= found.value <= high <= 1 + 1e-12
    assert "no interval" not in found.method


def test_chance_is_that_of_students_t_or_of_signs() -> None:
    mean = intervals.mean([0.1, 0.2, 0.3, 0.2], over="things")
    assert intervals.chance(mean, 4) == pytest.approx(
        stats.ttest_1samp([0.1, 0.2, 0.3, 0.2], 0).pvalue
    )
    same = intervals.mean([0.5] * 6, over="things")
    assert intervals.chance(same, 6) == 2 / 2**6
    assert intervals.chance(intervals.mean([0.0] * 6, over="things"), 6) == 1
    assert intervals.chance(same, 1) is None
    residue = intervals.mean([(0.5 - 0.3) - (0.3 - 0.1)] * 10, over="things")
    assert residue.value != 0 and intervals.chance(residue, 10) == 1


@given(st.floats(-1, 1), st.floats(1e-3, 1), st.floats(1e-3, 1), st.integers(1, 200))
def test_the_p_of_an_interval_is_below_005_where_it_leaves_0_out(
    value: float, below: float, above: float, degrees: int
) -> None:
    found = Estimate(value, None, (value - below, value + above), 9, "MOVER")
    p = intervals.chance_by(found, degrees)
    outside = value > below or -value > above
    assert p == pytest.approx(0.05) or (p is not None and p < 0.05) is outside
    of_t = Estimate(value, None, (value - intervals.student(degrees),) * 2, 9, "Student's t")
    if value > 0:
        expected = 2 * stats.t.sf(value, degrees)
        assert intervals.chance_by(of_t, degrees) == pytest.approx(expected)
