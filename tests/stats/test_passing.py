"""pass@k against counting all draws, its limits, and its errors."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statements import code, values

from raybench.stats import passing, repeats
from raybench.stats.asked import Asked

draws = st.integers(1, 9).flatmap(
    lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))
)


@given(draws)
def test_it_is_the_share_of_all_draws_with_one_that_is_right(draw: tuple[int, int, int]) -> None:
    n, right, k = draw
    replies = [place < right for place in range(n)]
    every = [any(some) for some in itertools.combinations(replies, k)]
    assert passing.one_of(n, right, k) == pytest.approx(sum(every) / len(every))


@pytest.mark.parametrize(
    ("n", "right", "k", "value"),
    [
        (10, 0, 5, 0.0),
        (10, 10, 5, 1.0),
        (10, 6, 5, 1.0),  # four wrong ones are not five
        (10, 1, 5, 0.5),
        (5, 2, 1, 0.4),
        (5, 2, 2, 1 - 3 / 10),
        (200, 3, 100, 1 - (100 * 99 * 98) / (200 * 199 * 198)),
    ],
)
def test_worked_values(n: int, right: int, k: int, value: float) -> None:
    assert passing.one_of(n, right, k) == pytest.approx(value)


@pytest.mark.parametrize(("n", "right", "k"), [(3, 1, 4), (3, 4, 1), (3, -1, 1), (3, 1, 0)])
def test_a_draw_that_there_is_not_is_refused(n: int, right: int, k: int) -> None:
    with pytest.raises(ValueError, match=f"{k} of {n} replies"):
        passing.one_of(n, right, k)


def test_it_is_averaged_over_questions_with_their_error() -> None:
    # 1/2, 1, 0, and 1 − C(8, 5)/C(10, 5) = 7/9.
    found = passing.at(Asked.of([(1, 10), (10, 10), (0, 10), (2, 10)]), 5)
    scores = [0.5, 1, 0, 7 / 9]
    assert found.value == pytest.approx(np.mean(scores))
    assert found.stderr == pytest.approx(np.std(scores, ddof=1) / 2)
    assert found.n == 4
    assert "C(n−c, 5)/C(n, 5)" in found.method
    assert found.ci95 is not None
    assert 0 <= found.ci95[0] < np.mean(scores) < found.ci95[1] <= 1


@given(st.lists(st.integers(0, 5).map(lambda right: (right, 5)), min_size=1, max_size=20))
def test_pass_at_1_is_the_accuracy_and_more_draws_pass_more_often(
    counts: list[tuple[int, int]],
) -> None:
    asked = Asked.of(counts)
    first = passing.at(asked, 1)
    accuracy = repeats.accuracy(asked)
    assert first.value == pytest.approx(accuracy.value)
    assert first.stderr == (None if accuracy.stderr is None else pytest.approx(accuracy.stderr))
    assert first.ci95 == pytest.approx(accuracy.ci95)
    values = [passing.at(asked, k).value or 0.0 for k in range(1, 6)]
    assert all(low <= high + 1e-12 for low, high in itertools.pairwise(values))


def test_all_or_nothing_has_an_interval_still() -> None:
    for right, value in ((0, 0.0), (10, 1.0)):
        found = passing.at(Asked.of([(right, 10)] * 30), 5)
        assert (found.value, found.stderr) == (value, 0.0)
        assert found.ci95 is not None
        assert found.ci95[1] - found.ci95[0] > 0.05


def test_a_question_asked_too_seldom_refuses_it() -> None:
    one = passing.at(Asked.of([(1, 5), (1, 4), (0, 0)]), 5)
    assert (one.value, one.n, code(one.method)) == (None, 2, "refused.asked_too_seldom")
    assert values(one.method)["questions"] == 1
    two = passing.at(Asked.of([(1, 3), (1, 4)]), 5)
    assert values(two.method)["questions"] == 2
    assert code(passing.at(Asked.of([]), 5).method) == "refused.empty"


def test_its_interval_covers_what_it_should() -> None:
    """Of runs drawn from questions whose truth is known, nineteen in twenty hold it."""
    drawn = np.random.default_rng(7)
    easy = drawn.beta(0.5, 2.0, size=4000)
    truth = float(np.mean(1 - (1 - easy) ** 5))
    held = 0
    for _ in range(300):
        p = drawn.choice(easy, size=60)
        found = passing.at(Asked.of([(int(c), 10) for c in drawn.binomial(10, p)]), 5)
        assert found.ci95 is not None
        held += found.ci95[0] <= truth <= found.ci95[1]
    assert 0.92 <= held / 300 <= 0.99
    assert math.isfinite(truth)
