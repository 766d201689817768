"""Shares and quantiles are those of scipy.stats."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from raybench.stats import distributions

anywhere = st.floats(-40, 40)
shares = st.floats(1e-9, 1 - 1e-9)
degrees = st.floats(0.5, 1e6)


@given(anywhere, shares)
def test_the_normal_distribution_is_scipys(z: float, share: float) -> None:
    assert distributions.normal_below(z) == stats.norm.cdf(z)
    assert distributions.normal_below(-z) == stats.norm.sf(z)
    assert distributions.normal_quantile(share) == stats.norm.ppf(share)
    assert distributions.normal_density(np.array([z])) == pytest.approx(stats.norm.pdf(z))


@given(anywhere, shares, degrees)
def test_students_t_is_scipys(t: float, share: float, freedom: float) -> None:
    assert distributions.student_below(t, freedom) == stats.t.cdf(t, freedom)
    assert distributions.student_quantile(share, freedom) == stats.t.ppf(share, freedom)
    assert distributions.two_sided(t, freedom) == 2 * stats.t.sf(abs(t), freedom)


@given(st.integers(0, 500), st.integers(0, 500))
def test_the_binomial_of_a_fair_coin_is_scipys(one: int, other: int) -> None:
    most, tosses = min(one, other), max(one, other)
    assert distributions.heads(most, tosses) == pytest.approx(
        stats.binom.cdf(most, tosses, 0.5), rel=1e-9
    )


@given(st.floats(1e-3, 50), st.floats(1, 40), st.floats(1, 200), st.floats(1e-3, 500))
def test_the_noncentral_f_is_scipys(ratio: float, one: float, other: float, shift: float) -> None:
    assert distributions.noncentral_f_below(ratio, one, other, shift) == pytest.approx(
        stats.ncf.cdf(ratio, one, other, shift), abs=1e-12
    )


def test_what_has_no_freedom_has_no_number_and_what_has_all_is_normal() -> None:
    assert math.isnan(distributions.two_sided(1.0, 0))
    assert math.isnan(distributions.student_quantile(0.975, 0))
    assert distributions.two_sided(math.inf, 3) == 0.0
    endless = distributions.student_quantile(0.975, math.inf)
    assert endless == pytest.approx(distributions.normal_quantile(0.975))


def test_one_number_is_pythons_and_several_are_an_array() -> None:
    assert type(distributions.normal_below(np.float64(0.0))) is float
    assert type(distributions.student_below(0.0, 3.0)) is float
    many = distributions.normal_below(np.array([[-math.inf, 0.0, math.inf]]))
    assert many.tolist() == [[0.0, 0.5, 1.0]]
