import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.stats import clusters

NAN = math.nan
scores = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=2, max_size=20)


def test_standard_error_of_worked_clusters() -> None:
    # s̄ = 3/4; the sums of s − s̄ are 1/2 and −1/2: SE² = 2/1 · (1/4 + 1/4) / 4² = 1/16.
    found = clusters.mean(np.array([[1.0, 1.0, 0.0, 1.0]]), np.array([7, 7, 3, 3]))
    assert found == pytest.approx((0.75, 0.25, 2))


def test_a_question_in_two_languages_is_one_source() -> None:
    # Means 2/3 and 1/3; by question (s − mean)/6 sums to 1/6, −1/6 and 0: SE² = 3/2 · 2/36 = 1/12.
    found = clusters.mean(np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 0.0]]))
    assert found == pytest.approx((0.5, math.sqrt(1 / 12), 3))


def test_languages_weigh_the_same_however_many_questions_they_have() -> None:
    # Means 1/2 and 1; by question ±(1/2)/4 and 0: SE² = 3/2 · 2/64.
    found = clusters.mean(np.array([[1.0, 0.0, NAN, NAN], [NAN, NAN, 1.0, NAN]]))
    assert found == pytest.approx((0.75, math.sqrt(3 / 64), 3))


def test_one_source_shows_no_error() -> None:
    assert clusters.mean(np.array([[1.0, 0.0]]), np.array([0, 0])) == (0.5, None, 1)
    assert clusters.mean(np.array([[0.3, NAN]])) == (0.3, None, 1)


def test_equal_scores_have_no_error_whatever_rounding_says() -> None:
    values = [0.2, 0.2, 0.2]
    assert math.fsum(values) / 3 != 0.2
    assert clusters.mean(np.array([values])).stderr == 0.0


@given(scores)
def test_without_shared_sources_it_is_sd_over_root_n(values: list[float]) -> None:
    found = clusters.mean(np.array([values]))
    assert found.value == math.fsum(values) / len(values)
    assert found.stderr == pytest.approx(np.std(values, ddof=1) / math.sqrt(len(values)))


@given(scores)
def test_asking_each_question_in_a_second_language_is_no_news(values: list[float]) -> None:
    once, twice = clusters.mean(np.array([values])), clusters.mean(np.array([values, values]))
    assert (twice.value, twice.sources) == (once.value, once.sources)
    assert twice.stderr == pytest.approx(once.stderr)


@given(scores, st.randoms(use_true_random=False))
def test_order_does_not_matter(values: list[float], random: Random) -> None:
    order = random.sample(range(len(values)), len(values))
    sources = np.arange(len(values)) // 3
    one = clusters.mean(np.array([values]), sources)
    other = clusters.mean(np.array([values])[:, order], sources[order])
    assert (other.value, other.sources) == (one.value, one.sources)
    assert other.stderr == (None if one.stderr is None else pytest.approx(one.stderr))
