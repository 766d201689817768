"""Scores that were measured together: their covariance, what is drawn of it, what is kept."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.stats import paired, repeats
from raybench.stats.asked import Asked
from raybench.stats.joint import Joint, correlations, error, of_questions
from raybench.types import Estimate

A = Asked.of([(1, 1), (0, 1), (1, 1), (1, 1), (0, 1), (0, 1)])
B = Asked.of([(1, 1), (0, 1), (0, 1), (1, 1), (0, 1), (1, 1)])


def test_the_variance_of_a_difference_is_that_of_paired_questions() -> None:
    covariance = of_questions({"q": [A, B]}, {"q": Fraction(1)})
    told = paired.compare(A, B).difference.stderr
    found = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert told is not None and found == pytest.approx(told**2)


def test_questions_that_share_a_source_count_as_one() -> None:
    sources = [0, 0, 1, 1, 2, 2]
    a = Asked.of([(1, 2), (0, 2), (1, 2), (1, 2), (0, 2), (2, 2)], sources=sources)
    covariance = of_questions({"q": [a]}, {"q": Fraction(1)})
    assert covariance[0, 0] == pytest.approx((repeats.accuracy(a).stderr or 0.0) ** 2)


def test_an_index_adds_what_its_benchmarks_add() -> None:
    half = {"q": Fraction(1, 2), "r": Fraction(1, 2)}
    both = of_questions({"q": [A, B], "r": [B, A]}, half)
    each = [of_questions({"q": it}, {"q": Fraction(1)}) for it in ([A, B], [B, A])]
    assert both == pytest.approx((each[0] + each[1]) / 4)


def test_errors_are_those_of_the_published_intervals() -> None:
    scores = {
        "a": Estimate(0.9, 0.02, (0.8, 1.0), 10, "Wilson"),
        "b": Estimate(None, None, None, 0, "refused"),
        "c": Estimate(0.5, 0.3, (0.4, 0.6), 10, "Wilson"),
    }
    together = np.array([[1.0, 9.0, 0.5], [9.0, 9.0, 9.0], [0.5, 9.0, 1.0]])
    found = Joint.of("m", scores, together)
    assert found.models == ("a", "c")
    assert np.sqrt(np.diag(found.covariance)) == pytest.approx([0.1 / 1.959964, 0.3], rel=1e-5)
    assert correlations(found.covariance)[0, 1] == pytest.approx(0.5)


def test_an_interval_that_was_cut_is_as_wide_as_its_other_side() -> None:
    cut = Estimate(4.9, None, (4.0, 5.0), 9, "bootstrap, cut at the ends of the scale")
    assert error(cut) == pytest.approx(0.9 / 1.959964, rel=1e-5)
    assert error(Estimate(1.0, None, None, 2, "no interval from fewer than 3")) is None


def test_where_nothing_is_known_of_an_error_no_order_seems_sure() -> None:
    bare = {
        name: Estimate(value, None, None, 2, "none") for name, value in (("a", 1.0), ("b", 5.0))
    }
    drawn = Joint.of("m", bare, np.zeros((2, 2))).drawn(2000)
    assert 0.3 < float((drawn[:, 0] > drawn[:, 1]).mean()) < 0.7


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_what_is_kept_is_read_back(models: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((models, models))
    kept = Joint("m", tuple(f"m{at}" for at in range(models)), root[0], root @ root.T)
    found = Joint.read(list(kept.lines()))
    assert found.models == kept.models and found.metric == "m"
    assert found.values == pytest.approx(kept.values)
    assert found.covariance == pytest.approx(kept.covariance)


@pytest.mark.parametrize("lines", [[{"model": "a"}], [{"model": "a", "metric": "m", "value": "x"}]])
def test_other_lines_are_refused(lines: list[dict[str, object]]) -> None:
    with pytest.raises(ValueError):
        Joint.read(lines)


def test_draws_have_the_means_and_the_covariance() -> None:
    covariance = np.array([[2.0, 1.5], [1.5, 2.0]])
    drawn = Joint("m", ("a", "b"), np.array([1.0, 5.0]), covariance).drawn(20_000, seed=1)
    assert drawn.mean(axis=0) == pytest.approx([1.0, 5.0], abs=0.05)
    assert np.cov(drawn, rowvar=False) == pytest.approx(covariance, abs=0.08)


def test_errors_that_always_go_together_change_no_order() -> None:
    together = Joint("m", ("a", "b"), np.array([1.0, 1.1]), np.ones((2, 2)))
    drawn = together.drawn(500)
    assert (drawn[:, 1] > drawn[:, 0]).all()
